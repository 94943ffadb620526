"""The results of MIRAGE-Bench on any arena: Tables 2 to 5, Figures 3 to 6, and the effect of our corrections.

    reproduction = reproduce(arena, Judge.single("gpt-4o"))  # Reproduction: items, what is missing, and the settings
    write_reproduction(reproduction, folder, html=page)     # one CSV per item, one JSON with all, and the page

`material.py` joins battles, features and tournaments; `tables.py`, `figures.py` and `corrections.py` make the items.
Published figures are in columns that begin with `published`, if the paper prints one for the same language.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mirage import store
from mirage.battles.judge import Judge
from mirage.papers.corrections import corrections
from mirage.papers.figures import figure3, figure4, figure5, figure6
from mirage.papers.material import Fits, Material, PaperSettings, default_judge, gather_material
from mirage.papers.tables import PaperItem, table2, table3, table4, table5
from mirage.ranking import paper
from mirage.stages.stage import Progress
from mirage.store.cores import on_cores

__all__ = [
    "PaperItem",
    "PaperSettings",
    "Reproduction",
    "default_judge",
    "reproduce",
    "write_reproduction",
]

_ITEMS: tuple[Callable[[Material], PaperItem], ...] = (
    *(table2, table3, table4, table5),
    *(figure3, figure4, figure5, figure6, corrections),
)


@dataclass(frozen=True)
class Reproduction:
    """All reproduced items, with the settings."""

    about: Mapping[str, Any]
    """Arena, version, judge, languages, systems, features, held-out systems, seed and numbers of draws."""
    items: tuple[PaperItem, ...]
    """Tables, figures and corrections, in the order of the paper."""
    missing: Mapping[str, str]
    """Items the arena cannot give, with the reason."""

    def item(self, name: str) -> PaperItem:
        """Return the item with a name."""
        (result,) = (item for item in self.items if item.name == name)
        return result

    def json(self) -> str:
        """Return the reproduction as JSON."""
        whole = {"about": self.about, "missing": self.missing, "items": [asdict(item) for item in self.items]}
        return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def reproduce(
    arena: store.Arena,
    judge: Judge,
    settings: PaperSettings = PaperSettings(),  # noqa: B008  # frozen
    *,
    progress: Progress | None = None,
    processes: int = 1,
) -> Reproduction:
    """Reproduce every table and figure of the paper's results from an arena.

    Args:
        arena: with features, and outcomes (judge by relevance labels) or judgments.
        judge: relevance labels, or a judge.
        settings: the extent.
        progress: called with the percentage done, summed over the items, and its maximum.
        processes: number of processes that fit regressors.

    Raises:
        TableMissing: if the arena lacks features or verdicts.
        NotEnoughData: if no language has five systems with features and bounded ratings.
        BadInput: if the number of held-out systems is not two.
    """
    items: list[PaperItem] = []
    done = 0

    def tell(count: int, total: int) -> None:
        if progress:
            progress(100 * done + 100 * count // total, 100 * (len(_ITEMS) + 1))

    with on_cores(processes) as apply:
        material = gather_material(arena, judge, settings, progress=tell, fits=Fits(apply, tell))
        for done, make in enumerate(_ITEMS, start=1):  # noqa: B007  # read by `tell`
            tell(0, 1)
            items.append(make(material))
    done += 1
    tell(0, 1)
    systems = sorted({s for code in material.battles for s in material.systems(code)})
    about = {
        "arena": arena.name,
        "title": arena.title,
        "numbers": arena.label,
        "version": arena.version,
        "judge": judge.name,
        "languages": list(material.battles),
        "systems": systems,
        "features": list(material.features),
        "held out": list(material.holdout),
        "held out, why": material.chosen,
        "queries": {code: len(battles.queries) for code, battles in material.battles.items()},
        "tournaments": settings.draws,
        "tournaments with a forest": material.settings.forest_draws,
        "random splits of the systems": settings.splits,
        "drawn queries of a tournament": paper.MATCHES,
        "seed": settings.seed,
    }
    return Reproduction(about, tuple(items), dict(material.missing))


def write_reproduction(reproduction: Reproduction, folder: Path, *, html: str) -> list[Path]:
    """Write one CSV per item, `reproduction.html` and, last, `reproduction.json`; each file atomically.

    Args:
        reproduction: the reproduction.
        folder: target directory, created if missing; files of these names are replaced.
        html: the page (`charts.reproduce.page`).

    Returns:
        The files.

    Raises:
        BadInput: if a file cannot be written.
    """
    files = {f"{item.name}.csv": _csv(item) for item in reproduction.items}
    files |= {"reproduction.html": html, "reproduction.json": reproduction.json()}
    for name, text in files.items():
        store.write_whole(folder / name, text.encode("utf-8"))
    return [folder / name for name in files]


def _csv(item: PaperItem) -> str:
    # As elsewhere: a null is an empty field, and a number has every digit.
    return store.csv_text(item.columns, ([_exact(row[name]) for name in item.columns] for row in item.rows))


def _exact(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
