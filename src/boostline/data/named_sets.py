"""The named sets: what they are, where they are searched, and their public address.

Looked for in turn: the folder that ``BOOSTLINE_DATA`` names, the per-user cache, river's wheel
(yeast only), the public home. Folder and cache hold ``<name>/<name>-train.arff``, ``-test.arff``
(or .gz) and ``<name>/<name>.xml``.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

from boostline.contract.frames import near_name
from boostline.data.dataset import Dataset
from boostline.data.download import RemoteFile, fetch
from boostline.data.errors import DownloadError

_TITLES = {
    "emotions": "music, 6 emotions (Trohidis et al. 2008)",
    "scene": "photographs, 6 kinds of scenery (Boutell et al. 2004)",
    "yeast": "genes, 14 functional classes (Elisseeff and Weston 2001)",
    "mediamill": "video, 101 concepts (Snoek et al. 2006)",
    "m-reduced": "2,000 rows of mediamill (Jung and Tewari 2018)",
    "enron": "e-mail, 53 labels, sparse (Klimt and Yang 2004)",
    "bibtex": "bibliography, 159 tags, sparse (Katakis et al. 2008)",
    "delicious": "bookmarks, 983 tags, sparse (Tsoumakas et al. 2008)",
}


@dataclass(frozen=True)
class NamedSet:
    """A data set of the registry: its train, test and xml file."""

    name: str
    title: str
    files: list[RemoteFile]


def _registry() -> dict[str, NamedSet]:
    sets = {name: NamedSet(name, title, []) for name, title in _TITLES.items()}
    with open(Path(__file__).with_name("named_sets.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            name, is_text = row["file"], row["file"].endswith(".xml")
            remote = RemoteFile(name, row["url"], row["sha256"], int(row["size"]), is_text)
            sets[row["set"]].files.append(remote)
    return sets


NAMED_SETS = _registry()


def available() -> dict[str, str | None]:
    """Return the named data sets, each with its place on this machine, or None.

    Returns
    -------
    dict
        ``{name: folder, "river" or None}``; `load` would download those with None.

    Examples
    --------
    >>> from boostline.data import available
    >>> list(available())
    ['emotions', 'scene', 'yeast', 'mediamill', 'm-reduced', 'enron', 'bibtex', 'delicious']

    """
    from boostline.data.river_yeast import find_river_yeast

    places: dict[str, str | None] = {}
    for name, named in NAMED_SETS.items():
        found = find_local(named)
        places[name] = None if found is None else str(found[0].parent)
        if found is None and name == "yeast" and find_river_yeast() is not None:
            places[name] = "river"
    return places


def refuse_unknown_name(source: str) -> None:
    """Refuse what is neither there nor looks like a file: a misspelt name of a set."""
    looks_like_name = source != "-" and Path(source).name == source and not Path(source).suffix
    if source in NAMED_SETS or not looks_like_name or os.path.exists(source):
        return
    raise ValueError(unknown_name("file", source))


def unknown_name(what: str, name: str) -> str:
    """Say which sets there are, and which of them may be meant."""
    meant = near_name(name, list(NAMED_SETS))
    return f"there is no {what} {name!r}, and the named sets are {', '.join(NAMED_SETS)}" + (
        f"; is {meant!r} meant?" if meant else ""
    )


def cache_folder() -> Path:
    """Return the folder for downloads: ``BOOSTLINE_CACHE``, or ``boostline`` in the user's cache folder."""
    if chosen := os.environ.get("BOOSTLINE_CACHE"):
        return Path(chosen).expanduser()
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "boostline"


def find_local(named: NamedSet) -> tuple[Path, Path, Path] | None:
    """Train, test and xml file in ``BOOSTLINE_DATA`` or the cache; None if not all are there."""
    chosen = os.environ.get("BOOSTLINE_DATA")
    for folder in ([Path(chosen).expanduser()] if chosen else []) + [cache_folder()]:
        paths = [plain_or_gz(folder / named.name / file.name) for file in named.files]
        train, test, xml = paths
        if train is not None and test is not None and xml is not None:
            return train, test, xml
    return None


def plain_or_gz(path: Path) -> Path | None:
    """The file, or the same with ``.gz``; None if there is neither."""
    for candidate in (path, path.with_name(path.name + ".gz")):
        if candidate.is_file():
            return candidate
    return None


def load_named(named: NamedSet, shown: str, *, download: bool = True) -> Dataset:
    """Load a set of the registry from the first place that has it."""
    from boostline.data.loading import load_files
    from boostline.data.river_yeast import find_river_yeast, load_river_yeast

    paths = find_local(named)
    if paths is None and named.name == "yeast" and (wheel := find_river_yeast()) is not None:
        return load_river_yeast(wheel, shown)
    if paths is None:
        paths = fetch_named(named) if download else None
    if paths is None:
        raise DownloadError(not_here(named))
    train, test, xml = paths
    return load_files(train, test, xml, name=shown)


def fetch_named(named: NamedSet) -> tuple[Path, Path, Path]:
    """Download what the cache lacks of a set, with a progress bar; return its files."""
    from boostline.display.progress import show_progress

    folder = cache_folder() / named.name
    for file in named.files:
        target = folder / file.name
        if plain_or_gz(target) is not None:
            continue
        with show_progress(None, file.name, file.size, "bytes") as advance:
            try:
                fetch(file, target, on_progress=advance.to)
            except OSError as error:
                raise DownloadError(f"cannot be written: {error}", path=str(target)) from error
            except (DownloadError, ImportError) as error:
                raise DownloadError(f"{error}; {not_here(named)}") from error
    found = find_local(named)
    assert found is not None, "all three files have just been put there"
    return found


def not_here(named: NamedSet) -> str:
    """Say where a missing set was searched and what to do."""
    folder = os.environ.get("BOOSTLINE_DATA")
    looked = f"BOOSTLINE_DATA ({folder})" if folder else "BOOSTLINE_DATA (not set)"
    files = ", ".join(file.name for file in named.files)
    return (
        f"the set {named.name!r} is neither in {looked} nor in the cache ({cache_folder()}). "
        f"On a machine with a network, load it once, or fetch {files} from "
        f"{named.files[0].url.rpartition('/')[0]}; then put them into the folder "
        f"{named.name!r} of either place"
    )
