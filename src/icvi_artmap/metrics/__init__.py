"""Cluster validity indices for any clustering, with scikit-learn's signature ``(X, labels)``."""

from icvi_artmap.metrics.batch import (
    ch_index,
    conn_index,
    db_index,
    gd43_index,
    gd53_index,
    ni_index,
    pbm_index,
    pcaes_index,
    ps_index,
    rcip_index,
    rh_index,
    sil_index,
    wb_index,
    xb_index,
)

__all__ = [
    "ch_index",
    "conn_index",
    "db_index",
    "gd43_index",
    "gd53_index",
    "ni_index",
    "pbm_index",
    "pcaes_index",
    "ps_index",
    "rcip_index",
    "rh_index",
    "sil_index",
    "wb_index",
    "xb_index",
]
