-- Webhooks: who wants to be told, how far the feed has been read for them, what is to be sent. No part
-- of the log; like `projections` it belongs to whoever serves (see grant_app).
CREATE SCHEMA webhooks;

-- `since` holds, lane by lane, the last number of the feed when the webhook was made: it is told what
-- comes after. `secret` signs what is sent to it, so it is kept as it is.
CREATE TABLE webhooks.subscriptions (
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    disabled_at timestamptz,
    id          uuid        PRIMARY KEY,
    tenant      text        NOT NULL,
    url         text        NOT NULL,
    kinds       text[]      NOT NULL CHECK (kinds <@ ARRAY['event', 'turn'] AND kinds <> '{}'),
    games       text[],
    secret      bytea       NOT NULL,
    since       bigint[]    NOT NULL CHECK (cardinality(since) = 16),
    key         bytea       UNIQUE,
    fingerprint bytea
);

CREATE INDEX subscriptions_of_tenant ON webhooks.subscriptions (tenant, id);

-- How far in each lane's feed deliveries have been made, kept in the transaction that makes them.
CREATE TABLE webhooks.checkpoints (
    seq  bigint   NOT NULL DEFAULT 0,
    lane smallint PRIMARY KEY
);

INSERT INTO webhooks.checkpoints (lane) SELECT generate_series(0, 15);

-- For which seats each game waited when it was last looked at, where anybody wants turn notices.
CREATE TABLE webhooks.waiting (
    game   uuid       PRIMARY KEY,
    to_act smallint[] NOT NULL
);

-- What is to be sent or has been. Only a reference to the log: the body is written at sending.
CREATE TABLE webhooks.deliveries (
    number      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at timestamptz,
    version     integer     NOT NULL,
    attempts    integer     NOT NULL DEFAULT 0,
    last_status smallint,
    id          uuid        NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    webhook     uuid        NOT NULL REFERENCES webhooks.subscriptions ON DELETE CASCADE,
    game        uuid        NOT NULL,
    kind        text        NOT NULL CHECK (kind IN ('event', 'turn')),
    state       text        NOT NULL DEFAULT 'pending'
                CHECK (state IN ('pending', 'delivered', 'failed', 'outdated')),
    last_error  text,
    to_act      smallint[],
    CONSTRAINT told_once UNIQUE (webhook, game, version, kind)
);

CREATE INDEX deliveries_of_webhook ON webhooks.deliveries (webhook, number);
CREATE INDEX deliveries_pending ON webhooks.deliveries (webhook, game, number) WHERE state = 'pending';
CREATE INDEX deliveries_finished ON webhooks.deliveries (finished_at) WHERE state <> 'pending';

-- The games of which something is pending, one row for each webhook: whoever sends takes a game, so
-- that what happens in it is told in its order. `due_at` is moved on while somebody sends (a lease)
-- and while a retry waits; `tickets` counts what was put in, so that a row is only removed by one who
-- has seen all of it.
CREATE TABLE webhooks.queues (
    due_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    tickets  bigint      NOT NULL DEFAULT 1,
    failures integer     NOT NULL DEFAULT 0,
    webhook  uuid        NOT NULL REFERENCES webhooks.subscriptions ON DELETE CASCADE,
    game     uuid        NOT NULL,
    PRIMARY KEY (webhook, game)
);

CREATE INDEX queues_due ON webhooks.queues (webhook, due_at);
