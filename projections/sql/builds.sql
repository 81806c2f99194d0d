-- Builds and their tables, on connections of their own (`%s` parameters).

-- claim --
-- Whether nobody else makes, rebuilds or switches builds of this projection; ours until the end of
-- the transaction.
SELECT pg_try_advisory_xact_lock(6662, hashtext(%s))

-- turn --
-- One at a time draws a number for a build.
SELECT pg_advisory_xact_lock(6662, 0)

-- number --
-- A number that no build and no table of any projection bears yet.
SELECT 1 + greatest(
    (SELECT coalesce(max(b.build), 0) FROM projections.builds b),
    (SELECT coalesce(max(substring(c.relname FROM '__(\d+)$')::integer), 0) FROM pg_class c
     WHERE c.relnamespace = 'projections'::regnamespace AND c.relname ~ '__\d+$'))

-- owner --
-- Whoever owns the schema, where it is somebody else.
SELECT pg_get_userbyid(n.nspowner)
FROM pg_namespace n
WHERE n.nspname = 'projections' AND pg_get_userbyid(n.nspowner) <> current_user

-- builds --
SELECT name, build, version, state FROM projections.builds
WHERE name = ANY (%s::text[])
ORDER BY name, build

-- add --
INSERT INTO projections.builds (name, build, version, state, live_at)
VALUES (%s, %s, %s, %s, CASE WHEN %s = 'live' THEN now() END)

-- add_checkpoints --
INSERT INTO projections.checkpoints (name, build, lane)
SELECT %s, %s, s.lane FROM fairdeal.sequencer s

-- lock_all --
-- The checkpoints of all builds of a projection, which stand still from now on.
SELECT lane, build, seq FROM projections.checkpoints
WHERE name = %s
ORDER BY lane, build
FOR UPDATE

-- remove --
DELETE FROM projections.builds WHERE name = %s AND build = %s

-- make_live --
UPDATE projections.builds SET state = 'live', live_at = now() WHERE name = %s AND build = %s

-- tables_of --
SELECT regexp_replace(relname, '__\d+$', '') FROM pg_class
WHERE relnamespace = 'projections'::regnamespace AND relkind = 'r' AND relname ~ ('__' || %s || '$')

-- left_over --
-- Tables of builds that are no more.
SELECT c.relname FROM pg_class c
WHERE c.relnamespace = 'projections'::regnamespace AND c.relkind = 'r' AND c.relname ~ '__\d+$'
    AND NOT EXISTS (SELECT FROM projections.builds b
                    WHERE b.build = substring(c.relname FROM '__(\d+)$')::integer)
