#!/bin/sh
# Run once by the database's image: the role that serves, and owns nothing (docs/operations.md).
set -eu
psql -v ON_ERROR_STOP=1 -v password="$(cat /run/secrets/app_password)" \
	-U "$POSTGRES_USER" -d "$POSTGRES_DB" <<'SQL'
CREATE ROLE fairdeal_app LOGIN PASSWORD :'password';
SQL
