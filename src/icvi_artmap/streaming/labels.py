"""Labels as JSON can hold them, and back."""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Integral, Real
from typing import Any

import numpy as np

from icvi_artmap._support.wording import shown


def written_label(label: Hashable) -> Any:
    """A label as a plain value; a tuple as a list, which no label can be."""
    if label is None or isinstance(label, (str, bool)):
        return label
    if isinstance(label, np.bool_):
        return bool(label)
    if isinstance(label, Integral):
        return int(label)
    if isinstance(label, Real):
        return float(label)
    if isinstance(label, tuple):
        return [written_label(part) for part in label]
    raise TypeError(
        f"The label {shown(label)} of type {type(label).__name__} cannot be written: use strings, "
        "numbers, truth values or tuples of these."
    )


def readable_label(written: Any) -> Hashable:
    """The label that :func:`written_label` has written."""
    if isinstance(written, list):
        return tuple(readable_label(part) for part in written)
    if written is None or isinstance(written, (str, int, float)):
        return written
    raise ValueError(f"{shown(written)} is not a label that a monitor has written.")
