"""Model files, which are safe to load even from people you do not trust.

`model_files` has the rules, `container` the bytes (safetensors), `python_states` the states of learners written in
Python, `claims` and `limits` what a file may ask for, `atomic` how a file replaces another one.
"""

from boostline.saving.errors import LoadError, SaveError
from boostline.saving.model_files import FORMAT, load, load_with_extra, read_header, save

__all__ = [
    "FORMAT",
    "LoadError",
    "SaveError",
    "load",
    "load_with_extra",
    "read_header",
    "save",
]
