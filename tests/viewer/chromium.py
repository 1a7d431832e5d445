"""A headless Chromium with software WebGL, driven over its DevTools protocol: pages, pictures, requests, keys."""

import base64
import io
import json
import numpy as np
import os
import pytest
import shutil
import socket
import subprocess
import tempfile
import time
from PIL import Image

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed: apt-get install chromium")
FLAGS = (
    "--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--hide-scrollbars",
    "--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--disable-dev-shm-usage", "--mute-audio",
    "--disable-gpu-watchdog",
)  # fmt: skip


class Page:
    """The one page of a browser. requests: addresses that it asked for."""

    def __init__(self, width: int = 960, height: int = 720):
        from websockets.sync.client import connect

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.folder = tempfile.mkdtemp(prefix="chromium-")
        command = [CHROMIUM, *FLAGS, f"--remote-debugging-port={port}", f"--user-data-dir={self.folder}",
                   f"--window-size={width},{height}", "about:blank"]  # fmt: skip
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.requests, self.count, self.errors = [], 0, []
        try:
            address = self._address(port)
            self.socket = connect(address, max_size=None, open_timeout=60)
            for domain in ("Page", "Network", "Runtime"):
                self.call(f"{domain}.enable")
            self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _address(port):
        from urllib.request import urlopen

        for _ in range(300):
            try:
                with urlopen(f"http://127.0.0.1:{port}/json", timeout=5) as answer:
                    pages = [x for x in json.load(answer) if x["type"] == "page"]
                if pages:
                    return pages[0]["webSocketDebuggerUrl"]
            except OSError:
                pass
            time.sleep(0.1)
        raise TimeoutError("Chromium does not answer")

    def call(self, method, **parameters):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=120))
            if message.get("method") == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            if message.get("method") == "Network.webSocketCreated":
                self.requests.append(message["params"]["url"])
            if message.get("method") == "Runtime.exceptionThrown":
                self.errors.append(message["params"]["exceptionDetails"])
            if message.get("id") == self.count:
                assert "error" not in message, message
                return message["result"]

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait(lambda: (self.run("location.href") or "").startswith(url), what=url)

    def run(self, script):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        return answer["result"].get("value")

    def picture(self):
        """(h, w, 3) bytes."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        return np.array(Image.open(io.BytesIO(data)).convert("RGB"))

    def wait(self, true, seconds=60.0, what="the page"):
        """Until `true()` holds."""
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, f"{what} did not come in {seconds} s"
            self.call("Runtime.evaluate", expression="1")
            time.sleep(0.05)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def close(self):
        with_group = getattr(os, "killpg", None)
        with_group(self.process.pid, 15)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            with_group(self.process.pid, 9)
            self.process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)
