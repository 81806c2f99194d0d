-- Set when a stream next wants attention (NULL: never), where it still stands at the version that
-- the caller knows: whoever appended since has said so already. Gives back whether it was set.
CREATE OR REPLACE FUNCTION fairdeal.wake(
    p_lane smallint, p_stream uuid, p_version integer, p_wake_at bigint
) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE fairdeal.streams s
    SET wake_at = p_wake_at
    WHERE s.lane = p_lane AND s.stream = p_stream AND s.version = p_version;
    RETURN FOUND;
END
$$;

REVOKE ALL ON FUNCTION fairdeal.wake(smallint, uuid, integer, bigint) FROM PUBLIC;
