"""A cluster of `posse up` in a process of its own, and the address of its page."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from tests.support import posse_command

PATIENCE_SECONDS = 60.0
ROOT = Path(__file__).parents[2]


class Lab:
    def __init__(self, folder, words=(), port=0):
        self.folder = folder
        self.kubeconfig = folder / "data" / "kubeconfig"
        self._command = [sys.executable, "-m", "posse", "up", *map(str, words), "--data-dir", folder / "data"]
        self._command += ["--port", str(port)]
        self._process = None
        self.address = ""

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        log = self.folder / "log"
        with log.open("w") as output:
            environment = os.environ | {"XDG_DATA_HOME": str(self.folder)}
            self._process = subprocess.Popen(
                self._command, stdout=output, stderr=output, env=environment, cwd=ROOT
            )
        self.wait_until(lambda: re.search(r"#token=\S+\n", log.read_text()))
        self.address = re.search(r"http://\S+#token=\S+", log.read_text())[0]

    def stop(self):
        self._process.terminate()
        assert self._process.wait(PATIENCE_SECONDS) == 0

    def apply(self, path):
        self.posse("apply", "-f", path)

    def apply_text(self, text):
        path = self.folder / "manifest.yaml"
        path.write_text(text)
        self.apply(path)

    def posse(self, *words, codes=(0,)):
        return posse_command.posse("posse", *words, "--kubeconfig", self.kubeconfig, codes=codes)

    def gang(self, name, size, gpus=8):
        """Manifests of a PodGroup and its pods."""
        group = f"""\
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {{name: {name}}}
spec: {{schedulingPolicy: {{gang: {{minCount: {size}}}}}}}
"""
        pods = [
            f"""\
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}-{number}}}
spec:
  schedulingGroup: {{podGroupName: {name}}}
  containers:
    - name: worker
      image: registry.k8s.io/pause:3.10
      resources: {{limits: {{cpu: "1", nvidia.com/gpu: "{gpus}"}}}}
"""
            for number in range(size)
        ]
        return group + "".join(pods)

    def wait_until(self, holds):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not holds():
            assert time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.1)


def go(page, view):
    """Go to a view, and wait until it is the one that is shown."""
    page.evaluate("view => { location.hash = view }", view)
    place = view.removeprefix("#/").partition("?")[0]
    page.wait_for_function("place => document.querySelector('main').dataset.view === place", arg=place)
