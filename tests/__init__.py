"""The tests mirror the tree. Store and API always run against a real Postgres."""
