"""A game's log as a file: header, events as the viewer may see them now, and a receipt."""

from collections.abc import Iterator

from api.games import History
from api.signing import Signer
from domain.export import FORMAT, Header, lines
from domain.log import event_view
from domain.visibility import Viewer


def export_lines(history: History, viewer: Viewer, signer: Signer | None) -> Iterator[bytes]:
    """The file for a viewer, line by line (contract, *The log*). Without a signer it has neither
    keys nor a receipt."""
    known = history.newest
    table, seat = known.table, viewer.seat
    header = Header(
        format=FORMAT,
        game=table.game.name,
        id=table.id,
        rules_version=table.rules_version,
        viewer={"role": viewer.role} if seat is None else {"role": viewer.role, "seat": seat},
        keys=() if signer is None else signer.keys,
    )
    views = (event_view(table.id, e, seat, table.openings) for e in history.entries)
    receipts = () if signer is None else (signer.newest(known),)
    return lines(header, views, receipts)


def file_name(history: History) -> str:
    """What the file is best called."""
    table = history.newest.table
    return f"fairdeal-{table.game.name}-{table.id}.ndjson"
