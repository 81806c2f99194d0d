-- The log. Rows are added and never changed.
--
-- `alloc` comes from a sequence and so shows gaps and late commits; it only helps a sequencer to
-- find what is new in a lane. Order within a stream is `version`. Wide fixed columns come first
-- and hold no padding; times are microseconds since 1970.
CREATE SEQUENCE fairdeal.alloc AS bigint;

CREATE TABLE fairdeal.events (
    alloc          bigint   NOT NULL DEFAULT nextval('fairdeal.alloc'),
    at             bigint   NOT NULL,
    version        integer  NOT NULL CHECK (version > 0),
    lane           smallint NOT NULL,
    schema_version smallint NOT NULL,
    actor          smallint,
    stream         uuid     NOT NULL,
    command_id     uuid     NOT NULL,
    type           text     NOT NULL,
    prev           bytea    NOT NULL CHECK (octet_length(prev) = 32),
    hash           bytea    NOT NULL CHECK (octet_length(hash) = 32),
    data           bytea    NOT NULL,
    PRIMARY KEY (lane, stream, version)
)
PARTITION BY HASH (lane);

CREATE UNIQUE INDEX events_by_alloc ON fairdeal.events (lane, alloc);

CREATE TRIGGER events_stand
    BEFORE UPDATE OR DELETE ON fairdeal.events
    FOR EACH ROW EXECUTE FUNCTION fairdeal.refuse_change();

CREATE TRIGGER events_stand_whole
    BEFORE TRUNCATE ON fairdeal.events
    FOR EACH STATEMENT EXECUTE FUNCTION fairdeal.refuse_change();

-- ALWAYS: also where a session has switched ordinary triggers off (session_replication_role).
ALTER TABLE fairdeal.events ENABLE ALWAYS TRIGGER events_stand;
ALTER TABLE fairdeal.events ENABLE ALWAYS TRIGGER events_stand_whole;

DO $$
DECLARE
    partition text;
BEGIN
    FOR remainder IN 0..3 LOOP
        partition := format('fairdeal.events_%s', remainder);
        EXECUTE format(
            'CREATE TABLE %s PARTITION OF fairdeal.events'
            ' FOR VALUES WITH (MODULUS 4, REMAINDER %s)', partition, remainder);
        -- A row trigger comes down from the parent, a TRUNCATE trigger does not.
        EXECUTE format(
            'CREATE TRIGGER events_stand_whole BEFORE TRUNCATE ON %s'
            ' FOR EACH STATEMENT EXECUTE FUNCTION fairdeal.refuse_change()', partition);
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER events_stand', partition);
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER events_stand_whole', partition);
    END LOOP;
END
$$;
