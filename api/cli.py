"""The command line: `fairdeal COMMAND`. Each command is a call into one function elsewhere.

Exit codes: 0 done, 1 it did not work (a message says why), 2 the command line was wrong.
"""

import json
from typing import Annotated

import typer

from api import cli_backups, cli_doctor, cli_projections, cli_proof
from api.complaints import complaints
from api.workers import Workers

app = typer.Typer(
    name="fairdeal",
    help="A card-game backend: provably fair deals, hidden cards that do not leak, "
    "a log that every player can verify.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(cli_proof.commands)
app.add_typer(cli_projections.commands)
app.add_typer(cli_doctor.commands)
app.add_typer(cli_backups.commands)


@app.callback()
def _commands() -> None:
    """Keeps the commands' names in the command line, however many there are."""


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Worker processes.")] = 1,
    show: Annotated[
        bool,
        typer.Option("--open", help="Open the table in a browser on this machine, as its host."),
    ] = False,
) -> None:
    """Serve the API; without FAIRDEAL_DATABASE_URL on a Postgres of its own."""
    with complaints(), Workers(host, port, workers) as found:
        # Loaded while the workers load what they need.
        from api import serving

        serving.serve(found, host, port, show=show)


@app.command()
def demo(
    game: Annotated[str, typer.Option(help="Which game: lodam, lorum or loc.")] = "lodam",
    players: Annotated[int | None, typer.Option(min=2, max=10, help="How many players.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="A rule option, NAME=VALUE; may be repeated.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Play the same game again: any whole number.")
    ] = None,
) -> None:
    """Play a whole game through HTTP, print it, and check its log offline."""
    from api import demo as play
    from domain.registry import GAMES

    if game not in GAMES:
        raise typer.BadParameter(f"{game} is not one of {', '.join(GAMES)}", param_hint="--game")
    rules = dict([_option(text) for text in option or ()])
    with complaints():
        if not play.run(play.Wish(game, players, rules, seed)):
            raise typer.Exit(1)


def _option(text: str) -> tuple[str, object]:
    """`NAME=VALUE`, the value read as JSON where it is JSON (`3`, `true`), else as text."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise typer.BadParameter(f"{text} is not NAME=VALUE", param_hint="--option")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


@app.command()
def migrate(
    app_role: Annotated[
        str | None,
        typer.Option(help="A role that `serve` is to run under: it gets what it needs, no more."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Report as JSON.")] = False,
) -> None:
    """Bring the database up to this version."""
    from api import serving

    with complaints():
        report = serving.migrate_database(app_role)
        if as_json:
            print(json.dumps({"applied": report.applied, "already": report.already}))
        else:
            done = ", ".join(report.applied) or "nothing to do"
            print(f"Migrated: {done} ({report.already} applied before).")


def main() -> None:
    """Carry out what the command line says."""
    app()
