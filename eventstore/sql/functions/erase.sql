-- Erase sealed parts of one stream: salt and body go, the digest stays and with it the chain.
-- Gives back how many parts were erased now; a part erased before is not counted again.
CREATE OR REPLACE FUNCTION fairdeal.erase(
    p_lane smallint, p_stream uuid, p_versions integer[], p_parts smallint[]
) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    erased integer;
BEGIN
    -- Locked in key order first: two erasures of the same parts can then never wait in a ring.
    PERFORM 1
    FROM fairdeal.sealed s
    JOIN unnest(p_versions, p_parts) AS gone (version, part) USING (version, part)
    WHERE s.lane = p_lane AND s.stream = p_stream
    ORDER BY s.version, s.part
    FOR UPDATE OF s;

    UPDATE fairdeal.sealed s
    SET salt = NULL, body = NULL
    FROM unnest(p_versions, p_parts) AS gone (version, part)
    WHERE s.lane = p_lane AND s.stream = p_stream
        AND s.version = gone.version AND s.part = gone.part AND s.salt IS NOT NULL;
    GET DIAGNOSTICS erased = ROW_COUNT;
    RETURN erased;
END
$$;

REVOKE ALL ON FUNCTION fairdeal.erase(smallint, uuid, integer[], smallint[]) FROM PUBLIC;
