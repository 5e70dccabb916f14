"""The named sets: what they are, where they are looked for, and where they live in public.

Looked for in turn: the folder that ``BOOSTLINE_DATA`` names, the per-user cache, river's wheel
(yeast only), the public home. Folder and cache hold ``<name>/<name>-train.arff``, ``-test.arff``
(or .gz) and ``<name>/<name>.xml``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from boostline.contract.frames import near_name
from boostline.data.dataset import Dataset
from boostline.data.download import RemoteFile, fetch
from boostline.data.errors import DownloadError

_RAW = "https://raw.githubusercontent.com"
_AUTHORS = (
    f"{_RAW}/YoungHJung/OnlineMLRBoostingWithVFDT/ab77d1019b61611b7f41d10d2cbf5c59732afc52/data"
)
_MULAN = f"{_RAW}/tsoumakas/mulan/43f6389095ad71984264db4387a8074b22bc7d4a/data/multi-label"


@dataclass(frozen=True)
class NamedSet:
    """A data set of the registry."""

    name: str
    title: str
    files: tuple[RemoteFile, RemoteFile, RemoteFile]


def _named(
    name: str,
    title: str,
    home: str,
    sums: tuple[str, str, str],
    sizes: tuple[int, int, int],
    base: str | None = None,
    xml: str | None = None,
) -> NamedSet:
    urls = (
        f"{home}/{base or name}-train.arff",
        f"{home}/{base or name}-test.arff",
        xml or f"{home}/{name}.xml",
    )
    names = (f"{name}-train.arff", f"{name}-test.arff", f"{name}.xml")
    train, test, label_names = (
        RemoteFile(*parts, text=parts[0].endswith(".xml"))
        for parts in zip(names, urls, sums, sizes, strict=True)
    )
    return NamedSet(name, title, (train, test, label_names))


NAMED_SETS: dict[str, NamedSet] = {
    named.name: named
    for named in (
        _named(
            "emotions",
            "music, 6 emotions (Trohidis et al. 2008)",
            f"{_AUTHORS}/emotions",
            (
                "bbe704106c79bb8fb99c1d1d2e9bde081d6a2daeb01f100862f11fd91a3c1f98",
                "f13d4b746b7b5c8eb484bd751d6ac463d4560dff998a93516a5c1fe35daf6c8f",
                "dbce8e6ccbbb2fcbfd9e9edbb230d7ed12692c6e13f59fdbc0161fa9b6cf2dc0",
            ),
            (252_080, 132_007, 323),
        ),
        _named(
            "scene",
            "photographs, 6 kinds of scenery (Boutell et al. 2004)",
            f"{_AUTHORS}/scene",
            (
                "b53ba93bdf412de922e3960389bcee24744fa3e872ce610511fc1d750888b64d",
                "ea38d20296b3ff7e220f477a3b802a9bcb2d768881fe6ee163efbc97ea527a42",
                "55d8b247b949ad5c52e5a73d8c6775ec6e5469ce9682465b45b333b68ee4bcc5",
            ),
            (3_127_968, 3_090_742, 285),
        ),
        _named(
            "yeast",
            "genes, 14 functional classes (Elisseeff and Weston 2001)",
            f"{_AUTHORS}/yeast",
            (
                "e759dc991ff54694a4ff9c4314f3be0d6fd2b1994a4b563f57e416394c6aebbd",
                "4aaac102bff9669a765bf0b378602e5cc8c3b181048282e2f003117b496d552a",
                "c3056cc26444b5158b1588d1b73bec9c45429e10f0957ad085903423cb81f247",
            ),
            (1_501_117, 918_515, 526),
        ),
        _named(
            "mediamill",
            "video, 101 concepts (Snoek et al. 2006)",
            f"{_AUTHORS}/mediamill",
            (
                "a47c1c100077106eb9aa2410ea7ad28ca75086b26f983fc46595c6167c17800c",
                "44d75cfb7f93e642a60e694371134b8c3024b6da0d879f1a51ea6d566be7ff02",
                "960991532485541a885868c269bf454a6ecdcea3f821ad29ae516eaa5a1bd43b",
            ),
            (39_325_994, 16_388_494, 3_225),
        ),
        _named(
            "m-reduced",
            "2,000 rows of mediamill (Jung and Tewari 2018)",
            f"{_AUTHORS}/mediamill_reduced",
            (
                "f4a562d2b78f5daedeafabc0747542ed2e4d5fd0bb20d348c53d63cc3a0b1e7c",
                "7594040bfe35e09f674d1c15727d978f310c1106de49ea448764e4627b8b424d",
                "960991532485541a885868c269bf454a6ecdcea3f821ad29ae516eaa5a1bd43b",
            ),
            (1_908_628, 640_024, 3_225),
            base="mediamill",
            xml=f"{_AUTHORS}/mediamill/mediamill.xml",
        ),
        _named(
            "enron",
            "e-mail, 53 labels, sparse (Klimt and Yang 2004)",
            f"{_MULAN}/enron",
            (
                "2988cefc1cdf7a8004a20ef84615cc8fa1b5d7434c16687283b41454e2d9d194",
                "2f3aad54a8f54caaab4ab01246fe9dd385ba944a2633028f52747b57eac5474e",
                "ed40c92d7f613eed51714912cab10dddc4ce456262137d8fef230d44c7f4457b",
            ),
            (607_799, 324_140, 1_604),
        ),
        _named(
            "bibtex",
            "bibliography, 159 tags, sparse (Katakis et al. 2008)",
            f"{_MULAN}/bibtex",
            (
                "8dcc9de6e0b2cebaec8c1f4fac78431adeeb73cfd3ab879b530a66d366e59174",
                "9b03329cde64d3f994bdf7fbbac3f3b10fe185c311cb9ae725475f59c7f3f922",
                "08fe20013c1e75dcf1888c185f5187c95e76495b8518ce289b4d3afce38d1232",
            ),
            (2_292_961, 1_215_637, 5_880),
        ),
        _named(
            "delicious",
            "bookmarks, 983 tags, sparse (Tsoumakas et al. 2008)",
            f"{_MULAN}/delicious",
            (
                "030186cdb542ebdd32052fcdbb1ebe30115b3a22518c1b4b198c45eb827aebe1",
                "2dfb01723a819914b0ca83361177ed413ce3f2169851d9f228d4692915d63944",
                "4e0c0f93c7d86a39b9fca4aaefaa00e9428f2c80277732dfbf03ca48e2c14da2",
            ),
            (3_056_590, 757_565, 34_303),
        ),
    )
}


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
    """Say where a missing set was looked for and what to do."""
    folder = os.environ.get("BOOSTLINE_DATA")
    looked = f"BOOSTLINE_DATA ({folder})" if folder else "BOOSTLINE_DATA (not set)"
    files = ", ".join(file.name for file in named.files)
    return (
        f"the set {named.name!r} is neither in {looked} nor in the cache ({cache_folder()}). "
        f"On a machine with a network, load it once, or fetch {files} from "
        f"{named.files[0].url.rpartition('/')[0]}; then put them into the folder "
        f"{named.name!r} of either place"
    )
