-- What hosts ask about their webhooks, through the store's connections (`$1` parameters).

-- create --
-- A webhook, unless the tenant has as many as it may; nothing where the key has made one before.
INSERT INTO webhooks.subscriptions (id, tenant, url, kinds, games, secret, since, key, fingerprint)
SELECT $1::text::uuid, $2::text, $3::text, $4::text[], $5::text[], $6::bytea,
    (SELECT array_agg(s.seq ORDER BY s.lane) FROM fairdeal.sequencer s), $7::bytea, $8::bytea
WHERE (SELECT count(*) FROM webhooks.subscriptions w WHERE w.tenant = $2::text) < $9::integer
ON CONFLICT DO NOTHING
RETURNING 1

-- find --
-- A tenant's webhooks, newest first: all, the one of an id, or the one that a key has made.
SELECT id::text, url, kinds, games, (extract(epoch FROM created_at) * 1000000)::bigint,
    disabled_at IS NULL, secret, fingerprint
FROM webhooks.subscriptions
WHERE tenant = $1::text
    AND ($2::text IS NULL OR id = $2::text::uuid)
    AND ($3::bytea IS NULL OR key = $3::bytea)
ORDER BY id DESC

-- remove --
DELETE FROM webhooks.subscriptions WHERE tenant = $1::text AND id = $2::text::uuid
RETURNING 1

-- deliveries --
-- A webhook's deliveries in a state (NULL: any), newest first below a number; or the one of an id.
SELECT d.number, d.id::text, d.kind, d.game::text, d.version, d.state, d.attempts, d.last_status,
    d.last_error,
    CASE WHEN d.state = 'pending' THEN (extract(epoch FROM q.due_at) * 1000000)::bigint END,
    (extract(epoch FROM d.created_at) * 1000000)::bigint,
    CASE WHEN d.state = 'delivered' THEN (extract(epoch FROM d.finished_at) * 1000000)::bigint END
FROM webhooks.deliveries d
LEFT JOIN webhooks.queues q USING (webhook, game)
WHERE d.webhook = $1::text::uuid
    AND ($2::text IS NULL OR d.state = $2::text)
    AND ($3::bigint IS NULL OR d.number < $3::bigint)
    AND ($4::text IS NULL OR d.id = $4::text::uuid)
ORDER BY d.number DESC
LIMIT $5::integer

-- redeliver --
-- Let a delivery be due now, whatever came of it before.
WITH asked AS (
    UPDATE webhooks.deliveries
    SET state = 'pending', finished_at = NULL
    WHERE webhook = $1::text::uuid AND id = $2::text::uuid
    RETURNING webhook, game
)
INSERT INTO webhooks.queues (webhook, game)
SELECT webhook, game FROM asked
ON CONFLICT (webhook, game)
    DO UPDATE SET tickets = queues.tickets + 1, failures = 0, due_at = clock_timestamp()
RETURNING 1
