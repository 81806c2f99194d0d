"""The projections' statements, read from `sql/` by name. Holds no SQL of its own."""

from collections.abc import Mapping
from importlib.resources import files
from typing import LiteralString, cast

from eventstore.queries import named


def statements(file: str) -> Mapping[str, LiteralString]:
    """The statements of `sql/{file}.sql`, each headed by `-- name --`."""
    text = files("projections").joinpath(f"sql/{file}.sql").read_text("utf-8")
    return cast(Mapping[str, LiteralString], named(text))
