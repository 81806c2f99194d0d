-- Named statements of the store. Parameters are numbered; what they hold stands beside them in
-- postgres.py, which is the only caller.

-- append --
-- One append, in one round trip.
SELECT outcome, at_version, answer_stream::text, answer_first, answer_last, answer_response
FROM fairdeal.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
    $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30)

-- append_erasing --
-- One append and one erasure, or neither: a statement is one transaction.
SELECT outcome, at_version, answer_stream::text, answer_first, answer_last, answer_response,
    CASE WHEN outcome = 'appended' THEN fairdeal.erase($1, $2, $31, $32) END
FROM fairdeal.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
    $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30)

-- lock --
-- What the appends of a group lock (streams and scopes), the smaller number first.
SELECT count(pg_advisory_xact_lock(number))
FROM (
    SELECT DISTINCT uuid_hash_extended(id, 0) AS number
    FROM unnest($1::uuid[]) AS locked (id)
    ORDER BY number
) ordered

-- answer --
-- What a caller's key did.
SELECT uuid_send(fingerprint), stream::text, first_version, last_version, response
FROM fairdeal.commands
WHERE lane = $1 AND scope = $2 AND key = $3

-- answers --
-- What callers' keys did to one stream, or under it as their scope, in the order of versions.
SELECT stream::text, first_version, last_version, response
FROM fairdeal.commands
WHERE lane = $1 AND scope = $2
UNION ALL
SELECT stream::text, first_version, last_version, response
FROM fairdeal.commands
WHERE stream = $2 AND scope <> stream
ORDER BY last_version

-- head --
-- Where one stream stands.
SELECT stream::text, tenant, category, version, head_hash, tags, wake_at, secret, created_at
FROM fairdeal.streams
WHERE lane = $1 AND stream = $2

-- versions --
-- Where some streams stand.
SELECT stream::text, version
FROM unnest($1::smallint[], $2::uuid[]) AS wanted (lane, stream)
JOIN fairdeal.streams USING (lane, stream)

-- notify --
-- Tell whoever listens. Nothing is lost with the message, so its commit need not reach the disk.
SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)::text

-- load --
-- Where streams stand with their events after a version, and up to one, $5 of them at most: a row
-- for each of the streams asked for, with its events as arrays, so that a long stream costs one row
-- and no joins.
SELECT s.stream::text, s.tenant, s.category, s.version, s.head_hash, s.tags, s.wake_at, s.secret,
    s.created_at, e.versions, e.types, e.schemas, e.ats, e.actors, e.commands, e.datas, e.prevs, e.hashes,
    p.versions, p.audiences, p.digests, p.salts, p.bodies
FROM unnest($1::smallint[], $2::uuid[], $3::integer[], $4::integer[]) WITH ORDINALITY
        AS asked (lane, stream, after, upto, place)
    LEFT JOIN LATERAL (
        SELECT * FROM fairdeal.streams x
        WHERE x.lane = asked.lane AND x.stream = asked.stream LIMIT 1
    ) s ON true,
    LATERAL (
        SELECT array_agg(x.version) AS versions, array_agg(x.type) AS types,
            array_agg(x.schema_version) AS schemas, array_agg(x.at) AS ats,
            array_agg(x.actor) AS actors, array_agg(x.command_id::text) AS commands,
            array_agg(x.data) AS datas, array_agg(x.prev) AS prevs, array_agg(x.hash) AS hashes
        FROM (
            SELECT * FROM fairdeal.events v
            WHERE v.lane = asked.lane AND v.stream = asked.stream
                AND v.version > asked.after AND v.version <= asked.upto
            ORDER BY v.version
            LIMIT $5
        ) x
    ) e,
    LATERAL (
        SELECT array_agg(x.version) AS versions, array_agg(x.audience) AS audiences,
            array_agg(x.digest) AS digests, array_agg(x.salt) AS salts, array_agg(x.body) AS bodies
        FROM (
            SELECT * FROM fairdeal.sealed v
            WHERE v.lane = asked.lane AND v.stream = asked.stream AND v.version > asked.after
                AND v.version <= e.versions[cardinality(e.versions)]
            ORDER BY v.version, v.part
        ) x
    ) p
ORDER BY asked.place

-- find --
-- A tenant's streams that bear all the tags, newest first, below a stream; of these categories.
SELECT stream::text, tenant, category, version, head_hash, tags, wake_at, secret, created_at
FROM fairdeal.streams
WHERE tenant = $1 AND tags @> $2::text[] AND stream < $3::uuid
    AND ($5::text[] IS NULL OR category = ANY ($5::text[]))
ORDER BY stream DESC
LIMIT $4

-- due --
-- Streams that want attention by now, longest waiting first.
SELECT stream::text, category
FROM fairdeal.streams
WHERE wake_at <= $1::bigint
ORDER BY wake_at, stream
LIMIT $2

-- wake --
-- When one stream next wants attention, unless it has moved on.
SELECT fairdeal.wake($1, $2, $3, $4)

-- count --
-- How many streams there are.
SELECT count(*) FROM fairdeal.streams

-- streams --
-- A page of all streams in the order of their key.
SELECT lane, stream::text
FROM fairdeal.streams
WHERE (lane, stream) > ($1::smallint, $2::uuid)
ORDER BY lane, stream
LIMIT $3

-- headless --
-- Streams that have events and no row of their own.
SELECT e.stream::text
FROM fairdeal.events e
LEFT JOIN fairdeal.streams s USING (lane, stream)
WHERE e.version = 1 AND s.stream IS NULL
ORDER BY 1

-- erase --
-- Erase sealed parts of one stream.
SELECT fairdeal.erase($1, $2, $3, $4)

-- ping --
-- Whether anybody answers.
SELECT 1

-- sequence --
-- Stamp what is committed; NULL where somebody else is at it.
SELECT fairdeal.sequence($1, $2)

-- feed --
-- A page of each of some lanes' feeds, after a number of its own. Of events that are not of the
-- wanted types only the number, stream and version. One look-up an event, whatever the planner knows
-- of the tables: what has a LIMIT is not joined in another order.
SELECT f.lane, f.seq, e.stream::text, e.version, s.tenant, s.category, e.type, w.schema_version,
    w.at, w.actor, w.command_id::text, w.data, w.prev, w.hash,
    p.audiences, p.digests, p.salts, p.bodies
FROM (
    SELECT asked.lane, page.seq, page.alloc
    FROM unnest($1::smallint[], $2::bigint[]) AS asked (lane, after),
        LATERAL (
            SELECT n.seq, r.alloc - (r.seq - n.seq) AS alloc
            FROM fairdeal.feed r,
                LATERAL generate_series(greatest(r.seq - r.count, asked.after) + 1,
                    least(r.seq, greatest(r.seq - r.count, asked.after) + $3)) AS n (seq)
            WHERE r.lane = asked.lane AND r.seq > asked.after
            -- Run after run, so that no more of them are looked at than the page needs.
            ORDER BY r.seq, n.seq
            LIMIT $3
        ) page
) f
JOIN LATERAL (
    SELECT * FROM fairdeal.events x WHERE x.lane = f.lane AND x.alloc = f.alloc LIMIT 1
) e ON true
JOIN LATERAL (
    SELECT * FROM fairdeal.streams x WHERE x.lane = f.lane AND x.stream = e.stream LIMIT 1
) s ON true
LEFT JOIN LATERAL (
    SELECT e.schema_version, e.at, e.actor, e.command_id, e.data, e.prev, e.hash
    WHERE $4::text[] IS NULL OR e.type = ANY ($4::text[])
) w ON true
LEFT JOIN LATERAL (
    SELECT array_agg(x.audience ORDER BY x.part) AS audiences,
        array_agg(x.digest ORDER BY x.part) AS digests,
        array_agg(x.salt ORDER BY x.part) AS salts, array_agg(x.body ORDER BY x.part) AS bodies
    FROM fairdeal.sealed x
    WHERE w.hash IS NOT NULL AND x.lane = f.lane AND x.stream = e.stream AND x.version = e.version
) p ON true
ORDER BY f.lane, f.seq

-- tips --
-- Of each lane: the last number given, and how many committed events have none yet.
SELECT s.lane, s.seq,
    (SELECT count(*) FROM fairdeal.events e WHERE e.lane = s.lane AND e.alloc > s.alloc)
    + (SELECT count(*) FROM fairdeal.gaps g
       JOIN fairdeal.events e ON e.lane = g.lane AND e.alloc = g.alloc
       WHERE g.lane = s.lane)
FROM fairdeal.sequencer s
ORDER BY s.lane

-- place --
-- The number that one event has in the feed of its lane; no row: none yet, or no such event.
SELECT f.seq - (f.alloc - e.alloc)
FROM fairdeal.events e,
    LATERAL (
        SELECT r.seq, r.alloc, r.count FROM fairdeal.feed r
        WHERE r.lane = $1 AND r.alloc >= e.alloc ORDER BY r.alloc LIMIT 1
    ) f
WHERE e.lane = $1 AND e.stream = $2 AND e.version = $3 AND e.alloc > f.alloc - f.count

-- entries --
-- The numbers of one stream's events in the feed (NULL: none), and whether one may be missing still.
SELECT e.version, f.seq - (f.alloc - e.alloc),
    e.alloc > s.alloc OR EXISTS (SELECT FROM fairdeal.gaps g
                                 WHERE g.lane = e.lane AND g.alloc = e.alloc)
FROM fairdeal.events e
JOIN fairdeal.sequencer s ON s.lane = e.lane
LEFT JOIN LATERAL (
    SELECT r.seq, r.alloc, r.count FROM fairdeal.feed r
    WHERE r.lane = $1 AND r.alloc >= e.alloc ORDER BY r.alloc LIMIT 1
) f ON e.alloc > f.alloc - f.count
WHERE e.lane = $1 AND e.stream = $2
ORDER BY e.version

-- strays --
-- Numbers of the feed that are none: without an event, or not one more than the number before, or of
-- an event that another run holds already.
SELECT x.lane, x.seq
FROM (
    SELECT f.lane, n.seq, e.alloc IS NULL OR e.alloc <= f.other AS wrong,
        n.seq - lag(n.seq, 1, 0::bigint) OVER (PARTITION BY f.lane ORDER BY n.seq) AS step
    FROM (
        SELECT r.*, lag(r.alloc) OVER (PARTITION BY r.lane ORDER BY r.alloc) AS other
        FROM fairdeal.feed r
    ) f
    CROSS JOIN LATERAL generate_series(f.seq - f.count + 1, f.seq) AS n (seq)
    LEFT JOIN fairdeal.events e ON e.lane = f.lane AND e.alloc = f.alloc - (f.seq - n.seq)
) x
WHERE x.wrong OR x.step <> 1
ORDER BY x.lane, x.seq
