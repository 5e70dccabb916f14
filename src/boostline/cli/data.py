"""``boostline data``: the named sets, and what files are like."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from boostline.cli import options as o
from boostline.data.inputs import Input, load_data
from boostline.display.tables import Table
from boostline.display.terminal import note, print_json, print_table

_SourceArgument = Annotated[
    str, typer.Argument(help="A named data set, a file or a MULAN folder.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    data = typer.Typer(no_args_is_help=True, help="List, describe and fetch data sets.")
    data.command("list")(list_sets)
    data.command("describe")(describe)
    data.command("fetch")(fetch)
    app.add_typer(data, name="data")


def list_sets(json: o.JsonOption = False) -> None:
    """List the named data sets and where they are on this machine."""
    from boostline.data import available
    from boostline.data.named_sets import NAMED_SETS

    places = available()
    if json:
        print_json(
            [{"name": n, "title": NAMED_SETS[n].title, "place": p} for n, p in places.items()]
        )
        return
    rows = [[n, NAMED_SETS[n].title, p or "not here: data fetch"] for n, p in places.items()]
    print_table(Table(["name", "what", "place"], rows))


@o.spread("text", "separator")
def describe(
    source: _SourceArgument,
    given: Input,
    json: o.JsonOption = False,
) -> None:
    """Show the number of rows, features and labels, and how many labels a row has."""
    found = load_data(replace(given, source=source)).describe()
    if json:
        print_json(found.as_dict())
    else:
        typer.echo(str(found))


def fetch(
    names: Annotated[list[str], typer.Argument(help="Names of data sets.", show_default=False)],
    json: o.JsonOption = False,
) -> None:
    """Download named data sets into the cache folder, unless they are on this machine."""
    from boostline.data import available, load
    from boostline.data.named_sets import NAMED_SETS, unknown_name

    for name in names:
        if name not in NAMED_SETS:
            raise ValueError(unknown_name("set", name))
    for name in names:
        load(name)
        place = available()[name]
        if json:
            print_json({"name": name, "place": place})
        else:
            note(f"{name}: {place}")
