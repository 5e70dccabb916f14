"""What others published, for tables beside our own figures; and where it is from."""

from __future__ import annotations

#: P@1, P@3, P@5 in per cent, from the Extreme Classification Repository (page of 2019); batch learners. Sizes of the
#: splits are equal; whether the rows are is not known.
XC: dict[str, dict[str, tuple[float, float, float]]] = {
    "SLEEC": {
        "bibtex": (65.08, 39.64, 28.87),
        "mediamill": (87.82, 73.45, 59.17),
        "delicious": (67.59, 61.38, 56.56),
    },
    "FastXML": {
        "bibtex": (63.42, 39.23, 28.86),
        "mediamill": (84.22, 67.33, 53.04),
        "delicious": (69.61, 64.12, 59.27),
    },
    "PfastreXML": {
        "bibtex": (63.46, 39.22, 29.14),
        "mediamill": (83.98, 67.37, 53.02),
        "delicious": (67.13, 62.33, 58.62),
    },
    "Parabel": {
        "bibtex": (64.53, 38.56, 27.94),
        "mediamill": (83.91, 67.12, 52.99),
        "delicious": (67.44, 61.83, 56.75),
    },
}
XC_SETS = ("bibtex", "delicious", "mediamill")

#: Best micro-F1 of 17 methods over the whole stream in file order, predicting before learning, and whose it is: the
#: tables of the MLHAT paper (Knowledge-Based Systems, 2024).
PREQUENTIAL_BEST: dict[str, tuple[float, str]] = {
    "flags": (0.710, "Hoeffding trees"),
    "emotions": (0.629, "naive Bayes"),
    "birds": (0.176, "AMRules"),
    "yeast": (0.613, "MLBELS"),
    "scene": (0.936, "MLHAT"),
    "medical": (0.684, "MLBELS"),
    "enron": (0.520, "MLBELS"),
    "bibtex": (0.347, "MLHAT"),
    "corel5k": (0.317, "ARF"),
    "tmc2007-500": (0.641, "MLBELS"),
    "mediamill": (0.661, "MLHAT"),
}
#: Macro-F1 of the same tables, of MLHAT.
PREQUENTIAL_MACRO: dict[str, float] = {
    "flags": 0.619,
    "yeast": 0.442,
    "enron": 0.177,
    "mediamill": 0.438,
}
