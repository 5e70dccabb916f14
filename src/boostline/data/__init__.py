"""Data for multi-label ranking: files, named sets and streams.

Readers turn MULAN arff, multi-label svmlight, csv, parquet and JSON lines into one `Dataset`. Which
columns are labels is what the xml or the caller names, never a guess.
"""

from . import synthetic
from .dataset import Block, Dataset, Description
from .errors import DataError, DownloadError
from .loading import load
from .registry import available, cache_folder
from .streaming import Stream, stream

__all__ = [
    "Block",
    "DataError",
    "Dataset",
    "Description",
    "DownloadError",
    "Stream",
    "available",
    "cache_folder",
    "load",
    "stream",
    "synthetic",
]
