-- What callers' keys did to a stream under a scope that is not the stream: games and disputes that
-- were begun with a key. One entry a stream at most, so it costs appends next to nothing.
CREATE INDEX commands_elsewhere ON fairdeal.commands (stream) WHERE scope <> stream;

-- A stream that has begun stays: its row is rewritten by appends and never goes.
CREATE TRIGGER streams_stay
    BEFORE DELETE ON fairdeal.streams
    FOR EACH ROW EXECUTE FUNCTION fairdeal.refuse_change();

CREATE TRIGGER streams_stay_whole
    BEFORE TRUNCATE ON fairdeal.streams
    FOR EACH STATEMENT EXECUTE FUNCTION fairdeal.refuse_change();

ALTER TABLE fairdeal.streams ENABLE ALWAYS TRIGGER streams_stay;
ALTER TABLE fairdeal.streams ENABLE ALWAYS TRIGGER streams_stay_whole;
