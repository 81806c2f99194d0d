-- Give the committed events that have none yet their numbers in the feed, up to `p_limit` new ones
-- of each lane. One caller at a time does it; another waits for its turn (`p_wait`) or gets NULL.
--
-- It must be the first thing that its transaction does, under READ COMMITTED.
CREATE OR REPLACE FUNCTION fairdeal.sequence(p_limit integer, p_wait boolean, OUT stamped integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    horizon xid8;
    lanes smallint[];
    allocs bigint[];
    filled boolean[];
    dead_lanes smallint[];
    dead_allocs bigint[];
BEGIN
    IF pg_current_xact_id_if_assigned() IS NOT NULL
        OR current_setting('transaction_isolation') <> 'read committed'
    THEN
        RAISE EXCEPTION 'fairdeal.sequence must come first in a transaction that reads what is committed'
            USING ERRCODE = 'invalid_transaction_state';
    END IF;

    -- Numbers that a crash takes back are given again, before anybody can have kept what came of
    -- them: whatever commits after this does so after it in the log of the database too.
    PERFORM set_config('synchronous_commit', 'off', true);

    -- A lock that gives the transaction no id: its id, drawn below, must be later than the look.
    IF p_wait THEN
        PERFORM pg_advisory_xact_lock(6661, 5);
    ELSIF NOT pg_try_advisory_xact_lock(6661, 5) THEN
        RETURN;
    END IF;

    -- The look: one statement, hence one snapshot, taken after the lock was had. What is new are
    -- events that fill a gap and events above the highest number seen. Gaps are dead where all that
    -- might have filled them are done and have not. (A horizon that this snapshot has yet to reach
    -- comes with a dump from another cluster, none of whose transactions goes on here.)
    SELECT new.lanes, new.allocs, new.filled, dead.lanes, dead.allocs
    INTO lanes, allocs, filled, dead_lanes, dead_allocs
    FROM (
        SELECT array_agg(x.lane) AS lanes, array_agg(x.alloc) AS allocs,
            array_agg(x.filled) AS filled
        FROM (
            SELECT g.lane, g.alloc, true AS filled
            FROM fairdeal.gaps g
            WHERE EXISTS (SELECT FROM fairdeal.events e
                          WHERE e.lane = g.lane AND e.alloc = g.alloc)
            UNION ALL
            SELECT s.lane, fresh.alloc, false
            FROM fairdeal.sequencer s,
                LATERAL (SELECT e.alloc FROM fairdeal.events e
                         WHERE e.lane = s.lane AND e.alloc > s.alloc
                         ORDER BY e.alloc LIMIT p_limit) fresh
        ) x
    ) new, (
        SELECT array_agg(g.lane) AS lanes, array_agg(g.alloc) AS allocs
        FROM fairdeal.gaps g
        WHERE (g.horizon <= pg_snapshot_xmin(pg_current_snapshot())
               OR g.horizon >= pg_snapshot_xmax(pg_current_snapshot()))
            AND NOT EXISTS (SELECT FROM fairdeal.events e
                            WHERE e.lane = g.lane AND e.alloc = g.alloc)
    ) dead;

    DELETE FROM fairdeal.gaps g
    USING unnest(dead_lanes, dead_allocs) AS x (lane, alloc)
    WHERE g.lane = x.lane AND g.alloc = x.alloc;

    stamped := coalesce(cardinality(allocs), 0);
    IF stamped = 0 THEN
        RETURN;
    END IF;

    -- In runs: where number and alloc both go on by one, their difference stays.
    INSERT INTO fairdeal.feed (seq, alloc, lane, count)
    SELECT max(n.seq), max(n.alloc), n.lane, count(*)
    FROM (
        SELECT s.seq + row_number() OVER (PARTITION BY x.lane ORDER BY x.alloc) AS seq, x.alloc,
            x.lane
        FROM unnest(lanes, allocs) AS x (lane, alloc)
        JOIN fairdeal.sequencer s USING (lane)
    ) n
    GROUP BY n.lane, n.alloc - n.seq;

    DELETE FROM fairdeal.gaps g
    USING unnest(lanes, allocs, filled) AS x (lane, alloc, filled)
    WHERE x.filled AND g.lane = x.lane AND g.alloc = x.alloc;

    -- Whoever holds a number below one seen in the look had its id before that look, and so a
    -- smaller one than this transaction, which draws its own only after it.
    horizon := pg_current_xact_id();
    INSERT INTO fairdeal.gaps (alloc, horizon, lane)
    SELECT missing.alloc, horizon, missing.lane
    FROM (
        SELECT s.lane, n.alloc
        FROM fairdeal.sequencer s
        JOIN (
            SELECT x.lane, max(x.alloc) AS alloc
            FROM unnest(lanes, allocs, filled) AS x (lane, alloc, filled)
            WHERE NOT x.filled
            GROUP BY x.lane
        ) top USING (lane),
            LATERAL generate_series(s.alloc + 1, top.alloc) AS n (alloc)
        EXCEPT
        SELECT x.lane, x.alloc FROM unnest(lanes, allocs) AS x (lane, alloc)
    ) missing;

    UPDATE fairdeal.sequencer s
    SET seq = s.seq + x.stamped, alloc = greatest(s.alloc, x.alloc)
    FROM (
        SELECT t.lane, count(*) AS stamped, max(t.alloc) AS alloc
        FROM unnest(lanes, allocs) AS t (lane, alloc)
        GROUP BY t.lane
    ) x
    WHERE s.lane = x.lane;
END
$$;

REVOKE ALL ON FUNCTION fairdeal.sequence(integer, boolean) FROM PUBLIC;
