-- One row a stream: where it stands and what is looked up about it. Rewritten by every append.
--
-- `lane` spreads the streams over 16 lanes by a hash of the id that any client can compute; it
-- stands in every key of the schema, so that a table can be partitioned or distributed by it.
CREATE TABLE fairdeal.streams (
    created_at bigint   NOT NULL,
    wake_at    bigint,
    version    integer  NOT NULL CHECK (version > 0),
    lane       smallint NOT NULL CHECK (lane = get_byte(sha256(uuid_send(stream)), 0) & 15),
    stream     uuid     NOT NULL,
    head_hash  bytea    NOT NULL CHECK (octet_length(head_hash) = 32),
    tenant     text     NOT NULL,
    category   text     NOT NULL,
    tags       text[]   NOT NULL DEFAULT '{}',
    secret     bytea,
    PRIMARY KEY (lane, stream)
)
-- Room in the page keeps an append's rewrite of the row out of the indexes.
WITH (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.05);

-- A tenant's streams, newest first.
CREATE INDEX streams_of_tenant ON fairdeal.streams (tenant, stream);

-- Streams with given tags. Without a pending list: no append pays for the others' entries at once.
CREATE INDEX streams_by_tag ON fairdeal.streams USING gin (tags) WITH (fastupdate = off);

-- What wants attention, soonest first.
CREATE INDEX streams_to_wake ON fairdeal.streams (wake_at, stream) WHERE wake_at IS NOT NULL;
