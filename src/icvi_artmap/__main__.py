"""``python -m icvi_artmap`` is the command ``icvi-artmap``."""

from icvi_artmap.cli import main

main()
