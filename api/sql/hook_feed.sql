-- What turns the feed into deliveries, on a connection of its own (`%s` parameters).

-- wanted --
-- Whether anybody wants to be told anything.
SELECT EXISTS (SELECT FROM webhooks.subscriptions WHERE disabled_at IS NULL)

-- behind --
-- Lanes with events that no delivery has been made of. What came before the first webhook is nobody's.
SELECT c.lane
FROM webhooks.checkpoints c
JOIN fairdeal.sequencer s USING (lane),
    LATERAL (SELECT min(w.since[c.lane + 1]) AS seq
             FROM webhooks.subscriptions w WHERE w.disabled_at IS NULL) first
WHERE first.seq IS NOT NULL AND s.seq > greatest(c.seq, first.seq)

-- lock --
-- Take a lane that nobody else is at, and give the number to read on after. Who goes silent while
-- holding it loses it after a while.
SELECT greatest(c.seq, first.seq)
FROM set_config('idle_in_transaction_session_timeout', '30s', true) AS patience,
    webhooks.checkpoints c,
    LATERAL (SELECT min(w.since[c.lane + 1]) AS seq
             FROM webhooks.subscriptions w WHERE w.disabled_at IS NULL) first
WHERE c.lane = %s AND first.seq IS NOT NULL
FOR UPDATE OF c SKIP LOCKED

-- subscribers --
-- Who of these tenants wants to be told, and from which number of the lane on. The lock keeps a
-- webhook from being removed or disabled until the deliveries are there.
SELECT id, tenant, kinds, games, since[%s + 1]
FROM webhooks.subscriptions
WHERE tenant = ANY (%s::text[]) AND disabled_at IS NULL
ORDER BY id
FOR SHARE

-- waiting --
SELECT game, to_act FROM webhooks.waiting WHERE game = ANY (%s::uuid[])

-- wait --
INSERT INTO webhooks.waiting (game, to_act) VALUES (%s, %s::smallint[])
ON CONFLICT (game) DO UPDATE SET to_act = excluded.to_act

-- wait_no_more --
DELETE FROM webhooks.waiting WHERE game = %s

-- outdate --
-- A newer notice says all that an older one does.
UPDATE webhooks.deliveries d
SET state = 'outdated', finished_at = clock_timestamp()
FROM unnest(%s::uuid[], %s::uuid[], %s::integer[]) AS x (webhook, game, version)
WHERE d.webhook = x.webhook AND d.game = x.game AND d.version < x.version
    AND d.kind = 'turn' AND d.state = 'pending'

-- deliver --
INSERT INTO webhooks.deliveries (webhook, game, version, kind, to_act)
SELECT x.webhook, x.game, x.version, x.kind, x.to_act::smallint[]
FROM unnest(%s::uuid[], %s::uuid[], %s::integer[], %s::text[], %s::text[])
    WITH ORDINALITY AS x (webhook, game, version, kind, to_act, place)
ORDER BY x.place

-- queue --
INSERT INTO webhooks.queues (webhook, game)
SELECT DISTINCT x.webhook, x.game
FROM unnest(%s::uuid[], %s::uuid[]) AS x (webhook, game)
ORDER BY x.webhook, x.game
ON CONFLICT (webhook, game) DO UPDATE SET tickets = queues.tickets + 1

-- advance --
UPDATE webhooks.checkpoints SET seq = %s WHERE lane = %s
