-- What a caller's keys did, so that a key that comes again gets the first answer again.
--
-- `scope` is where a key is unique: the stream itself, or a digest of another text. The lane is
-- that of the scope, since a key must be found before its stream is known. Key and fingerprint
-- are the first 16 bytes of digests, held as uuid for want of a smaller type of fixed length.
-- An append without a key needs no row: its events bear its command id.
CREATE TABLE fairdeal.commands (
    first_version integer  NOT NULL,
    last_version  integer  NOT NULL,
    lane          smallint NOT NULL CHECK (lane = get_byte(sha256(uuid_send(scope)), 0) & 15),
    scope         uuid     NOT NULL,
    key           uuid     NOT NULL,
    fingerprint   uuid     NOT NULL,
    stream        uuid     NOT NULL,
    command_id    uuid     NOT NULL,
    response      bytea    NOT NULL,
    PRIMARY KEY (lane, scope, key)
);
