-- How projections stand, through the store's connections (`$1` parameters).

-- builds --
-- Each build: how many events it has still to take in (numbered or not), since how many seconds, and
-- how long ago somebody gave a sign of life for it. Counted from the tables themselves.
SELECT b.name, b.build, b.version, b.state, l.events, l.seconds,
    greatest(extract(epoch FROM clock_timestamp() - b.beaten_at), 0)::float8
FROM projections.builds b,
    LATERAL (
        SELECT coalesce(sum(t.events), 0)::bigint AS events,
            coalesce(max(greatest(extract(epoch FROM clock_timestamp() - t.current_at), 0))
                     FILTER (WHERE t.events > 0), 0)::float8 AS seconds
        FROM (
            SELECT c.current_at,
                s.seq - c.seq + coalesce(u.unstamped, 0) AS events
            FROM projections.checkpoints c
            JOIN fairdeal.sequencer s USING (lane)
            LEFT JOIN unnest($1::int2[], $2::int8[]) AS u (lane, unstamped) USING (lane)
            WHERE c.name = b.name AND c.build = b.build
        ) t
    ) l
ORDER BY b.name, b.build

-- parked --
SELECT p.name, p.build, p.stream::text, p.version, p.error,
    (extract(epoch FROM p.parked_at) * 1000000)::bigint
FROM projections.parked p
ORDER BY p.name, p.build, p.parked_at, p.stream
