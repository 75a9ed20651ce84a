"""Pictures, one file for each kind; matplotlib is imported when the first one is drawn.

A display keeps numbers. Its ``from_...`` methods compute them, ``plot`` draws them and sets ``ax_``
and ``figure_``. The displays are imported from :mod:`icvi_artmap`.
"""
