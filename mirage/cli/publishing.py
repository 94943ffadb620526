"""Commands for boards on a static host: `mirage publish`, `verify`, `submit`, `accept`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mirage.cli.common import ArenaDir, How, app, existing_arena, local_path
from mirage.cli.output import note, show

FAULT = ("file", "row", "column", "printed", "recomputed")
"""Columns of the differences between a board and its sources."""
_WIDEST = 60
"""Maximum characters of a value in a printed table."""
KeyFile = Annotated[
    Path | None,
    typer.Option("--key", metavar="FILE", parser=local_path, help="Ed25519 private key that signs the board, PEM."),
]


@app.command()
def publish(
    dir_: ArenaDir,
    into: Annotated[Path, typer.Option("--into", metavar="SITE", parser=local_path, help="Folder of the site.")],
    key: KeyFile = None,
    new_key: Annotated[
        bool, typer.Option("--new-key", help="Create a key first and write it to the file of --key.")
    ] = False,
    texts: Annotated[
        bool | None, typer.Option("--texts/--no-texts", help="Publish texts; default: if their licences allow it.")
    ] = None,
    features: Annotated[bool, typer.Option("--features", help="Add measured features to the sources.")] = False,
    organization: Annotated[
        str, typer.Option(metavar="NAME", help="Evaluator named in the records; default the arena's title.")
    ] = "",
    dataset: Annotated[
        str, typer.Option(metavar="OWNER/NAME", help="Benchmark on the Hugging Face Hub, for .eval_results.")
    ] = "",
) -> None:
    """Publish an arena as a static site: pages, tables, sources and a chain of heads.

    Reads the tables of the arena; needs outcomes or judgments. Writes SITE: HTML that any host can serve and a browser
    can open from disk, the numbers as CSV and Parquet, the rows they are computed from, records of Every Eval Ever, a
    feed of changes. Publishing again into the same folder adds a head. Texts are published if every licence allows it.
    Signing needs the extra `publish`; keep the key outside the site. Next: mirage verify SITE.
    """
    from datetime import UTC, datetime

    from mirage import store
    from mirage.errors import BadInput
    from mirage.explorer.site.build import SiteSettings
    from mirage.explorer.site.publishing import publish as publish_site
    from mirage.publish.signing import new_private_key
    from mirage.store.boards import read_key, write_private_key

    if new_key and key is None:
        raise BadInput("--new-key needs a file for the key", do="add --key FILE")
    if key is not None and key.absolute().is_relative_to(into.absolute()):
        raise BadInput(f"the key {key} is inside the site", do="move it elsewhere: anyone who has it can sign")
    arena = store.open_arena(dir_)
    if new_key and key is not None:
        write_private_key(key, new_private_key())
        note(f"New key: {key}. Back it up: nothing can be added to this board without it.")
    done = publish_site(
        arena,
        into,
        at=datetime.now(UTC).replace(microsecond=0).isoformat(),
        private=None if key is None else read_key(key),
        texts=texts,
        settings=SiteSettings(organization, dataset, features),
    )
    for line in done.changes:
        note(line)
    sizes = ", ".join(f"{name} {size / 1e6:.2f} MB" for name, size in done.parts.items() if size)
    note(f"{into}: publication {done.head.number}, {done.files:,} files: {sizes}")
    note(f"Texts {'' if done.parts['texts'] else 'not '}published: {done.texts}")
    note(
        f"Head: {done.head.head}\n"
        f"Save it outside the site, to check later: mirage verify {into} --against {done.head.head}"
    )


@app.command()
def verify(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", parser=existing_arena, help="Folder of a site, or of an arena.")
    ],
    against: Annotated[
        str | None, typer.Option(metavar="HEAD", help="A head that you saved earlier; it must be in the chain.")
    ] = None,
    public_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=local_path, help="The board's public key (PEM), not from the site itself."),
    ] = None,
    sources: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", parser=existing_arena, help="Recompute from this arena instead of the site's sources."
        ),
    ] = None,
    output_format: How = "table",
) -> None:
    """Check a published board or an arena: recompute every number, and check hashes, chain and signatures.

    Reads every file. Names each published value that does not follow from the judgments, outcomes and answers in the
    site, with the file, the row and both values, and lists what could not be checked. For an arena: as `mirage check
    --recompute`. Exit codes: 0 if nothing differs, 1 if something does, 2 if it cannot be read. Writes
    nothing.
    """
    from mirage import store
    from mirage.errors import BadInput
    from mirage.explorer.site.verifying import verify_arena, verify_site
    from mirage.store.boards import read_key

    if store.is_arena(path):
        if against or public_key or sources:
            raise BadInput("an arena has no chain and no key", do="give the folder of a published site")
        report = verify_arena(store.open_arena(path))
    else:
        report = verify_site(
            path,
            against=against,
            public=None if public_key is None else read_key(public_key).decode("utf-8", "replace"),
            arena=None if sources is None else store.open_arena(sources),
        )
    for line in report.checked:
        note(f"checked: {line}")
    for line in report.unchecked:
        note(f"not checked: {line}")
    if report.faults:
        rows = [asdict(fault) for fault in report.faults]
        if output_format == "table":
            rows = [{name: _shorten(value) for name, value in row.items()} for row in rows]
        show(rows, FAULT, output_format)
        note(f"{path}: {len(report.faults):,} differences.")
        raise typer.Exit(1)
    note(f"{path}: nothing differs.")


def _shorten(value: str) -> str:
    return value if len(value) <= _WIDEST else f"{value[: _WIDEST - 1]}…"


@app.command()
def submit(
    dir_: ArenaDir,
    system: Annotated[str, typer.Option("--system", metavar="NAME", help="Name of the system.")],
    into: Annotated[Path, typer.Option("--into", metavar="FILE", parser=local_path, help="Output file, .jsonl.gz.")],
    sampling: Annotated[
        str, typer.Option(metavar="TEXT", help="How answers were sampled, and selected if several were drawn.")
    ],
    runs: Annotated[int, typer.Option(min=1, help="Runs of the system on these queries, including this one.")] = 1,
    withdrawn: Annotated[int, typer.Option(min=0, help="Number of the system's results that were withdrawn.")] = 0,
) -> None:
    """Write a system's results to one file, for the owner of a board.

    Reads the system's rows of answers, features and judgments. Writes FILE: the rows, a hash of the queries, versions
    and prompts, and what you disclose about sampling and runs. Next, by the board's owner: mirage accept DIR FILE.
    """
    from mirage import __version__, store
    from mirage.errors import BadInput
    from mirage.publish.submission import Disclosure, read_submission, write_submission

    if not into.name.endswith(".jsonl.gz"):
        raise BadInput(f"{into.name} has another extension", do="name the file .jsonl.gz")
    disclosed = Disclosure(sampling, runs, withdrawn)
    store.write_whole(into, write_submission(store.open_arena(dir_), system, disclosed, version=__version__))
    header = read_submission(into).header
    counts = ", ".join(f"{n:,} {table}" for table, n in header["rows"].items())
    note(f"{into}: {system}, {counts}, on {header['n_queries']:,} queries; SHA-256 {header['sha256']}")


@app.command()
def accept(
    dir_: ArenaDir,
    file: Annotated[Path, typer.Argument(metavar="FILE", parser=local_path, help="A file of `mirage submit`.")],
    again: Annotated[
        bool, typer.Option("--again", help="Accept another submission of a system that is already on the board.")
    ] = False,
) -> None:
    """Check a submission and add it to a board's arena, in one transaction.

    Reads FILE and the arena. Rejects a file that was changed, is on other queries, repeats rows of the board, or is
    from a system already on the board; --again adds that as NAME~2. Writes answers, features and judgments, and a note
    with what was disclosed; withdrawn runs stay listed there. Next: mirage run DIR, then mirage publish DIR.
    """
    from mirage.publish.submission import accept_submission, read_submission

    done = accept_submission(dir_, read_submission(file), again=again)
    counts = ", ".join(f"{n:,} {table}" for table, n in done.rows.items())
    note(f"{done.system} is on the board: {counts}; {done.unanswered:,} queries not answered. Next: mirage run {dir_}")
