"""What the processes say on stderr: a line of JSON, or of text, for each thing that happened.

Nothing secret can stand in one. An error is told by its kind and its place in the code, never by
its message, which may quote a card, a name or a key; a request by its route, never by its path.
That holds for what libraries say too, whose lines would quote errors and addresses of databases.
"""

import json
import logging
import logging.config
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any, Final, Literal

import msgspec
import psycopg

from api.log_writer import LogWriter
from api.settings import SettingsError
from projections.writing import kind_of

FORMAT_ENV: Final = "FAIRDEAL_LOG"
LEVEL_ENV: Final = "FAIRDEAL_LOG_LEVEL"
LEVELS: Final = ("debug", "info", "warning", "error")

_OURS: Final = ("fairdeal", "eventstore", "projections", "api")
"""The loggers whose level is the one set; everybody else's warnings are passed on."""
_DEEPEST: Final = 8
"""Causes of an error that are told."""
_TRUSTED: Final = ("api", "domain", "eventstore", "projections")
"""Whose errors have words that we chose, and may be quoted."""
_TALKATIVE: Final = "asyncio"
"""Its messages go on, after the first line, with what tasks held."""

Format = Literal["json", "text", "off"]


class Told(msgspec.Struct):
    """What the lines of one request have in common."""

    request: str
    """The request's id."""
    game: str | None = None
    tenant: str | None = None
    command: str | None = None


request: Final[ContextVar[Told | None]] = ContextVar("request", default=None)
"""The request that is being answered, if one is."""


def note_command(command: str) -> None:
    """The command that the request being answered has carried out."""
    told = request.get()
    if told is not None:
        told.command = command


def form(environment: Mapping[str, str] = os.environ) -> Format:
    """`FAIRDEAL_LOG`; without it `text` on a terminal, else `json`. Raises SettingsError."""
    match environment.get(FORMAT_ENV, ""):
        case "json" | "text" | "off" as chosen:
            return chosen
        case "":
            return "text" if sys.stderr is not None and sys.stderr.isatty() else "json"
        case other:
            raise SettingsError(f"{FORMAT_ENV} is {other!r}: json, text or off")


def level(environment: Mapping[str, str] = os.environ) -> str:
    """`FAIRDEAL_LOG_LEVEL`, `info` by default. Raises SettingsError."""
    chosen = environment.get(LEVEL_ENV) or "info"
    if chosen not in LEVELS:
        raise SettingsError(f"{LEVEL_ENV} is {chosen!r}: one of {', '.join(LEVELS)}")
    return chosen


def configuration(environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """How `logging` is set up for every process of the service. Raises SettingsError."""
    chosen, ours = form(environment), level(environment).upper()
    if chosen == "off":
        handler: dict[str, Any] = {"class": "logging.NullHandler"}
    else:
        handler = {"()": LogWriter, "formatter": chosen}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonLines}, "text": {"()": TextLines}},
        "handlers": {"stderr": handler},
        "loggers": {
            # That somebody has sent what is no HTTP is no news.
            "uvicorn": {"level": "ERROR"},
            **{name: {"level": ours} for name in _OURS},
        },
        "root": {"level": "WARNING", "handlers": ["stderr"]},
    }


def begin(environment: Mapping[str, str] = os.environ) -> None:
    """Log from now on as this environment asks for. Raises SettingsError."""
    logging.config.dictConfig(configuration(environment))


class JsonLines(logging.Formatter):
    """A JSON object a line: `time`, `level`, `logger`, `message`, `process`, and what else is known
    (`request`, `game`, `tenant`, `command`, fields of the line's own, `error`)."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        return json.dumps(_facts(record), ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    """The same for people: the message, then `name=value`, then the error's places line by line."""

    def format(self, record: logging.LogRecord) -> str:
        """The lines of a record."""
        facts = _facts(record)
        head = [facts.pop(name) for name in ("time", "level", "logger", "message")]
        errors = facts.pop("error", [])
        del facts["process"]
        rest = [f"{name}={value}" for name, value in facts.items()]
        lines = [" ".join([head[0], head[1].upper(), f"{head[2]}:", _one_line(head[3]), *rest])]
        for error in errors:
            lines.append(f"  {error['kind']}")
            lines.extend([f"    {place}" for place in error["places"]])
        return "\n".join(lines)


def _message(record: logging.LogRecord) -> str:
    """The message, in which errors and connections of libraries are told by their kind."""
    args = record.args
    if isinstance(args, Mapping):
        shown: Any = {name: _shown(value) for name, value in args.items()}
    else:
        shown = tuple([_shown(value) for value in args or ()])
    words = str(_shown(record.msg))
    return words % shown if shown else words


def _shown(value: object) -> object:
    kind = type(value)
    if isinstance(value, BaseException) and kind.__module__.partition(".")[0] not in _TRUSTED:
        return kind_of(value)
    if isinstance(value, psycopg.AsyncConnection | psycopg.Connection):
        # It would say host, user and database.
        return kind.__name__
    return value


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    message = _message(record)
    if record.name == _TALKATIVE:
        message = message.partition("\n")[0]
    seconds, micros = divmod(int(record.created * 1_000_000), 1_000_000)
    facts: dict[str, Any] = {
        "time": f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{micros:06}Z",
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": message,
        "process": record.process,
    }
    told = request.get()
    if told is not None:
        known = {name: getattr(told, name) for name in told.__struct_fields__}
        facts |= {name: value for name, value in known.items() if value is not None}
    facts |= getattr(record, "fields", {})
    if record.exc_info and record.exc_info[1] is not None:
        facts["error"] = list(_errors(record.exc_info[1]))
    return facts


def _errors(error: BaseException, depth: int = 0) -> Iterator[dict[str, Any]]:
    """An error, then what caused it: kinds and places, no messages."""
    yield {"kind": kind_of(error), "places": list(_places(error))}
    if depth == _DEEPEST:
        return
    inner = list(error.exceptions) if isinstance(error, BaseExceptionGroup) else []
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    for other in [*inner, cause]:
        if other is not None:
            yield from _errors(other, depth + 1)


def _places(error: BaseException) -> Iterator[str]:
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        module = step.tb_frame.f_globals.get("__name__", "?")
        yield f"{module}.{code.co_qualname}:{step.tb_lineno}"
        step = step.tb_next


def _one_line(text: str) -> str:
    return text.replace("\r", "\\r").replace("\n", "\\n")
