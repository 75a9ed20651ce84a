"""Past one machine: statistics, fits and prediction on Dask arrays and dataframes."""

from icvi_artmap.distributed.estimator import DistributedICVIARTMAP
from icvi_artmap.distributed.predicting import predict, with_labels
from icvi_artmap.distributed.row_blocks import take_rows
from icvi_artmap.distributed.statistics import index_values, learn_scaling

__all__ = [
    "DistributedICVIARTMAP",
    "index_values",
    "learn_scaling",
    "predict",
    "take_rows",
    "with_labels",
]
