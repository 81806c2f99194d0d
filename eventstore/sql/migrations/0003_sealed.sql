-- The sealed parts of events: the digest stands in the event's hash, salt and body can be erased.
--
-- `part` counts from 0 within an event. `audience` is text of the caller's.
CREATE TABLE fairdeal.sealed (
    version  integer  NOT NULL,
    lane     smallint NOT NULL,
    part     smallint NOT NULL CHECK (part >= 0),
    stream   uuid     NOT NULL,
    audience text     NOT NULL,
    digest   bytea    NOT NULL CHECK (octet_length(digest) = 32),
    salt     bytea,
    body     bytea,
    PRIMARY KEY (lane, stream, version, part),
    CONSTRAINT erased_whole_or_not CHECK ((salt IS NULL) = (body IS NULL))
);

CREATE TRIGGER sealed_may_be_erased
    BEFORE UPDATE OR DELETE ON fairdeal.sealed
    FOR EACH ROW EXECUTE FUNCTION fairdeal.refuse_unless_erasure();

CREATE TRIGGER sealed_stands_whole
    BEFORE TRUNCATE ON fairdeal.sealed
    FOR EACH STATEMENT EXECUTE FUNCTION fairdeal.refuse_change();

ALTER TABLE fairdeal.sealed ENABLE ALWAYS TRIGGER sealed_may_be_erased;
ALTER TABLE fairdeal.sealed ENABLE ALWAYS TRIGGER sealed_stands_whole;
