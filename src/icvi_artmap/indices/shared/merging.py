"""What may be merged, where clusters have names."""

from __future__ import annotations

from collections.abc import Collection, Hashable


def check_merge(clusters: Collection[Hashable], a: Hashable, b: Hashable) -> None:
    """Refuse clusters without samples, and one twice."""
    for label in (a, b):
        if label not in clusters:
            raise ValueError(f"No cluster {label!r} has samples.")
    if a == b:
        raise ValueError(f"Cluster {a!r} cannot be merged with itself.")
