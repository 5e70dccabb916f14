"""Files to run the service with."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from boostline.cli.log import backup
from boostline.cli.serve import serve

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.mark.process
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_systemd_takes_the_unit(tmp_path):
    unit = tmp_path / "boostline.service"
    text = (DEPLOY / "boostline.service").read_text()
    assert "/opt/boostline/bin/boostline serve" in text
    unit.write_text(text.replace("/opt/boostline/bin/boostline", sys.executable))
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    said = [line for line in done.stderr.splitlines() if "boostline.service" in line]
    assert not said, said


@pytest.mark.process
@pytest.mark.skipif(shutil.which("hadolint") is None, reason="there is no hadolint")
def test_the_image_passes_its_linter():
    subprocess.run(["hadolint", str(DEPLOY / "Dockerfile")], check=True, timeout=60)


@pytest.mark.parametrize(
    ("name", "begins", "command"),
    [
        ("boostline.service", "ExecStart=", serve),
        ("Dockerfile", "ENTRYPOINT", serve),
        ("boostline-backup.service", "ExecStart=", backup),
    ],
)
def test_options_that_they_give_are_there(name, begins, command):
    _, _, rest = (DEPLOY / name).read_text().partition(f"\n{begins}")
    given = set(re.findall(r"--([a-z-]+)", rest.partition("\n#")[0]))
    known = {option.replace("_", "-") for option in command.__annotations__}
    assert {"store"} <= given <= known


def test_actions_and_images_are_pinned_and_publishing_waits_for_the_gate():
    workflows = DEPLOY.parent / ".github" / "workflows"
    for path in workflows.glob("*.yml"):
        uses = re.findall(r"uses: (\S+)", path.read_text())
        assert uses and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one) for one in uses)
    assert "needs: [version, gate, wheels, sdist]" in (workflows / "release.yml").read_text()
    images = re.findall(r"^FROM (\S+)", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert images and all(re.fullmatch(r"\S+@sha256:[0-9a-f]{64}", one) for one in images)
