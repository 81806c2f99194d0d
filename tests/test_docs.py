"""The documents name what the code has."""

from pathlib import Path

import msgspec
import pytest

from domain.codec import EVENT_TYPES
from domain.events import layout

LOG = (Path(__file__).parents[1] / "docs" / "log.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", EVENT_TYPES)
def test_the_log_page_lists_every_event_type_with_its_public_fields(name: str) -> None:
    [row] = [line for line in LOG.splitlines() if line.startswith(f"| `{name}` |")]
    kind = EVENT_TYPES[name]
    sealed = {field.name for field in layout(kind).sealed}
    for field in msgspec.structs.fields(kind):
        if field.name not in sealed:
            assert f"`{field.name}`" in row, field.name


@pytest.mark.parametrize("name", EVENT_TYPES)
def test_the_log_page_lists_what_is_sealed(name: str) -> None:
    [row] = [line for line in LOG.splitlines() if line.startswith(f"| `{name}` |")]
    cell = row.rstrip(" |").split("|")[-1] if not row.endswith("| |") else ""
    for field in layout(EVENT_TYPES[name]).sealed:
        for key in msgspec.structs.fields(field.part):
            assert key.encode_name in cell, key.name
