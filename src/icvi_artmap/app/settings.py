"""What the page may ask for: settings of a fit, checked one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from icvi_artmap.indices.registry import NAMES

#: The words that a setting may be; the first is the default.
CHOICES = {
    "index": tuple(NAMES),
    "shape": ("gaussian", "any", "auto"),
    "missing": ("error", "drop", "mean", "median", "neighbours"),
    "transform_columns": ("clip", "none", "power", "auto"),
}
#: The largest number of clusters and the largest seed.
MOST_CLUSTERS, MOST_SEED = 10_000, 2**32 - 1


def checked_settings(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the estimator that were asked for, or their defaults."""
    settings: dict[str, Any] = {"n_clusters": _clusters(asked.get("n_clusters", "auto"))}
    for name, words in CHOICES.items():
        value = asked.get(name, words[0])
        if value not in words:
            raise ValueError(f"{name} must be one of {', '.join(words)}.")
        settings[name] = value
    settings["noise"] = bool(asked.get("noise", False))
    settings["random_state"] = _integer("The seed", asked.get("seed", 0), 0, MOST_SEED)
    return settings


def checked_columns(asked: Any) -> list[str]:
    """The names of the columns to use."""
    if not isinstance(asked, list) or not all(isinstance(name, str) for name in asked):
        raise ValueError("columns must be a list of names.")
    if not asked:
        raise ValueError("No column is switched on. Switch on at least one.")
    return asked


def _clusters(value: Any) -> Any:
    if value == "auto":
        return "auto"
    return _integer("The number of clusters", value, 2, MOST_CLUSTERS)


def _integer(what: str, value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{what} must be a whole number from {least} to {most:,}.")
    return value
