-- Where projections keep themselves: a schema that can be dropped and built again from the feed.
-- Unlike all else here it belongs to whoever serves (see grant_app).
CREATE SCHEMA projections;

-- The builds of each projection: at most one `live`, whose tables answer, and at most one `building`
-- beside it. `version` is that of the projection's code and tables.
CREATE TABLE projections.builds (
    name      text        NOT NULL,
    build     integer     NOT NULL CHECK (build > 0),
    version   integer     NOT NULL,
    state     text        NOT NULL CHECK (state IN ('building', 'live')),
    begun_at  timestamptz NOT NULL DEFAULT now(),
    live_at   timestamptz,
    beaten_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (name, build),
    CONSTRAINT one_of_each UNIQUE (name, state)
);

-- How far in each lane's feed a build has come, kept in the transaction that writes its rows.
-- `current_at`: when it last had nothing left to do there.
CREATE TABLE projections.checkpoints (
    seq        bigint      NOT NULL DEFAULT 0,
    current_at timestamptz NOT NULL DEFAULT now(),
    build      integer     NOT NULL,
    lane       smallint    NOT NULL,
    name       text        NOT NULL,
    PRIMARY KEY (lane, name, build),
    FOREIGN KEY (name, build) REFERENCES projections.builds ON DELETE CASCADE
);

-- Streams that a build could not apply: left out from that event on, everything else goes on.
CREATE TABLE projections.parked (
    seq       bigint      NOT NULL,
    parked_at timestamptz NOT NULL DEFAULT now(),
    build     integer     NOT NULL,
    version   integer     NOT NULL,
    lane      smallint    NOT NULL,
    stream    uuid        NOT NULL,
    name      text        NOT NULL,
    error     text        NOT NULL,
    PRIMARY KEY (lane, name, build, stream),
    FOREIGN KEY (name, build) REFERENCES projections.builds ON DELETE CASCADE
);
