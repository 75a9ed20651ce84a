"""The command line: one module per command, imported when it is called."""

from icvi_artmap.cli.app import main

__all__ = ["main"]
