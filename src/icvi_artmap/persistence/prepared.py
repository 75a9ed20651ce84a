"""What was done to rows before they were clustered, to a file and back.

Numbers are plain arrays; the values of categories and words are in the header.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.persistence.file_format import Arrays, ContentError, Header, shortened
from icvi_artmap.preparation.columns import MOST_VALUES, Values
from icvi_artmap.preparation.fills import REFERENCES, Fills
from icvi_artmap.preparation.mixed import Mixed
from icvi_artmap.preparation.preparation import InUnits, Preparation
from icvi_artmap.preparation.transforms import MOST_POWER, POWER, TRANSFORMS, Transform
from icvi_artmap.training.run import Joined

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.persistence.contents import Contents

#: Letters of a caution at most, and how many there may be.
LONGEST_CAUTION, MOST_CAUTIONS = 1_000, 10_000
#: Standardised numbers and roots of shares: their squares must not overflow.
LARGEST = 1e100


class Told(NamedTuple):
    """What a file tells of preparation."""

    n_features: int  #: columns of the data; 0 if rows are not prepared
    preparation: Preparation | None
    in_units: InUnits | None
    trained: NDArray[np.bool_] | None
    cautions: tuple[str, ...]


def written(model: ICVIARTMAP) -> tuple[Header, Arrays]:
    """Entries of the header and arrays."""
    header: Header = {}
    if model.cautions_:
        header["cautions"] = list(model.cautions_)
    made, fitted = model.preparation_, model.fitted_
    if made is None:
        return header, {}
    assert fitted.in_units is not None
    header["preparation"] = {
        "values": [None if one is None else list(one) for one in made.values],
        "drop": made.drop,
        "chosen": made.chosen,
    }
    arrays: Arrays = {}
    parts = {
        "fills": made.fills,
        "transform": made.transform,
        "mixed": made.mixed,
        "in_units": fitted.in_units,
    }
    for group, values in parts.items():
        if values is not None:
            arrays |= {f"{group}.{name}": array for name, array in values._asdict().items()}
    if fitted.trained is not None:
        arrays["trained"] = fitted.trained
    if hasattr(model, "components_"):
        arrays["components.means"] = model.components_.means
        arrays["components.covariances"] = model.components_.covariances
    return header, arrays


def take(
    fitted: Header, contents: Contents, d: int, k: int, n_categories: int, labels: NDArray[Any]
) -> Told:
    """What is in the file, checked. ``d``: features that were clustered."""
    cautions = _take_cautions(fitted)
    header = fitted.get("preparation")
    if header is None:
        if (labels < -1).any():
            raise ContentError("'labels' has rows that were left out, but nothing leaves rows out")
        return Told(0, None, None, None, cautions)
    if not isinstance(header, dict) or set(header) != {"values", "drop", "chosen"}:
        raise ContentError(f"its preparation is {shortened(header)}")
    if type(header["drop"]) is not bool or header["chosen"] not in TRANSFORMS:
        raise ContentError(f"its preparation is {shortened(header)}")
    values = _take_values(header["values"])
    width = len(values)
    made = Preparation(
        values,
        _take_fills(contents, width) if "fills.value" in contents else None,
        header["drop"],
        _take_transform(contents, width) if "transform.kind" in contents else None,
        header["chosen"],
    )
    n_described = int(np.maximum(made.n_values, 1).sum())
    if "mixed.axes" in contents:
        mixed = _take_mixed(contents, d, n_described)
        made = Preparation(values, made.fills, made.drop, made.transform, made.chosen, mixed)
    _check_whole(made, d)
    told = InUnits(
        contents.take("in_units.mean", np.float64, k, n_described),
        contents.take("in_units.deviation", np.float64, k, n_described),
        contents.take("in_units.lower", np.float64, n_categories, width),
        contents.take("in_units.upper", np.float64, n_categories, width),
    )
    if (told.deviation < 0.0).any() or (told.lower > told.upper).any():
        raise ContentError("'in_units' has a negative deviation, or bounds that are none")
    trained = None
    if "trained" in contents:
        trained = contents.take("trained", np.bool_, len(labels))
        if not trained.any():
            raise ContentError("'trained' has no row")
    return Told(width, made, told, trained, cautions)


def take_components(
    contents: Contents, told: Told, joined: Joined | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Means and covariances of components in the units of the data, if rows are prepared."""
    if joined is None or not told.n_features:
        return None
    count, width = len(joined.clusters), told.n_features
    return (
        contents.take("components.means", np.float64, count, width),
        contents.take("components.covariances", np.float64, count, width, width),
    )


def _take_cautions(fitted: Header) -> tuple[str, ...]:
    found = fitted.get("cautions", [])
    if not isinstance(found, list) or len(found) > MOST_CAUTIONS:
        raise ContentError(f"its cautions are {shortened(found)}")
    for one in found:
        if not isinstance(one, str) or len(one) > LONGEST_CAUTION:
            raise ContentError(f"one of its cautions is {shortened(one)}")
    return tuple(found)


def _take_values(stored: Any) -> Values:
    if not isinstance(stored, list) or not stored:
        raise ContentError(f"its values of categories are {shortened(stored)}")
    return tuple(None if one is None else _take_category(one) for one in stored)


def _take_category(one: Any) -> tuple[str, ...] | tuple[float, ...]:
    """Values in their order: texts, or numbers."""
    if isinstance(one, list) and 0 < len(one) <= MOST_VALUES:
        words = all(type(value) is str for value in one)
        plain = all(type(value) in (int, float) and math.isfinite(value) for value in one)
        if (words or plain) and all(a < b for a, b in pairwise(one)):
            return tuple(one) if words else tuple(float(value) for value in one)
    raise ContentError(f"the values of a category are {shortened(one)}")


def _take_fills(contents: Contents, width: int) -> Fills:
    value = contents.take("fills.value", np.float64, width)
    scale = contents.take("fills.scale", np.float64, width)
    reference = contents.take_any("fills.reference", np.float64, width)
    known = contents.take_any("fills.known", np.bool_, width)
    if len(reference) > REFERENCES or reference.shape != known.shape or not (scale > 0.0).all():
        raise ContentError("its fills do not fit together")
    return Fills(value, scale, reference, known)


def _take_transform(contents: Contents, width: int) -> Transform:
    found = Transform(
        contents.take("transform.kind", np.int64, width),
        contents.take("transform.centre", np.float64, width),
        contents.take("transform.width", np.float64, width),
        contents.take("transform.power", np.float64, width),
    )
    if found.kind.min() < 0 or found.kind.max() > POWER or not (found.width > 0.0).all():
        raise ContentError("'transform.kind' or 'transform.width' has impossible values")
    if np.abs(found.power).max() > MOST_POWER:
        raise ContentError(f"'transform.power' has values beyond {MOST_POWER:g}")
    return found


def _take_mixed(contents: Contents, d: int, n_described: int) -> Mixed:
    found = Mixed(
        contents.take("mixed.mean", np.float64, n_described),
        contents.take("mixed.scale", np.float64, n_described),
        contents.take("mixed.axes", np.float64, d, n_described),
    )
    if not (found.scale > 0.0).all() or np.abs(found.axes).max() > LARGEST:
        raise ContentError("'mixed.scale' or 'mixed.axes' has impossible values")
    return found


def _check_whole(made: Preparation, d: int) -> None:
    """Columns of the data and features that were clustered fit together."""
    categories = bool(made.n_values.any())
    if (categories and made.mixed is None) or (made.mixed is None and len(made.values) != d):
        raise ContentError("its preparation does not lead to the features that were clustered")
    if made.drop and made.fills is None:
        raise ContentError("its preparation leaves out rows, but has no fills")
