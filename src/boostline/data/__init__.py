"""Data for multi-label ranking: files, named data sets and streams.

Reads ARFF, svmlight, CSV, Parquet and JSON lines. You say which columns are labels.
"""

from boostline.data.dataset import Block, Dataset, DatasetSummary
from boostline.data.errors import DataError, DownloadError
from boostline.data.loading import load
from boostline.data.named_sets import available, cache_folder
from boostline.data.streaming import Stream, stream
from boostline.data.unseen import Unseen

__all__ = [
    "Block",
    "DataError",
    "Dataset",
    "DatasetSummary",
    "DownloadError",
    "Stream",
    "Unseen",
    "available",
    "cache_folder",
    "load",
    "stream",
]
