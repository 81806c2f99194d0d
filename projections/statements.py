"""Named statements, read from a package's `sql/`. Holds no SQL of its own."""

from collections.abc import Mapping
from importlib.resources import files
from typing import LiteralString, cast

from eventstore.queries import named


def statements(file: str, package: str = "projections") -> Mapping[str, LiteralString]:
    """The statements of a package's `sql/{file}.sql`, each headed by `-- name --`."""
    text = files(package).joinpath(f"sql/{file}.sql").read_text("utf-8")
    return cast(Mapping[str, LiteralString], named(text))
