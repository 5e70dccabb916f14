"""A Chromium without a window, driven through its debugging pipe: keys, sizes, colours, pictures."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_KEYS = {"Tab": 9, "Enter": 13, "Escape": 27}


class Browser:
    """One page. Only keys are pressed, as somebody without a mouse does."""

    def __init__(self, folder: Path, address: str) -> None:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        if chromium is None:
            raise FileNotFoundError("there is no chromium")
        theirs, self._out = os.pipe()
        self._in, answers = os.pipe()

        def as_it_expects() -> None:
            for handle, place in [(fcntl.fcntl(theirs, fcntl.F_DUPFD, 50), 3), (answers, 4)]:
                os.dup2(handle, place)

        if answers == 3:  # would be overwritten
            answers = fcntl.fcntl(answers, fcntl.F_DUPFD, 50)
        self._process = subprocess.Popen(
            [
                *(chromium, "--headless", "--no-sandbox", "--disable-gpu"),
                *("--remote-debugging-pipe", f"--user-data-dir={folder / 'chromium'}"),
                "about:blank",
            ],
            preexec_fn=as_it_expects,  # noqa: PLW1509 (it only duplicates handles)
            pass_fds=(3, 4),
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder)},
        )
        os.close(theirs)
        os.close(answers)
        self._heard = b""
        self._n = 0
        self._session: str | None = None
        target = self.call("Target.createTarget", url=address)["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]

    def call(self, method: str, **parameters: Any) -> Any:
        """Ask the browser, and wait for what it answers."""
        self._n += 1
        asked = {"id": self._n, "method": method, "params": parameters}
        if self._session is not None:
            asked["sessionId"] = self._session
        os.write(self._out, json.dumps(asked).encode() + b"\0")
        while True:
            while b"\0" not in self._heard:
                if not (more := os.read(self._in, 65536)):
                    raise ConnectionError("the browser has ended")
                self._heard += more
            raw, _, self._heard = self._heard.partition(b"\0")
            told = json.loads(raw)
            if told.get("id") == self._n:
                return told.get("result", {})

    def see(self, expression: str) -> Any:
        """The value of an expression in the page; None while there is no page."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return told.get("result", {}).get("value")

    def reload(self) -> None:
        self.see("window.isOld = true")
        self.call("Page.reload")
        until(lambda: self.see("window.isOld !== true && document.readyState === 'complete'"))

    def show(self, width: int, colours: str) -> None:
        """Choose the width of the screen, and light or dark."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        media = [{"name": "prefers-color-scheme", "value": colours}]
        self.call("Emulation.setEmulatedMedia", features=media)

    def press(self, key: str) -> None:
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            code = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
            self.call(
                "Input.dispatchKeyEvent", type=kind, **code, **(text if kind == "keyDown" else {})
            )

    def tab_to(self, text: str) -> None:
        """Press Tab until what has the focus says so."""
        for _ in range(60):
            if self.see("document.activeElement.textContent") == text:
                return
            self.press("Tab")
        raise AssertionError(f"Tab does not lead to {text!r}")

    def picture(self, path: Path) -> None:
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)


def until(true: Callable[[], Any], seconds: float = 20.0) -> Any:
    """Wait for something."""
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)
    return found
