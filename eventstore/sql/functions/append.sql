-- Append a batch of events to one stream, all or nothing, and say in one row what came of it.
--
-- outcome: 'appended' (`at_version`: where the stream stands), 'replayed' (the `answer_` columns:
-- what the caller's key did the first time), 'mismatch' (the key was used for another request),
-- 'wrong-version' (`at_version`: where the stream stands instead; 0: nowhere). Only 'appended'
-- has written anything. None of them raises, so that several calls can share a transaction.
--
-- The event arrays run in parallel, one element an event; so do those of the sealed parts.
CREATE OR REPLACE FUNCTION fairdeal.append(
    p_lane smallint, p_stream uuid, p_expected integer, p_prev bytea, p_command uuid,
    p_tenant text, p_category text, p_secret bytea, p_tags text[], p_wake_at bigint,
    p_types text[], p_schemas smallint[], p_ats bigint[], p_actors smallint[],
    p_commands uuid[], p_datas bytea[], p_hashes bytea[],
    p_sealed_versions integer[], p_sealed_parts smallint[], p_audiences text[],
    p_digests bytea[], p_salts bytea[], p_bodies bytea[],
    p_scope_lane smallint, p_scope uuid, p_key uuid, p_fingerprint uuid,
    p_first_version integer, p_last_version integer, p_response bytea,
    OUT outcome text, OUT at_version integer, OUT answer_stream uuid,
    OUT answer_first integer, OUT answer_last integer, OUT answer_response bytea
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    new_version integer := p_expected + cardinality(p_hashes);
    stream_lock bigint := uuid_hash_extended(p_stream, 0);
    scope_lock bigint := uuid_hash_extended(p_scope, 0);
    numbers regclass := format('fairdeal.alloc_%s', p_lane);
    known record;
BEGIN
    -- The smaller number first, whoever asks: two appends can then never wait for each other.
    PERFORM pg_advisory_xact_lock(least(stream_lock, scope_lock));
    IF stream_lock <> scope_lock THEN
        PERFORM pg_advisory_xact_lock(greatest(stream_lock, scope_lock));
    END IF;

    IF p_key IS NOT NULL THEN
        SELECT c.command_id, c.fingerprint, c.stream, c.first_version, c.last_version, c.response
        INTO known
        FROM fairdeal.commands c
        WHERE c.lane = p_scope_lane AND c.scope = p_scope AND c.key = p_key;
        -- Under its own command id it is this append, sent again: the log will tell below.
        IF FOUND AND known.command_id <> p_command THEN
            IF known.fingerprint = p_fingerprint THEN
                outcome := 'replayed';
                answer_stream := known.stream;
                answer_first := known.first_version;
                answer_last := known.last_version;
                answer_response := known.response;
            ELSE
                outcome := 'mismatch';
            END IF;
            RETURN;
        END IF;
    END IF;

    -- The stream's row is written before any event: the transaction then has its id before it
    -- draws a number from the sequence, on which whoever orders events by commit may rely.
    IF p_expected = 0 THEN
        INSERT INTO fairdeal.streams (created_at, wake_at, version, lane, stream, head_hash,
            tenant, category, tags, secret)
        SELECT p_ats[1], p_wake_at, new_version, p_lane, p_stream,
            p_hashes[cardinality(p_hashes)], p_tenant, p_category, coalesce(p_tags, '{}'), p_secret
        WHERE p_prev = decode(repeat('00', 32), 'hex')
        ON CONFLICT (lane, stream) DO NOTHING;
    ELSE
        UPDATE fairdeal.streams s
        SET version = new_version, head_hash = p_hashes[cardinality(p_hashes)],
            wake_at = p_wake_at, tags = coalesce(p_tags, s.tags)
        WHERE s.lane = p_lane AND s.stream = p_stream
            AND s.version = p_expected AND s.head_hash = p_prev;
    END IF;
    IF NOT FOUND THEN
        -- An append whose word got lost finds itself in the log, after the version it expected.
        SELECT max(e.version) INTO at_version
        FROM fairdeal.events e
        WHERE e.lane = p_lane AND e.stream = p_stream AND e.version > p_expected
            AND (e.command_id = p_command OR e.hash = p_hashes[cardinality(p_hashes)]);
        outcome := CASE WHEN at_version IS NULL THEN 'wrong-version' ELSE 'appended' END;
        IF at_version IS NULL THEN
            at_version := coalesce(
                (SELECT s.version FROM fairdeal.streams s
                 WHERE s.lane = p_lane AND s.stream = p_stream), 0);
        END IF;
        RETURN;
    END IF;

    -- No ON CONFLICT here: should the lock ever fail to keep others out, the key must raise.
    INSERT INTO fairdeal.events (alloc, at, version, lane, schema_version, actor, stream,
        command_id, type, prev, hash, data)
    SELECT nextval(numbers), e.at, p_expected + e.place, p_lane, e.schema_version, e.actor,
        p_stream, e.command_id, e.type, e.prev, e.hash, e.data
    FROM (
        SELECT x.*, lag(x.hash, 1, p_prev) OVER (ORDER BY x.place) AS prev
        FROM unnest(p_ats, p_schemas, p_actors, p_commands, p_types, p_hashes, p_datas)
            WITH ORDINALITY
            AS x (at, schema_version, actor, command_id, type, hash, data, place)
        ORDER BY x.place
    ) e;

    IF p_digests IS NOT NULL THEN
        INSERT INTO fairdeal.sealed (version, lane, part, stream, audience, digest, salt, body)
        SELECT s.version, p_lane, s.part, p_stream, s.audience, s.digest, s.salt, s.body
        FROM unnest(p_sealed_versions, p_sealed_parts, p_audiences, p_digests, p_salts, p_bodies)
            AS s (version, part, audience, digest, salt, body);
    END IF;

    IF p_key IS NOT NULL THEN
        INSERT INTO fairdeal.commands (first_version, last_version, lane, scope, key, fingerprint,
            stream, command_id, response)
        VALUES (p_first_version, p_last_version, p_scope_lane, p_scope, p_key, p_fingerprint,
            p_stream, p_command, p_response);
    END IF;

    outcome := 'appended';
    at_version := new_version;
END
$$;

REVOKE ALL ON FUNCTION fairdeal.append(
    smallint, uuid, integer, bytea, uuid, text, text, bytea, text[], bigint,
    text[], smallint[], bigint[], smallint[], uuid[], bytea[], bytea[],
    integer[], smallint[], text[], bytea[], bytea[], bytea[],
    smallint, uuid, uuid, uuid, integer, integer, bytea
) FROM PUBLIC;
