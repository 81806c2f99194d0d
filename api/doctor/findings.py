"""What a check-up finds, and how it is told. Looks at nothing itself."""

from collections.abc import Iterable
from typing import Literal

import msgspec

State = Literal["ok", "warn", "fail"]


class Setting(msgspec.Struct, frozen=True):
    """A setting as it is in force; of a secret only that it is there."""

    name: str
    value: str
    source: str
    """`environment`, `default`, or the file that it comes from."""


class Finding(msgspec.Struct, frozen=True):
    """One check: `advice` is empty where all is well."""

    check: str
    state: State
    found: str
    advice: str = ""


class Checkup(msgspec.Struct, frozen=True):
    """All of it."""

    state: State
    settings: tuple[Setting, ...]
    findings: tuple[Finding, ...]


def ok(check: str, found: str) -> Finding:
    """All is well."""
    return Finding(check, "ok", found)


def warn(check: str, found: str, advice: str) -> Finding:
    """It serves, but not as it should."""
    return Finding(check, "warn", found, advice)


def fail(check: str, found: str, advice: str) -> Finding:
    """It cannot serve, or may lose what it has acknowledged."""
    return Finding(check, "fail", found, advice)


def worst(findings: Iterable[Finding]) -> State:
    """The state of the whole."""
    states = {finding.state for finding in findings}
    return "fail" if "fail" in states else "warn" if "warn" in states else "ok"
