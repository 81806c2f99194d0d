"""`fairdeal verify`: a log in a file, checked without a server and told in a table or as JSON."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from domain.explain import Explanation, explain
from domain.export import BadExport, Export, read
from domain.receipts import PublicKey, Receipt
from domain.verify import Check, Report, verify

_LONG: Final = 500
"""Events (or streams) from which on a bar shows how far it is."""
_LISTED: Final = 6
"""Versions named in the table; all are in the JSON."""

_MARKS: Final = {
    "passed": "[green]passed[/green]",
    "failed": "[bold red]FAILED[/bold red]",
    "not_yet_possible": "[yellow]not yet possible[/yellow]",
}


class UnreadableFile(Exception):
    """A file is not there, or not what it was given for; the message says which and why."""


class Anchor(msgspec.Struct):
    """A JWK set, as `/.well-known/jwks.json` gives it."""

    keys: list[dict[str, Any]]


class Checked(msgspec.Struct, frozen=True):
    """A file's report, and the explanation of an event where one was asked for."""

    report: Report
    explanation: Explanation | None = None


def read_log(path: Traversable) -> Export:
    """The log in a file, `-` for what comes in. Raises UnreadableFile."""
    try:
        if str(path) == "-":
            return read(sys.stdin.buffer)
        with path.open("rb") as file:
            return read(file)
    except BadExport as error:
        raise UnreadableFile(f"{path} is no log: {error}") from None
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}") from None


def read_receipts(paths: Iterable[Path]) -> list[Receipt]:
    """The receipts in files: each a receipt, an answer that holds one, or lines or a list of such.
    Raises UnreadableFile."""
    found = []
    for path in paths:
        try:
            raw = _content(path).strip()
            values = [msgspec.json.decode(raw)] if _one_value(raw) else _lines(raw)
            each = [_receipt(v) for value in values for v in _listed(value)]
        except (msgspec.MsgspecError, ValueError) as error:
            raise UnreadableFile(f"{path} holds no receipt: {error}") from None
        if not each:
            raise UnreadableFile(f"{path} holds no receipt")
        found += each
    return found


def read_keys(path: Path) -> tuple[PublicKey, ...]:
    """The Ed25519 keys of a JWK set; keys of other kinds are passed over (RFC 7517, section 5).
    Raises UnreadableFile."""
    try:
        keys = msgspec.json.decode(_content(path), type=Anchor).keys
        ours = [k for k in keys if (k.get("kty"), k.get("crv")) == ("OKP", "Ed25519")]
        return msgspec.convert(ours, tuple[PublicKey, ...])
    except (msgspec.MsgspecError, ValueError) as error:
        raise UnreadableFile(f"{path} is no JWK set: {error}") from None


def check(
    log: Export,
    receipts: Sequence[Receipt] = (),
    keys: Sequence[PublicKey] | None = None,
    version: int | None = None,
) -> Checked:
    """Check a log, with a bar on the terminal where it is long. Raises KeyError where there is no
    such `version` to explain."""
    with bar("Checking", len(log.entries)) as told:
        report = verify(log, receipts, keys, told)
    if version is None:
        return Checked(report)
    return Checked(report, explain(log.header.id, log.entries, version))


@contextmanager
def bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """To be told how far some work is: shows it where there is much of it and somebody watches."""
    console = Console(stderr=True)
    if total < _LONG or not console.is_terminal:
        yield lambda _: None
        return
    with Progress(console=console, transient=True) as shown:
        task = shown.add_task(what, total=total)
        yield lambda done: shown.update(task, completed=done)


def as_json(checked: Checked) -> str:
    """The report for programs."""
    body: dict[str, Any] = msgspec.to_builtins(checked.report)
    body["failed"] = checked.report.failed
    if checked.explanation is not None:
        body["explanation"] = msgspec.to_builtins(checked.explanation)
    return json.dumps(body)


def tell(checked: Checked, out: Console) -> None:
    """The report for people: a line for each finding, and what they come to."""
    report = checked.report
    out.print(f"Game {escape(report.game)}, {report.versions} events")
    table = Table(box=None, pad_edge=False)
    for name in ("check", "", "versions", "what was found"):
        table.add_column(name, overflow="fold", no_wrap=name in ("check", ""))
    for found in report.checks:
        versions = _versions(found)
        table.add_row(escape(found.check), _MARKS[found.status], versions, escape(found.detail))
    out.print(table)
    counts = {status: 0 for status in _MARKS}
    for found in report.checks:
        counts[found.status] += 1
    out.print(
        f"{counts['passed']} passed, {counts['failed']} failed, "
        f"{counts['not_yet_possible']} not yet possible"
    )
    if checked.explanation is not None:
        out.print(f"\n{escape(checked.explanation.text)}", soft_wrap=True)


def _versions(found: Check) -> str:
    """Versions in short: the ends of a range, or the first few of many."""
    versions = found.versions
    if len(versions) == 2:
        return f"{versions[0]}-{versions[1]}"
    listed = ", ".join(map(str, versions[:_LISTED]))
    return f"{listed}, ..." if len(versions) > _LISTED else listed


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}") from None


def _one_value(raw: bytes) -> bool:
    try:
        msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return False
    return True


def _lines(raw: bytes) -> list[Any]:
    return [msgspec.json.decode(line) for line in raw.splitlines() if line.strip()]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _receipt(value: Any) -> Receipt:
    if isinstance(value, dict) and "receipt" in value:
        value = value["receipt"]
    return msgspec.convert(value, Receipt)
