"""A stream that is stopped returns what there is; whoever waits sees how far it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from boostline.evaluate import prequential
from boostline.evaluate.baselines import DecayedCounts


def stream_of(data):
    return list(zip(data.X, data.Y, strict=True))


# Stopping.


@pytest.mark.parametrize(("delay", "pending"), [(0, 0), (5, 5)])
def test_interrupt_in_the_stream_returns_what_there_is(data, logistic, delay, pending):
    def interrupted():
        yield from stream_of(data)[:100]
        raise KeyboardInterrupt

    result = prequential(logistic(), interrupted(), delay=delay)
    assert result.stopped
    assert (result.n, result.n_pending) == (100, pending)
    assert result["OnlineLogistic"].n_learned == 100 - pending
    alone = prequential(logistic(), stream_of(data)[:100], delay=delay)
    assert result["OnlineLogistic"].metrics == alone["OnlineLogistic"].metrics
    assert "Stopped early" in result.table()


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to itself")
@pytest.mark.parametrize("waiting", [False, True])
def test_control_c_loses_nothing_that_was_learned(waiting):
    """A real SIGINT in the middle of learn, or while the stream keeps us waiting."""

    class Signalling(DecayedCounts):
        def learn(self, x, relevant, weight=1.0, unknown=None):
            if not waiting and self.counts[0] > 20:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
            return super().learn(x, relevant, weight, unknown)

    def stream():
        for i in range(1000):
            if waiting and i == 30:
                threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
                time.sleep(60)
            yield [0.0], {0}

    before = signal.getsignal(signal.SIGINT)
    started = time.perf_counter()
    model = Signalling(2, decay=1)
    result = prequential(model, stream(), block=10)
    assert time.perf_counter() - started < 50  # not to the end of the wait
    assert result.stopped
    assert result.n == result["Signalling"].n_learned == model.counts[0] == 40 - 10 * waiting
    assert signal.getsignal(signal.SIGINT) is before


def test_works_outside_the_main_thread(data, logistic):
    results = []
    thread = threading.Thread(target=lambda: results.append(prequential(logistic(), data)))
    thread.start()
    thread.join()
    assert results[0].n == 240


# Progress.


def test_progress_function(data, logistic):
    heard = []

    def hear(done, total):
        heard.append((done, total))

    prequential(logistic(), data, block=100, progress=hear)
    assert heard == [(100, 240), (200, 240), (240, 240)]
    heard.clear()
    prequential(logistic(), iter(stream_of(data)), block=200, progress=hear)
    assert heard == [(200, None), (240, None)]


def test_progress_bar_goes_to_standard_error(data, logistic, capsys):
    prequential(logistic(), data, progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    prequential(logistic(), data)  # no terminal: nothing
    assert capsys.readouterr() == ("", "")


@pytest.mark.process
def test_nothing_heavy_is_imported():
    code = (
        "import sys, boostline.evaluate\n"
        "heavy = {'scipy', 'sklearn', 'pandas', 'river', 'matplotlib', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
