-- Trigger: a sealed part stands, but for the one change that erases its salt and body together.
CREATE OR REPLACE FUNCTION fairdeal.refuse_unless_erasure() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.salt IS NULL AND NEW.body IS NULL
        AND (NEW.lane, NEW.stream, NEW.version, NEW.part, NEW.audience, NEW.digest)
            IS NOT DISTINCT FROM
            (OLD.lane, OLD.stream, OLD.version, OLD.part, OLD.audience, OLD.digest)
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% refused: a row of %.% can only be erased', TG_OP, TG_TABLE_SCHEMA,
        TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
