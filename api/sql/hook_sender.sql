-- What senders do, through the store's connections (`$1` parameters). Each is one statement and may
-- be repeated.

-- claim --
-- Take games of which something is due, for as long as the lease: no webhook's more than a few at a
-- time, less those of it that this process is at already.
UPDATE webhooks.queues q
SET due_at = clock_timestamp() + make_interval(secs => $5::float8)
FROM (
    SELECT due.webhook, due.game
    FROM webhooks.subscriptions s
    LEFT JOIN unnest($1::text[], $2::integer[]) AS busy (webhook, games)
        ON busy.webhook::uuid = s.id,
        LATERAL (
            SELECT d.webhook, d.game
            FROM webhooks.queues d
            WHERE d.webhook = s.id AND d.due_at <= clock_timestamp()
            ORDER BY d.due_at
            LIMIT greatest($3::integer - coalesce(busy.games, 0), 0)
            FOR UPDATE SKIP LOCKED
        ) due
    WHERE s.disabled_at IS NULL
    LIMIT $4::integer
) taken
WHERE q.webhook = taken.webhook AND q.game = taken.game
RETURNING q.webhook::text, q.game::text

-- next --
-- What is to be sent next of a game, as of one moment with the count of what was put in.
SELECT q.tickets, q.failures, s.url, s.secret, d.number, d.id::text, d.kind, d.version, d.to_act
FROM webhooks.queues q
JOIN webhooks.subscriptions s ON s.id = q.webhook
LEFT JOIN LATERAL (
    SELECT * FROM webhooks.deliveries p
    WHERE p.webhook = q.webhook AND p.game = q.game AND p.state = 'pending'
    ORDER BY p.number
    LIMIT 1
) d ON true
WHERE q.webhook = $1::text::uuid AND q.game = $2::text::uuid AND s.disabled_at IS NULL

-- leave --
-- Nothing is left of the game, unless something was put in meanwhile.
DELETE FROM webhooks.queues
WHERE webhook = $1::text::uuid AND game = $2::text::uuid AND tickets = $3::bigint
RETURNING 1

-- release --
-- Somebody else may take the game.
UPDATE webhooks.queues SET due_at = clock_timestamp()
WHERE webhook = $1::text::uuid AND game = $2::text::uuid
RETURNING 1

-- delivered --
WITH done AS (
    UPDATE webhooks.deliveries
    SET state = 'delivered', attempts = attempts + 1, last_status = $2::smallint,
        last_error = NULL, finished_at = clock_timestamp()
    WHERE number = $1::bigint
    RETURNING webhook, game
)
UPDATE webhooks.queues q
SET failures = 0, due_at = clock_timestamp() + make_interval(secs => $3::float8)
FROM done
WHERE q.webhook = done.webhook AND q.game = done.game
RETURNING 1

-- outdated --
UPDATE webhooks.deliveries SET state = 'outdated', finished_at = clock_timestamp()
WHERE number = $1::bigint AND state = 'pending'
RETURNING 1

-- again --
-- An attempt has failed; the next one waits.
WITH tried AS (
    UPDATE webhooks.deliveries
    SET attempts = attempts + 1, last_status = $2::smallint, last_error = $3::text
    WHERE number = $1::bigint
    RETURNING webhook, game
)
UPDATE webhooks.queues q
SET failures = q.failures + 1, due_at = clock_timestamp() + make_interval(secs => $4::float8)
FROM tried
WHERE q.webhook = tried.webhook AND q.game = tried.game
RETURNING 1

-- give_up --
-- The last attempt has failed, for good; with it fails what has waited behind it for as long as so
-- many attempts take. What is younger begins with attempts of its own.
WITH failed AS (
    UPDATE webhooks.deliveries d
    SET state = 'failed', finished_at = clock_timestamp(), last_error = $3::text,
        attempts = d.attempts + CASE WHEN d.number = $1::bigint THEN 1 ELSE 0 END,
        last_status = CASE WHEN d.number = $1::bigint THEN $2::smallint ELSE d.last_status END
    FROM webhooks.deliveries head
    WHERE head.number = $1::bigint AND d.webhook = head.webhook AND d.game = head.game
        AND d.state = 'pending'
        AND (d.number = head.number
             OR d.created_at < clock_timestamp() - make_interval(secs => $4::float8))
    RETURNING d.webhook, d.game
), left_over AS (
    UPDATE webhooks.queues q
    SET failures = 0, due_at = clock_timestamp() + make_interval(secs => $5::float8)
    FROM (SELECT DISTINCT webhook, game FROM failed) f
    WHERE q.webhook = f.webhook AND q.game = f.game
)
SELECT count(*) FROM failed

-- disable --
UPDATE webhooks.subscriptions
SET disabled_at = coalesce(disabled_at, clock_timestamp())
WHERE id = $1::text::uuid
RETURNING 1

-- drop_of_disabled --
-- What is pending for webhooks that have been disabled will not be sent.
WITH failed AS (
    UPDATE webhooks.deliveries d
    SET state = 'failed', finished_at = clock_timestamp(),
        last_error = 'the receiver has said that it is gone (410)'
    FROM webhooks.subscriptions s
    WHERE s.id = d.webhook AND s.disabled_at IS NOT NULL AND d.state = 'pending'
    RETURNING d.webhook
), emptied AS (
    DELETE FROM webhooks.queues q
    USING webhooks.subscriptions s
    WHERE s.id = q.webhook AND s.disabled_at IS NOT NULL
)
SELECT count(*) FROM failed

-- prune --
-- A bounded number of deliveries that have been over for long.
DELETE FROM webhooks.deliveries
WHERE number IN (
    SELECT number FROM webhooks.deliveries
    WHERE state <> 'pending' AND finished_at < clock_timestamp() - make_interval(days => $1::integer)
    LIMIT 1000
)
RETURNING 1

-- pending --
-- How many deliveries are pending, and for how many seconds the oldest has been.
SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8
FROM webhooks.deliveries
WHERE state = 'pending'
