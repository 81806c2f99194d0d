-- Let a role do what a serving process does and no more: read, and call the store's functions. It
-- can neither write a row of the log itself nor change one, whatever runs under it. What is no part of
-- the log is its own: the projections, which the log makes again at any time, and the webhooks.
CREATE OR REPLACE FUNCTION fairdeal.grant_app(p_role name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    entry regprocedure;
    owned name;
    derived regclass;
BEGIN
    IF (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = p_role) THEN
        RAISE EXCEPTION 'role % is a superuser, whom no grant restrains', p_role
            USING ERRCODE = 'invalid_grant_operation';
    END IF;
    IF pg_has_role(p_role, (SELECT c.relowner FROM pg_class c
                            WHERE c.oid = 'fairdeal.events'::regclass), 'MEMBER') THEN
        RAISE EXCEPTION 'role % owns the log, or is of the role that does', p_role
            USING ERRCODE = 'invalid_grant_operation';
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA fairdeal TO %I', p_role);
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA fairdeal FROM %I', p_role);
    EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA fairdeal FROM %I', p_role);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA fairdeal TO %I', p_role);
    FOR entry IN
        SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = 'fairdeal'::regnamespace AND p.prosecdef
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', entry, p_role);
    END LOOP;
    FOREACH owned IN ARRAY ARRAY['projections', 'webhooks'] LOOP
        EXECUTE format('ALTER SCHEMA %I OWNER TO %I', owned, p_role);
        FOR derived IN
            SELECT c.oid FROM pg_class c
            WHERE c.relnamespace = owned::text::regnamespace AND c.relkind IN ('r', 'v')
        LOOP
            EXECUTE format('ALTER TABLE %s OWNER TO %I', derived, p_role);
        END LOOP;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION fairdeal.grant_app(name) FROM PUBLIC;
