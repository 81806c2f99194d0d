-- The feed: every event of a lane under a number without gaps, in an order that keeps each stream's.
-- Written by fairdeal.sequence alone; why it loses nothing stands in ARCHITECTURE.md, *The feed*.

-- A sequence for each lane, so that a lane's numbers have only the gaps of its own appends.
ALTER TABLE fairdeal.events ALTER COLUMN alloc DROP DEFAULT;

DO $$
DECLARE
    next_alloc bigint;
BEGIN
    -- Nobody appends between the last number drawn and the events stamped below.
    LOCK TABLE fairdeal.events IN SHARE MODE;
    SELECT CASE WHEN s.is_called THEN s.last_value + 1 ELSE 1 END INTO next_alloc
    FROM fairdeal.alloc s;
    FOR lane IN 0..15 LOOP
        EXECUTE format('CREATE SEQUENCE fairdeal.alloc_%s AS bigint START %s', lane, next_alloc);
    END LOOP;
END
$$;

-- The log by lane: `seq` counts 1, 2, 3, …; `alloc` says which event it is.
CREATE TABLE fairdeal.feed (
    seq   bigint   NOT NULL CHECK (seq > 0),
    alloc bigint   NOT NULL,
    lane  smallint NOT NULL,
    PRIMARY KEY (lane, seq),
    UNIQUE (lane, alloc)
);

-- How far each lane is stamped: `seq` is its last number, `alloc` the highest number seen.
CREATE TABLE fairdeal.sequencer (
    seq   bigint   NOT NULL,
    alloc bigint   NOT NULL,
    lane  smallint PRIMARY KEY
);

-- Numbers at or below `sequencer.alloc` that no event bears yet. Those who may have drawn them have
-- transaction ids below `horizon`.
CREATE TABLE fairdeal.gaps (
    alloc   bigint   NOT NULL,
    horizon xid8     NOT NULL,
    lane    smallint NOT NULL,
    PRIMARY KEY (lane, alloc)
);

INSERT INTO fairdeal.feed (seq, alloc, lane)
SELECT row_number() OVER (PARTITION BY e.lane ORDER BY e.alloc), e.alloc, e.lane
FROM fairdeal.events e;

INSERT INTO fairdeal.sequencer (seq, alloc, lane)
SELECT (SELECT coalesce(max(f.seq), 0) FROM fairdeal.feed f WHERE f.lane = l.lane),
    CASE WHEN s.is_called THEN s.last_value ELSE 0 END, l.lane
FROM fairdeal.alloc s, generate_series(0, 15) AS l (lane);

DROP SEQUENCE fairdeal.alloc;

-- A number once given stays with its event.
CREATE TRIGGER feed_stands
    BEFORE UPDATE OR DELETE ON fairdeal.feed
    FOR EACH ROW EXECUTE FUNCTION fairdeal.refuse_change();

CREATE TRIGGER feed_stands_whole
    BEFORE TRUNCATE ON fairdeal.feed
    FOR EACH STATEMENT EXECUTE FUNCTION fairdeal.refuse_change();

ALTER TABLE fairdeal.feed ENABLE ALWAYS TRIGGER feed_stands;
ALTER TABLE fairdeal.feed ENABLE ALWAYS TRIGGER feed_stands_whole;
