-- The feed in runs: a row stands for `count` events, numbered `seq - count + 1` to `seq`, whose `alloc`
-- are those up to its own without a gap. The rows of before are runs of one.
--
-- Whoever numbers events finds most of them in runs, so the feed takes a fraction of the room that a
-- row for each event did.
ALTER TABLE fairdeal.feed
    ADD COLUMN count integer NOT NULL DEFAULT 1,
    ADD CONSTRAINT a_run_of_some CHECK (count > 0 AND count <= seq AND count <= alloc);
