"""Results of one system as records that other collections take: Every Eval Ever, and the Hub's `.eval_results`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from mirage.errors import UnknownName
from mirage.publish.hub import system_metrics
from mirage.stages.features import FEATURES
from mirage.store import Arena

SCHEMA = "0.2.2"
"""Schema version of Every Eval Ever, the latest in November 2026."""
_RATES = ("hallucination_rate", "error_rate")
_RATING = "bradley_terry_rating"
_UNITS = {"hallucination_rate": "proportion", "error_rate": "proportion", _RATING: "logits"}


def every_eval_ever(
    arena: Arena,
    system: str,
    *,
    organization: str,
    at: int,
    version: str,
    dataset: str | None = None,
    model_id: str | None = None,
    languages: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the results of one system as a record of Every Eval Ever, with a result for each metric and language.

    Args:
        arena: with at least one of the tables outcomes, features, ratings.
        system: the system.
        organization: who evaluated.
        at: seconds since 1970, the record's own time.
        version: version of this package.
        dataset: the dataset's name on the Hub; null for the arena's title as another source.
        model_id: the model, `developer/name`; null for the system's name.
        languages: codes, and `all`; None for every one.

    Raises:
        UnknownName: if there is no such system.
        NotEnoughData: if it has no measurements.
    """
    name = dataset or arena.title
    source = {"dataset_name": name, "source_type": "hf_dataset", "hf_repo": dataset} if dataset else None
    source = source or {"dataset_name": name, "source_type": "other"}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{name}/{model_id or system}/{at}",
        "retrieved_timestamp": str(at),
        "source_metadata": {
            "source_name": arena.title,
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "third_party",
            "additional_details": {"arena_version": str(arena.version)},
        },
        "eval_library": {"name": "mirage", "version": version},
        "model_info": {"name": system, "id": model_id or system},
        "evaluation_results": [
            {"evaluation_result_id": f"{metric['type']}/{metric['language']}/{place}"} | _result(metric, name, source)
            for place, metric in enumerate(system_metrics(arena, system, languages))
        ],
    }


def _result(metric: Mapping[str, Any], name: str, source: Mapping[str, Any]) -> dict[str, Any]:
    """Return one metric in one language with its interval; the interval is left out if an end is unbounded."""
    args: Mapping[str, Any] = metric["args"]
    details = {key: str(value) for key, value in args.items() if key not in ("low", "high", "n", "confidence")}
    uncertainty: dict[str, Any] = {"num_samples": int(args["n"])}
    if args["low"] is not None and args["high"] is not None:
        uncertainty["confidence_interval"] = {
            "lower": args["low"],
            "upper": args["high"],
            "confidence_level": args["confidence"],
        }
    return {
        "evaluation_name": f"{name} ({metric['language']})",
        "source_data": dict(source),
        "metric_config": _config(metric["type"], metric["name"], details),
        "score_details": {"score": metric["value"], "uncertainty": uncertainty},
    }


def _config(kind: str, title: str, details: Mapping[str, str]) -> dict[str, Any]:
    spec = FEATURES.get(kind)
    low, high = (0, 1) if kind in _RATES else (None, None) if spec is None else (spec.low, spec.high)
    config: dict[str, Any] = {
        "evaluation_description": title,
        "metric_id": f"mirage.{kind}",
        "metric_name": kind,
        "lower_is_better": kind in _RATES or (spec is not None and spec.direction == "lower"),
    }
    if unit := _UNITS.get(kind) or (spec.unit if spec is not None else ""):
        config["metric_unit"] = unit
    if low is not None and high is not None:
        config |= {"score_type": "continuous", "min_score": low, "max_score": high}
    return config | ({"additional_details": dict(details)} if details else {})


def eval_results(
    arena: Arena, system: str, metric: str, *, dataset: str, on: date, languages: Sequence[str] | None = None
) -> str:
    """Return one metric of a system as a file for `.eval_results/` of a model's repository on the Hub, as YAML.

    Each language is a task of the dataset; the notes have the interval and n.

    Args:
        arena: with the metric.
        system: the system.
        metric: `hallucination_rate`, `error_rate`, `bradley_terry_rating` or the name of a feature.
        dataset: the benchmark's name on the Hub, `owner/name`.
        on: date of the evaluation.
        languages: codes, and `all`; None for every one.

    Raises:
        UnknownName: if there is no such system, or it has no such metric.
        NotEnoughData: if it has no measurements.
    """
    import yaml  # type: ignore[import-untyped]

    metrics = system_metrics(arena, system, languages)
    chosen = [entry for entry in metrics if entry["type"] == metric]
    if not chosen:
        raise UnknownName("metric", metric, {entry["type"] for entry in metrics}, where=arena.address)
    entries = [
        {
            "dataset": {"id": dataset, "task_id": entry["language"]},
            "value": entry["value"],
            "date": on.isoformat(),
            "notes": entry["name"],
        }
        for entry in chosen
    ]
    return str(yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=1000))
