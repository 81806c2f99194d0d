"""The store's statements, read from `sql/queries.sql` by name. Holds no SQL of its own."""

import re
from importlib.resources import files
from typing import Final

_NAME = re.compile(r"^-- ([a-z_]+) --$", re.MULTILINE)


def named(text: str) -> dict[str, str]:
    """Split a file of statements, each headed by `-- name --`; comment lines are left out.

    ValueError where a name comes twice or a statement is empty.
    """
    found: dict[str, str] = {}
    _, *pieces = _NAME.split(text)
    for name, piece in zip(pieces[::2], pieces[1::2], strict=True):
        lines = (line for line in piece.splitlines() if not line.startswith("--"))
        statement = "\n".join(lines).strip()
        if name in found or not statement:
            raise ValueError(f"statement {name!r} is empty or named twice")
        found[name] = statement
    return found


_STATEMENTS = {
    name: statement.encode()
    for name, statement in named(
        files("eventstore").joinpath("sql/queries.sql").read_text("utf-8")
    ).items()
}

append: Final = _STATEMENTS["append"]
append_erasing: Final = _STATEMENTS["append_erasing"]
lock: Final = _STATEMENTS["lock"]
answer: Final = _STATEMENTS["answer"]
answers: Final = _STATEMENTS["answers"]
head: Final = _STATEMENTS["head"]
versions: Final = _STATEMENTS["versions"]
notify: Final = _STATEMENTS["notify"]
load: Final = _STATEMENTS["load"]
find: Final = _STATEMENTS["find"]
due: Final = _STATEMENTS["due"]
wake: Final = _STATEMENTS["wake"]
count: Final = _STATEMENTS["count"]
streams: Final = _STATEMENTS["streams"]
headless: Final = _STATEMENTS["headless"]
erase: Final = _STATEMENTS["erase"]
ping: Final = _STATEMENTS["ping"]
sequence: Final = _STATEMENTS["sequence"]
feed: Final = _STATEMENTS["feed"]
tips: Final = _STATEMENTS["tips"]
place: Final = _STATEMENTS["place"]
entries: Final = _STATEMENTS["entries"]
strays: Final = _STATEMENTS["strays"]
