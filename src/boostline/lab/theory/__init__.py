"""The theory of the paper, executable.

Ask a running model what its edges are, what the theorems promise and how far it is from that;
replay the adversary of the optimality theorem; see where the printed bound of Ada.OLMR fails.

=====================  ===========================================================================
`theory.edges`         normalised costs, empirical edges, the OnlineWLC condition over all prefixes
`theory.bounds`        right-hand sides of the theorems for a model, beside the loss it suffered
`theory.correction`    the printed Ada.OLMR bound shown false by exact computation
`theory.adversary`     streams and learners of the optimality theorem
`theory.simulate`      both boosters on simulated votes, vectorised
`theory.experiments`   loss against N, learners and samples needed, the two algorithms compared
`theory.report`        pictures and one HTML page: ``report.run("out")``
=====================  ===========================================================================

Losses and potentials are in `boostline.losses` and `boostline.potentials`; derivations in
docs/theory.md.

>>> from boostline.lab.theory import adversary, bounds, simulate
>>> stream = adversary.Adversary(n_labels=2, edge=0.1, n_learners=20).stream(2000, seed=1)
>>> model = simulate.online_bmr(stream.votes, stream.relevant, edge=0.1)
>>> [bound.holds for bound in bounds.report(model)]
[True, True, True]
"""

from boostline.lab.theory import adversary, bounds, correction, edges, simulate
from boostline.lab.theory.history import History

__all__ = ["History", "adversary", "bounds", "correction", "edges", "simulate"]
