"""iCVI-ARTMAP: clustering in which a cluster validity index decides every step."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from icvi_artmap._support.version import __version__ as __version__

if TYPE_CHECKING:
    from icvi_artmap.estimators.art_family import DualVigilanceFuzzyART, FuzzyART, FuzzyARTMAP
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.estimators.vigilance_search.search import ICVIARTMAPSearch
    from icvi_artmap.indices.custom import custom_index
    from icvi_artmap.inspection.explain import Explanation, explain
    from icvi_artmap.persistence.file_format import ModelFileError
    from icvi_artmap.persistence.save_load import load, save
    from icvi_artmap.plotting.category import CategoryDisplay
    from icvi_artmap.plotting.index_trace import IndexTraceDisplay
    from icvi_artmap.plotting.joins import JoinsDisplay
    from icvi_artmap.plotting.map_field import MapFieldDisplay
    from icvi_artmap.plotting.partition import PartitionDisplay
    from icvi_artmap.plotting.profile import ProfileDisplay
    from icvi_artmap.plotting.search import SearchDisplay
    from icvi_artmap.plotting.selection import SelectionDisplay
    from icvi_artmap.plotting.vat import VATDisplay
    from icvi_artmap.prediction.index_value import index_value
    from icvi_artmap.report.writing import write_report
    from icvi_artmap.tables import Table, read_table, write_table
    from icvi_artmap.tendency.vat import ivat, vat

#: Public names and where they live; imported when first asked for (PEP 562).
_HOMES = {
    "CategoryDisplay": "icvi_artmap.plotting.category",
    "DualVigilanceFuzzyART": "icvi_artmap.estimators.art_family",
    "Explanation": "icvi_artmap.inspection.explain",
    "FuzzyART": "icvi_artmap.estimators.art_family",
    "FuzzyARTMAP": "icvi_artmap.estimators.art_family",
    "ICVIARTMAP": "icvi_artmap.estimators.icvi_artmap",
    "ICVIARTMAPSearch": "icvi_artmap.estimators.vigilance_search.search",
    "IndexTraceDisplay": "icvi_artmap.plotting.index_trace",
    "JoinsDisplay": "icvi_artmap.plotting.joins",
    "MapFieldDisplay": "icvi_artmap.plotting.map_field",
    "ModelFileError": "icvi_artmap.persistence.file_format",
    "PartitionDisplay": "icvi_artmap.plotting.partition",
    "ProfileDisplay": "icvi_artmap.plotting.profile",
    "SearchDisplay": "icvi_artmap.plotting.search",
    "SelectionDisplay": "icvi_artmap.plotting.selection",
    "Table": "icvi_artmap.tables",
    "VATDisplay": "icvi_artmap.plotting.vat",
    "custom_index": "icvi_artmap.indices.custom",
    "explain": "icvi_artmap.inspection.explain",
    "index_value": "icvi_artmap.prediction.index_value",
    "ivat": "icvi_artmap.tendency.vat",
    "load": "icvi_artmap.persistence.save_load",
    "read_table": "icvi_artmap.tables",
    "save": "icvi_artmap.persistence.save_load",
    "vat": "icvi_artmap.tendency.vat",
    "write_report": "icvi_artmap.report",
    "write_table": "icvi_artmap.tables",
}

#: Public names that have public names of their own.
_SUBPACKAGES = ("datasets", "deep", "distributed", "metrics", "streaming")

__all__ = [
    "ICVIARTMAP",
    "CategoryDisplay",
    "DualVigilanceFuzzyART",
    "Explanation",
    "FuzzyART",
    "FuzzyARTMAP",
    "ICVIARTMAPSearch",
    "IndexTraceDisplay",
    "JoinsDisplay",
    "MapFieldDisplay",
    "ModelFileError",
    "PartitionDisplay",
    "ProfileDisplay",
    "SearchDisplay",
    "SelectionDisplay",
    "Table",
    "VATDisplay",
    "custom_index",
    "explain",
    "index_value",
    "ivat",
    "load",
    "read_table",
    "save",
    "vat",
    "write_report",
    "write_table",
]


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return import_module(f"icvi_artmap.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBPACKAGES, "__version__"])
