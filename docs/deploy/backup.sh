#!/bin/sh
# One dump of the database of compose.yaml into the folder `backups`, for a schedule on the host:
#   17 * * * * root /srv/fairdeal/docs/deploy/backup.sh
# Exit code 0 once the dump is whole and on the disk; dumps of more than FAIRDEAL_BACKUP_DAYS days (14)
# are thrown away then, and never while no new one can be made.
set -eu
cd "$(dirname "$0")"
docker compose run --rm --no-deps --no-TTY backup \
    backup "/backups/fairdeal-$(date -u +%Y%m%dT%H%M%SZ).dump"
find backups -maxdepth 1 -name 'fairdeal-*.dump' -mtime "+${FAIRDEAL_BACKUP_DAYS:-14}" -delete
