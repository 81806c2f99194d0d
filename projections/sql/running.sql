-- What runners and rebuilds do, on connections of their own (`%s` parameters).

-- lock --
-- Take the checkpoints of some lanes of a build that nobody else holds. Who goes silent while
-- holding them loses them after a while. The commit need not wait for the disk: rows and checkpoint
-- are lost together if at all, and the log gives them again.
SELECT c.lane, c.seq
FROM set_config('idle_in_transaction_session_timeout', '30s', true) AS patience,
    set_config('synchronous_commit', 'off', true) AS speed,
    projections.checkpoints c
WHERE c.name = %s AND c.build = %s AND c.lane = ANY (%s::smallint[])
ORDER BY c.lane
FOR UPDATE OF c SKIP LOCKED

-- parked_streams --
SELECT stream::text FROM projections.parked
WHERE name = %s AND build = %s AND lane = ANY (%s::smallint[])

-- advance --
-- Set checkpoints, and what has come to the end of its lane is current now.
UPDATE projections.checkpoints c
SET seq = x.seq,
    current_at = CASE WHEN x.seq >= s.seq THEN clock_timestamp() ELSE c.current_at END
FROM unnest(%s::smallint[], %s::bigint[]) AS x (lane, seq)
JOIN fairdeal.sequencer s USING (lane)
WHERE c.lane = x.lane AND c.name = %s AND c.build = %s

-- pass --
-- Set checkpoints that stand where they were seen, past events of which nothing is made. What
-- somebody else holds or has moved stays. The names and numbers run in parallel.
WITH free AS (
    SELECT c.lane, c.name, c.build, x.seq
    FROM set_config('synchronous_commit', 'off', true) AS speed,
        unnest(%s::text[], %s::integer[], %s::smallint[], %s::bigint[], %s::bigint[])
            AS x (name, build, lane, seen, seq)
    JOIN projections.checkpoints c USING (name, build, lane)
    WHERE c.seq = x.seen
    FOR UPDATE OF c SKIP LOCKED
)
UPDATE projections.checkpoints c
SET seq = free.seq,
    current_at = CASE WHEN free.seq >= s.seq THEN clock_timestamp() ELSE c.current_at END
FROM free
JOIN fairdeal.sequencer s USING (lane)
WHERE c.lane = free.lane AND c.name = free.name AND c.build = free.build

-- park --
INSERT INTO projections.parked (name, build, lane, stream, version, seq, error)
VALUES (%s, %s, %s, %s::uuid, %s, %s, %s)

-- behind --
-- Where there is something to do for a build, and how much. A build beside a live one of the same
-- version is somebody's rebuild, who sees to it. Without parameters, so that it is planned once: that
-- takes longer than the answer.
SELECT b.name, b.version, b.build, c.lane, c.seq, s.seq
FROM projections.builds b
JOIN projections.checkpoints c USING (name, build)
JOIN fairdeal.sequencer s USING (lane)
WHERE s.seq > c.seq
    AND (b.state = 'live' OR EXISTS (
        SELECT FROM projections.builds live
        WHERE live.name = b.name AND live.state = 'live' AND live.version < b.version))

-- remaining --
-- What a build has still to take in, lane by lane.
SELECT c.lane, s.seq - c.seq
FROM projections.checkpoints c
JOIN fairdeal.sequencer s USING (lane)
WHERE c.name = %s AND c.build = %s AND s.seq > c.seq

-- beat --
-- Sign of life, once a second whoever gives it: builds of these names and versions are being run,
-- and where nothing is left in a lane they are current.
WITH beaten AS (
    UPDATE projections.builds b
    SET beaten_at = clock_timestamp()
    FROM unnest(%s::text[], %s::integer[]) AS mine (name, version)
    WHERE b.name = mine.name AND b.version = mine.version
        AND b.beaten_at < clock_timestamp() - interval '0.9 seconds'
    RETURNING b.name, b.build
), free AS (
    SELECT c.lane, c.name, c.build
    FROM beaten
    JOIN projections.checkpoints c USING (name, build)
    JOIN fairdeal.sequencer s USING (lane)
    WHERE c.seq >= s.seq
        AND NOT EXISTS (SELECT FROM fairdeal.events e WHERE e.lane = s.lane AND e.alloc > s.alloc)
    FOR UPDATE OF c SKIP LOCKED
)
UPDATE projections.checkpoints c
SET current_at = clock_timestamp()
FROM free
WHERE c.lane = free.lane AND c.name = free.name AND c.build = free.build
