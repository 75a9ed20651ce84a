"""The built-in indices by name.

An index is its own file and its name here. The file is imported when the index is first asked for,
so that whoever only needs the names (help, completion) does not wait for the compiler.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from icvi_artmap._support.wording import shown

if TYPE_CHECKING:
    from icvi_artmap.indices.base import Index

#: Those of the paper's Table CVI_summary.
PAPER = ("NI", "CH", "WB", "XB", "DB", "PBM")
#: Index X is the constant INDEX of the module ``x`` beside this one.
NAMES = (*PAPER, "SIL", "PS", "GD43", "GD53", "rCIP", "rH")
#: Names are found whether they are written in capitals or not.
_IN_CAPITALS = {name.upper(): name for name in NAMES}


class _ByName(Mapping[str, "Index"]):
    """The indices, in the order of NAMES."""

    def __getitem__(self, name: str) -> Index:
        if name not in NAMES:
            raise KeyError(name)
        found: Index = import_module(f"icvi_artmap.indices.{name.lower()}").INDEX
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


INDICES: Mapping[str, Index] = _ByName()


def get_index(index: str | Index) -> Index:
    """An index by its name, in capitals or not; an index object is returned as it is."""
    from icvi_artmap.indices.base import Index

    if isinstance(index, Index):
        return index
    if not isinstance(index, str):
        raise TypeError(
            f"index must be a name or an index object, got {type(index).__name__}. "
            f"Known names: {', '.join(NAMES)}."
        )
    found = INDICES.get(_IN_CAPITALS.get(index.upper(), ""))
    if found is None:
        raise ValueError(
            f"Unknown index {shown(index)}. Known names: {', '.join(NAMES)}; for an index of your "
            "own pass the object that icvi_artmap.custom_index returns."
        )
    return found
