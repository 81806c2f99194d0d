-- Trigger: the table's rows stand for ever, whoever asks.
CREATE OR REPLACE FUNCTION fairdeal.refuse_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% refused: %.% is append-only', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END
$$;
