-- What a rebuild asks, on connections of its own (`%s` parameters).

-- hold --
-- The transaction that holds the claim stands idle while the build is filled.
SELECT set_config('idle_in_transaction_session_timeout', '0', true)

-- patient --
-- Comparing may take as long as it takes; a checkpoint is waited for as long as a page takes. Who is
-- told that a build is live can rely on it.
SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '5s', true),
    set_config('synchronous_commit', 'on', true)

-- progress --
-- How much a build has taken in, and how much there is.
SELECT coalesce(sum(c.seq), 0)::bigint, coalesce(sum(s.seq), 0)::bigint
FROM projections.checkpoints c
JOIN fairdeal.sequencer s USING (lane)
WHERE c.name = %s AND c.build = %s

-- parked --
SELECT count(*) FROM projections.parked WHERE name = %s AND build = %s
