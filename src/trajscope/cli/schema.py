"""`trajscope schema`: what can be asked of a store."""

from __future__ import annotations

import click

from trajscope.cli._io import db_option, json_option, print_json, snapshot_option
from trajscope.cli.app import COMMANDS


@click.command("schema", short_help=COMMANDS["schema"])
@click.argument("names", nargs=-1, metavar="[TABLE]...")
@db_option
@snapshot_option
@json_option
def COMMAND(names: tuple[str, ...], db: str | None, as_json: bool) -> None:  # noqa: N802
    """Describe the tables and views of the store, with their columns and what they mean.

    Without --db the schema of a new store is described.
    """
    import msgspec

    from trajscope.errors import UsageError
    from trajscope.store import Store

    with Store.open(db, read_only=db is not None) as store:
        relations = store.schema()
    known = {r.name for r in relations}
    for name in names:
        if name not in known:
            raise UsageError(
                f"no table or view {name!r}; expected one of {', '.join(sorted(known))}"
            )
    chosen = [r for r in relations if not names or r.name in names]
    if as_json:
        print_json(msgspec.to_builtins(chosen))
        return
    for relation in chosen:
        click.echo(f"{relation.name} ({relation.kind}): {relation.comment or ''}")
        for column in relation.columns:
            click.echo(f"  {column.name:<24} {column.type:<12} {column.comment or ''}")
        click.echo()
