-- One row an append: what was done under which command id and, where the caller gave a key, what
-- to answer when the key comes again.
--
-- `scope` is where a caller's key is unique: the stream itself, or a digest of another text. The
-- lane here is that of the scope, since a key must be found before its stream is known.
CREATE TABLE fairdeal.commands (
    first_version integer  NOT NULL,
    last_version  integer  NOT NULL,
    lane          smallint NOT NULL CHECK (lane = get_byte(sha256(uuid_send(scope)), 0) & 15),
    scope         uuid     NOT NULL,
    command_id    uuid     NOT NULL,
    stream        uuid     NOT NULL,
    key           bytea,
    fingerprint   bytea,
    response      bytea,
    PRIMARY KEY (lane, command_id),
    CONSTRAINT keyed_whole_or_not
        CHECK ((key IS NULL) = (fingerprint IS NULL) AND (key IS NULL) = (response IS NULL))
);

CREATE UNIQUE INDEX commands_by_key ON fairdeal.commands (lane, scope, key) WHERE key IS NOT NULL;
