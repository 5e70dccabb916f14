"""A file is written whole or not at all, whatever happens while it is written."""

import os
import resource
import signal
import stat
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import boostline as bl
from boostline.saving.atomic import replace_file


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    model = bl.AdaOLMR(4, learners=bl.learners.paper_trees(20))
    model.learn(X, X[:, :4] > 0)
    return model


def in_child(code, folder, **options):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(folder)], text=True, **options
    )


MODEL = """
    import os, resource, signal, sys
    import numpy as np
    import boostline as bl
    os.chdir(sys.argv[1])
    X = np.random.default_rng(0).normal(size=(200, 5))
    model = bl.AdaOLMR(4, learners=bl.learners.paper_trees(20))
    model.learn(X, X[:, :4] > 0)
"""


@pytest.mark.process
def test_a_full_disk_leaves_the_old_file_and_nothing_else(model, tmp_path):
    """RLIMIT_FSIZE makes writing fail in the middle, as a full disk does."""
    model.save(tmp_path / "m.blm")
    before = (tmp_path / "m.blm").read_bytes()
    code = (
        MODEL
        + f"""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) // 2}, {len(before) // 2}))
    try:
        model.save("m.blm")
    except OSError as error:
        print("OSError", error.errno)
    """
    )
    child = in_child(code, tmp_path, stdout=subprocess.PIPE)
    output, _ = child.communicate(timeout=60)
    assert output.startswith("OSError")
    assert os.listdir(tmp_path) == ["m.blm"]
    assert (tmp_path / "m.blm").read_bytes() == before


@pytest.mark.process
def test_the_signal_of_a_full_quota_leaves_the_old_file_and_nothing_else(model, tmp_path):
    """Without a handler, SIGXFSZ ends the process in the middle of the write."""
    model.save(tmp_path / "m.blm")
    before = (tmp_path / "m.blm").read_bytes()
    code = (
        MODEL
        + f"""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) // 2}, {len(before) // 2}))
    model.save("m.blm")
    """
    )
    child = in_child(code, tmp_path)
    assert child.wait(timeout=60) == -signal.SIGXFSZ
    assert os.listdir(tmp_path) == ["m.blm"]
    assert (tmp_path / "m.blm").read_bytes() == before


@pytest.mark.process
def test_kill_9_while_saving_again_and_again_leaves_a_whole_file(model, tmp_path):
    model.save(tmp_path / "m.blm")
    before = (tmp_path / "m.blm").read_bytes()
    code = (
        MODEL
        + """
    print("ready", flush=True)
    while True:
        model.save("m.blm")
    """
    )
    for pause in (0.01, 0.05, 0.1, 0.15):
        child = in_child(code, tmp_path, stdout=subprocess.PIPE)
        assert child.stdout.readline() == "ready\n"
        time.sleep(pause)
        child.kill()
        child.wait()
        child.stdout.close()
        assert (tmp_path / "m.blm").read_bytes() == before
        bl.load(tmp_path / "m.blm")
    # At most a file that was complete and about to take the old one's place.
    assert len(os.listdir(tmp_path)) <= 2


def test_a_failure_in_the_middle_leaves_no_trace(tmp_path):
    (tmp_path / "m").write_text("old")
    with pytest.raises(RuntimeError), replace_file(tmp_path / "m") as file:
        file.write(b"half")
        raise RuntimeError
    assert os.listdir(tmp_path) == ["m"]
    assert (tmp_path / "m").read_text() == "old"


def test_where_nameless_files_are_not_to_be_had_it_works_too(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    with pytest.raises(RuntimeError), replace_file(tmp_path / "m") as file:
        file.write(b"half")
        raise RuntimeError
    assert os.listdir(tmp_path) == []
    with replace_file(tmp_path / "m") as file:
        file.write(b"whole")
    assert (tmp_path / "m").read_bytes() == b"whole"
    assert os.listdir(tmp_path) == ["m"]


def test_permissions_are_those_of_any_new_file_or_of_the_old_one(model, tmp_path):
    (tmp_path / "other").write_text("")
    model.save(tmp_path / "m.blm")
    usual = stat.S_IMODE((tmp_path / "other").stat().st_mode)
    assert stat.S_IMODE((tmp_path / "m.blm").stat().st_mode) == usual
    (tmp_path / "m.blm").chmod(0o640)
    model.save(tmp_path / "m.blm")
    assert stat.S_IMODE((tmp_path / "m.blm").stat().st_mode) == 0o640


def test_a_link_stays_a_link(model, tmp_path):
    (tmp_path / "versions").mkdir()
    (tmp_path / "latest.blm").symlink_to(tmp_path / "versions" / "1.blm")
    model.save(tmp_path / "latest.blm")
    assert (tmp_path / "latest.blm").is_symlink()
    assert bl.load(tmp_path / "versions" / "1.blm").clock == 200


def test_a_folder_that_is_not_there_is_said(model, tmp_path):
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "nowhere" / "m.blm")


def test_a_device_that_is_full_is_an_error(model):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    from boostline.saving.container import stored, write

    arrays = {name: stored(name, array) for name, array in model.state()["arrays"].items()}
    with pytest.raises(OSError), open("/dev/full", "wb") as file:
        write(file, {"format": 1}, arrays)


def test_the_limits_of_this_process_are_untouched():
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
