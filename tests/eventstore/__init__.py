"""The store against a real Postgres, and the embedded Postgres itself."""
