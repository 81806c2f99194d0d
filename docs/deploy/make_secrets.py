"""Make the folder `secrets` for compose.yaml, once: `python3 make_secrets.py`, and the folder that
backups go to, which holds none of these. Needs root (or user 10001), since each file is to be read
by one service's account alone. Changes nothing that is there."""

import base64
import os
import secrets
import sys
import time
from pathlib import Path

API = 10001
"""The account of the image of Fairdeal."""
PROXY = 10002
"""The account that Caddy runs as: it keeps its certificates in `caddy`."""
POOLER = 10003
"""The account of the image of the pooler."""
POSTGRES = 999
"""The account of the image of Postgres."""


def main(folder: Path) -> None:
    """Make what is missing, whole: all of it belongs together."""
    if folder.exists():
        sys.exit(f"{folder} is there already.")
    owner, app = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    key = f"host:fd_{secrets.token_urlsafe(32)}"
    signing = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    files = {
        "database/owner_password": (owner, POSTGRES, 0o400),
        "database/app_password": (app, POSTGRES, 0o400),
        "migrate/pgpass": (f"postgres:5432:fairdeal:fairdeal:{owner}", API, 0o400),
        "api/pgpass": (f"*:*:fairdeal:fairdeal_app:{app}", API, 0o400),
        "api/secret": (secrets.token_urlsafe(32), API, 0o400),
        "api/host.key": (key, API, 0o400),
        "api/signing.keys": (f"{signing}:{int(time.time())}", API, 0o400),
        "pgbouncer/userlist.txt": (f'"fairdeal_app" "{app}"', POOLER, 0o400),
    }
    folder.mkdir(0o711)
    for name, (text, account, mode) in files.items():
        path = folder / name
        path.parent.mkdir(0o711, exist_ok=True)
        path.write_text(text + "\n")
        path.chmod(mode)
        os.chown(path, account, account)
    certificates = folder / "caddy"
    certificates.mkdir(0o700)
    os.chown(certificates, PROXY, PROXY)
    backups = folder.with_name("backups")
    if not backups.exists():
        backups.mkdir(0o700)
        os.chown(backups, API, API)
    print(f"The host key is {key.partition(':')[2]}")


if __name__ == "__main__":
    main(Path(__file__).parent / "secrets")
