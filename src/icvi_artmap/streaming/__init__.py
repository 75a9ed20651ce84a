"""Cluster validity indices of streams: samples come, leave and move, and the index follows."""

from icvi_artmap.streaming.monitor import IncrementalIndex

__all__ = ["IncrementalIndex"]
