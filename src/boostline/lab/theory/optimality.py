# ruff: noqa: RUF001 -- the strings are shown to people, with the paper's Greek letters
"""Experiments on the adversary of the optimality theorem: loss, learners and samples needed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray
from boostline.lab.theory.adversary import Adversary, uniform_vote_loss
from boostline.lab.theory.experiment import Check, Experiment, PlotLine, rank_losses, slope
from boostline.losses import Rank
from boostline.potentials import step_table

#: Error bars are this many standard errors to each side.
BARS = 3.0


def _weight_sum(k: int, n: int, edge: float) -> float:
    """Sum over the learners of an upper bound on w^{i*}, for any label set: `largest_weight` of each."""
    found = np.zeros(n)
    for size in range(1, k):
        table = step_table(Rank(), n, k, size, edge)
        zero = round(-table.lo)
        for i in range(n):  # i votes are cast, n - 1 - i are to come
            steps = table.values[n - 1 - i, zero - i - 1 : zero + i + 1]
            found[i] = max(found[i], (1 / size + 1 / (k - size)) * float(steps.max()))
    return float(found.sum())


def _mean_loss(adversary: Adversary, rounds: int, seeds: range) -> tuple[float, float]:
    """Mean of OnlineBMR's rank loss over independent rounds, and its standard error."""
    losses = []
    for seed in seeds:
        stream = adversary.stream(rounds, seed)
        # OnlineBMR follows the plain sum of all votes, whatever the costs were.
        scores = np.zeros((rounds, adversary.n_labels))
        for column in stream.votes.T:
            scores[np.arange(rounds), column] += 1.0
        losses.append(rank_losses(scores, stream.relevant))
    all_rounds = np.concatenate(losses)
    return float(all_rounds.mean()), float(all_rounds.std(ddof=1) / math.sqrt(all_rounds.size))


def loss_against_learners(quick: bool = False) -> Experiment:
    """Loss of OnlineBMR against N, between the theorem and the exact loss of the uniform vote."""
    # No edge is twice another: u(2γ) of one would be drawn over u(γ) of the other.
    k, gammas = 3, (0.02, 0.045, 0.08)
    counts = np.unique(np.geomspace(1, 400 if quick else 1600, 10 if quick else 16).astype(int))
    rounds, streams = (500, 3) if quick else (2000, 5)
    curves, checks, rows = [], [], []
    for colour, gamma in enumerate(gammas):
        found = _loss_at_edge(k, gamma, counts, rounds, streams, colour)
        curves += found[0]
        checks += found[1]
        rows += found[2]
    return Experiment(
        "loss-against-learners",
        "More learners, less loss: as fast as the theorem says, and no booster can be faster",
        "Labels are uniform over all subsets but two, every learner votes for one label drawn from "
        "u(2γ), and so satisfies OnlineWLC with edge γ. Dashed: the first term of the theorem, "
        "φ^N(0), the loss per round that OnlineBMR promises as T grows. Solid: the exact loss of "
        "the uniform vote, below which no booster can get on average. Points: OnlineBMR, simulated, "
        f"with bars of {BARS:g} standard errors: a point below the line is chance, and its bar reaches the line.",
        "number of weak learners N",
        "rank loss per round",
        "xy",
        curves,
        checks,
        ["γ", "N", "uniform vote, exact", "OnlineBMR", "theorem φ^N(0)", "Table 1"],
        rows,
    )


def _loss_at_edge(
    k: int, gamma: float, counts: NDArray[np.int64], rounds: int, streams: int, colour: int
) -> tuple[list[PlotLine], list[Check], list[list[str]]]:
    """Curves, statements and lines of the table for learners with one edge."""
    first = 1000 * colour  # every point has streams of its own, so that chance moves them apart
    lower = np.array([uniform_vote_loss(k, 2 * gamma, int(n)) for n in counts])
    upper = np.array([uniform_vote_loss(k, gamma, int(n)) for n in counts])
    # Where fewer than 20 errors are to be expected, a simulation says nothing.
    seen = lower * rounds * streams >= 20
    found = []
    for i, n in enumerate(counts[seen]):
        seeds = range(first + streams * i, first + streams * (i + 1))
        found.append(_mean_loss(Adversary(k, gamma, int(n)), rounds, seeds))
    mean, error = np.array(found).T
    bars, x = BARS * error, counts.astype(float)
    exact = f"exact loss of the uniform vote, γ = {gamma}"
    curves = [
        PlotLine(f"theorem, T → ∞, γ = {gamma}", x, upper, colour, "dashed"),
        PlotLine(exact, x, lower, colour, "line"),
        PlotLine(f"OnlineBMR, simulated, γ = {gamma}", x[seen], mean, colour, "points", bars),
    ]
    tail = counts > counts[-1] / 8
    reach = tail & (upper > 1e-12)
    rate = -slope(counts[reach], np.log(upper[reach])) / gamma**2
    low = -slope(counts[tail], np.log(lower[tail])) / gamma**2
    checks = [
        Check(
            f"γ = {gamma}: OnlineBMR loses what the uniform vote loses, within {BARS:g} standard errors, and less "
            "than the theorem allows",
            bool((np.abs(mean - lower[seen]) <= bars).all() and (lower <= upper).all()),
            f"largest distance {np.abs((mean - lower[seen]) / error).max():.1f} standard errors; "
            f"{int((mean < lower[seen]).sum())} of {len(mean)} points are below the line, all within their bars",
        ),
        Check(
            f"γ = {gamma}: both curves fall like e^(-c γ² N), c between 1/2 (Table 1) and "
            f"4k² = {4 * k * k} (the proof of the lower bound)",
            bool(0.5 <= rate <= low <= 4 * k * k),
            f"c = {rate:.2f} for the theorem, {low:.2f} for the uniform vote",
        ),
    ]
    rows = [
        [
            f"{gamma}",
            f"{counts[j]}",
            f"{lower[j]:.4f}",
            f"{mean[j]:.4f} ± {error[j]:.4f}",
            f"{upper[j]:.4f}",
            f"{math.exp(-(gamma**2) * counts[j] / 2):.4f}",
        ]
        for j in range(0, len(mean), max(1, len(mean) // 4))
    ]
    return curves, checks, rows


def _learners_needed(k: int, edge: float, epsilon: float) -> int:
    """Smallest N whose uniform vote under u_edge loses at most epsilon; the loss falls with N."""
    high = 1
    while uniform_vote_loss(k, edge, high) > epsilon:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if uniform_vote_loss(k, edge, middle) <= epsilon else (middle, high)
        )
    return high


def _tail_exponent(k: int, edge: float) -> float:
    """Rate I of P(Z_N >= 0) ~ e^{-I N}, Cramér: I = -ln min_u E e^{uZ}, for the worst |Y|."""
    rates = []
    for size in range(1, k):
        up = (1 - edge * size) / k
        down = up + edge
        rates.append(-math.log(1 - up - down + 2 * math.sqrt(up * down)))
    return min(rates)


def learners_needed(quick: bool = False) -> Experiment:
    """Learners needed for a loss epsilon, against 1/gamma^2 ln 1/epsilon."""
    k = 3
    gammas = (0.04, 0.055, 0.08) if quick else (0.025, 0.035, 0.045, 0.06, 0.08)
    epsilons = np.array([0.1, 0.03, 0.01, 0.003, 0.001])
    curves, rows = [], []
    need = np.array([[_learners_needed(k, 2 * g, e) for e in epsilons] for g in gammas], float)
    enough = np.array([[_learners_needed(k, g, e) for e in epsilons] for g in gammas], float)
    for colour, gamma in enumerate(gammas):
        x = np.log(1 / epsilons) / gamma**2
        curves.append(
            PlotLine(f"needed by any booster, γ = {gamma}", x, need[colour], colour, "line")
        )
        curves.append(
            PlotLine(f"enough for OnlineBMR, γ = {gamma}", x, enough[colour], colour, "dashed")
        )
        rows += [
            [f"{gamma}", f"{e:g}", f"{int(a)}", f"{int(b)}", f"{math.log(1 / e) / gamma**2:.0f}"]
            for e, a, b in zip(epsilons, need[colour], enough[colour], strict=True)
        ]
    log_gamma = np.log(gammas)
    in_gamma = [slope(log_gamma, np.log(t[:, -1])) for t in (need, enough)]
    # Where the logarithm takes over: the tail probability is e^{-I N} up to a power of N.
    tiny = np.array([1e-3, 1e-6, 1e-9, 1e-12])
    gamma = gammas[-1]
    at_tiny = np.array([_learners_needed(k, 2 * gamma, e) for e in tiny], float)
    local = np.diff(np.log(at_tiny)) / np.diff(np.log(np.log(1 / tiny)))
    growth = np.diff(at_tiny) / np.diff(np.log(1 / tiny)) * _tail_exponent(k, 2 * gamma)
    ratio = enough / need
    checks = [
        Check(
            "N grows like 1/γ² (slope -2 in log-log)",
            all(abs(s + 2) < 0.1 for s in in_gamma),
            f"slopes {in_gamma[0]:.3f} (needed), {in_gamma[1]:.3f} (enough)",
        ),
        Check(
            "N grows like ln 1/ε: the learners that each further factor e in ε takes approach "
            "the constant of large deviations",
            bool(abs(growth[-1] - 1) < 0.05 and (np.diff(np.abs(growth - 1)) < 0).all()),
            f"{', '.join(f'{v:.3f}' for v in growth)} of that constant for ε from .001 to 1e-12; "
            f"slopes in log-log {', '.join(f'{v:.2f}' for v in local)}, still falling to 1",
        ),
        Check(
            "what is enough is a constant times what is needed",
            bool(ratio.max() < 6),
            f"factor {ratio.min():.2f} to {ratio.max():.2f}",
        ),
    ]
    return Experiment(
        "learners-needed",
        "Learners needed for a loss ε: proportional to (1/γ²) ln(1/ε), from above and from below",
        "Exact computation, no sampling. Solid: the smallest N for which the uniform vote of the "
        "adversary's learners loses at most ε; fewer cannot do. Dashed: the smallest N for which "
        "φ^N(0) <= ε, with which OnlineBMR gets there.",
        "(1/γ²) ln(1/ε)",
        "number of weak learners N",
        "xy",
        curves,
        checks,
        ["γ", "ε", "needed", "enough", "(1/γ²) ln(1/ε)"],
        rows,
    )


def _samples_needed(losses: FloatArray, epsilon: float) -> float:
    """First T from which on the average loss stays at or below epsilon; nan if it never does."""
    above = np.flatnonzero(np.cumsum(losses) / np.arange(1, len(losses) + 1) > epsilon)
    first = int(above[-1]) + 2 if above.size else 1
    return float(first) if first <= len(losses) else math.nan


def samples_needed(quick: bool = False) -> Experiment:
    """Samples needed for a loss epsilon, against S/(epsilon gamma)."""
    k, delta = 2, 0.1
    cases = [(0.08, 1.0), (0.08, 4.0), (0.12, 1.0), (0.12, 3.0)]
    if not quick:
        cases += [(0.05, 1.0), (0.05, 2.0), (0.12, 10.0)]
    epsilons = (0.2, 0.1, 0.05)
    found = [
        _samples_case(k, delta, gamma, factor, epsilon, n_seeds=4 if quick else 20)
        for gamma, factor in cases
        for epsilon in epsilons
    ]
    points, rows = (list(part) for part in zip(*found, strict=True))
    xs, sim, bar, low, high = np.array(sorted(points, key=lambda point: point[0])).T
    fit = slope(np.log(xs), np.log(sim))
    checks = [
        Check(
            "samples grow like S/(εγ) (slope 1 in log-log)",
            abs(fit - 1) < 0.08,
            f"slope {fit:.3f}",
        ),
        Check(
            "simulation agrees with the exact expectation",
            bool(np.abs(sim / low - 1).max() < 0.15),
            f"largest relative difference {np.abs(sim / low - 1).max():.3f}",
        ),
        Check(
            f"no point is further below the exact expectation than its bar, {BARS:g} standard errors",
            bool((sim + bar >= low).all()),
            f"{int((sim < low).sum())} of {len(sim)} points are below, by up to "
            f"{max(0.0, float(((low - sim) / bar).max())) * BARS:.1f} standard errors",
        ),
        Check(
            "the theorem's number of samples suffices",
            bool((high >= sim).all()),
            f"it is {np.min(high / sim):.1f} to {np.max(high / sim):.1f} times what was needed",
        ),
    ]
    return Experiment(
        "samples-needed",
        "Samples needed for an average loss ε: proportional to S/(εγ)",
        "k = 2. The adversary's learners know nothing for the first S/(4γ) rounds and have the edge 2γ "
        "after that; they satisfy OnlineWLC(δ, γ, S) all the same. Whatever a booster does, it "
        "loses 1/2 per round at first. Points: rounds until OnlineBMR's average loss stays below "
        f"ε, with bars of {BARS:g} standard errors, and when the theorem promises it; line: the exact expectation.",
        "S/(εγ)",
        "rounds T",
        "xy",
        [
            PlotLine("theorem: enough", xs, high, 1, "points"),
            PlotLine("exact expectation for the adversary", xs, low, 0, "line"),
            PlotLine("OnlineBMR, simulated", xs, sim, 2, "points", bar),
        ],
        checks,
        ["γ", "S", "ε", "N", "expected", "simulated", "theorem"],
        rows,
    )


def _samples_case(
    k: int, delta: float, gamma: float, factor: float, epsilon: float, n_seeds: int
) -> tuple[tuple[float, ...], list[str]]:
    """S/(εγ), rounds that were needed, their bar, their exact expectation, the theorem's; and a line of the table."""
    s = factor * k * math.log(1 / delta) / gamma
    n = _learners_needed(k, gamma, epsilon / 4)
    rest = uniform_vote_loss(k, 2 * gamma, n)
    adversary = Adversary(k, gamma, n, delta, s, warm_up=True)
    expected = adversary.useless_rounds * (0.5 - rest) / (epsilon - rest)
    enough = s * _weight_sum(k, n, gamma) / (epsilon - uniform_vote_loss(k, gamma, n))
    rng = np.random.default_rng(int(1e6 * gamma + 1e3 * epsilon + factor))
    found = [
        _samples_needed(_uniform_losses(adversary, int(1.5 * expected), rng), epsilon)
        for _ in range(n_seeds)
    ]
    mean, error = float(np.mean(found)), float(np.std(found, ddof=1)) / math.sqrt(n_seeds)
    row = [f"{gamma}", f"{s:.0f}", f"{epsilon}", f"{n}", f"{expected:.0f}"]
    row += [f"{mean:.0f} ± {error:.0f}", f"{enough:.0f}"]
    return (s / (epsilon * gamma), mean, BARS * error, expected, enough), row


def _uniform_losses(adversary: Adversary, rounds: int, rng: np.random.Generator) -> FloatArray:
    """Rank losses of the uniform vote for k = 2: only the number of right votes matters."""
    right = rng.binomial(adversary.n_learners, 0.5 + adversary.edge, size=rounds)
    start = min(rounds, adversary.useless_rounds)
    right[:start] = rng.binomial(adversary.n_learners, 0.5, size=start)
    return Rank().pair(adversary.n_learners - 2.0 * right)
