"""A report on a clustering: one HTML file that needs nothing else, not even a network."""

from icvi_artmap.report.writing import write_report

__all__ = ["write_report"]
