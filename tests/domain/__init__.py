"""The rules, tested as pure functions: no database, no clock, no network."""
