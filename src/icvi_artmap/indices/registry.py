"""The built-in indices by name."""

from __future__ import annotations

from icvi_artmap.indices import ch, db, ni, pbm, wb, xb
from icvi_artmap.indices.base import Index

INDICES: dict[str, Index] = {
    module.INDEX.name: module.INDEX for module in (ni, ch, wb, xb, db, pbm)
}


def get_index(index: str | Index) -> Index:
    """An index by its name, in capitals or not; an index object is returned as it is."""
    if isinstance(index, Index):
        return index
    if not isinstance(index, str):
        raise TypeError(
            f"index must be a name or an index object, got {type(index).__name__}. "
            f"Known names: {', '.join(INDICES)}."
        )
    found = INDICES.get(index.upper())
    if found is None:
        raise ValueError(
            f"Unknown index {index!r}. Known names: {', '.join(INDICES)}; for an index of your own "
            "pass the object that icvi_artmap.custom_index returns."
        )
    return found
