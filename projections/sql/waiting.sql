-- What waiting readers ask, through the store's connections (`$1` parameters).

-- position --
-- How many events of the feed have gone into the live builds of all of these projections.
SELECT coalesce(sum(l.seq), 0)::bigint
FROM (
    SELECT min(c.seq) AS seq
    FROM projections.checkpoints c
    JOIN projections.builds b USING (name, build)
    WHERE b.state = 'live' AND b.name = ANY ($1::text[])
    GROUP BY c.lane
    HAVING count(*) = cardinality($1::text[])
) l

-- lanes --
-- Of each lane: the last number given, and how far the slowest has come of the live builds of these
-- projections that somebody runs (beaten within so many seconds). No row where nobody runs any.
SELECT c.lane, s.seq, min(c.seq)
FROM projections.builds b
JOIN projections.checkpoints c USING (name, build)
JOIN fairdeal.sequencer s USING (lane)
WHERE b.state = 'live' AND b.name = ANY ($1::text[])
    AND b.beaten_at > clock_timestamp() - make_interval(secs => $2::float8)
GROUP BY c.lane, s.seq

-- stream --
-- How far the live build of a projection has come in a lane, from which version on it has parked a
-- stream (NULL: it has not), and whether somebody runs it. No row without a live build.
SELECT c.seq,
    (SELECT p.version FROM projections.parked p
     WHERE p.lane = c.lane AND p.name = c.name AND p.build = c.build AND p.stream = $3::text::uuid),
    b.beaten_at > clock_timestamp() - make_interval(secs => $4::float8)
FROM projections.builds b
JOIN projections.checkpoints c USING (name, build)
WHERE b.state = 'live' AND b.name = $1::text AND c.lane = $2::int2
