"""The page on a large cluster: how long its data takes to make, the first paint, and frames.

`python -m bench.page_scale` needs chromium and what `make test-browser` installs; it is no part of `make bench`.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from posse.cli.reading.snapshot_file import Listed, new_header, read_snapshot, write_snapshot
from posse.cli.ui.page_state import PageState
from posse.engine.options import EngineOptions
from posse.kinds.registry import NAMESPACE, NODE, POD, POD_GROUP
from posse.page.increments import increment

Json = dict[str, Any]

BLOCKS, RACKS, NODES = 10, 25, 20
"""5,000 nodes with 40,000 GPUs."""
RUNNING, WAITING, SIZE = 1600, 400, 3
MADE = "2026-01-01T00:00:00Z"
NOW = 1767229200.0


def _meta(name: str, namespace: str = "", **more: Any) -> Json:
    place = {"namespace": namespace} if namespace else {}
    return {"metadata": {"name": name, "uid": f"uid-{name}", "creationTimestamp": MADE, **place, **more}}


def _nodes() -> list[Json]:
    allocatable = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}
    found = []
    for number in range(BLOCKS * RACKS * NODES):
        rack = number // NODES
        labels = {
            "topology.posse.dev/block": f"block-{rack // RACKS}",
            "topology.posse.dev/rack": f"rack-{rack}",
        }
        found.append(_meta(f"node-{number:04}", labels=labels) | {"status": {"allocatable": allocatable}})
    return found


def _gangs() -> tuple[list[Json], list[Json]]:
    groups, pods = [], []
    for number in range(RUNNING + WAITING):
        name, runs = f"gang-{number:04}", number < RUNNING
        namespace, size = f"team-{number % 12}", SIZE if runs else 80 + number % 200
        policy = {"schedulingPolicy": {"gang": {"minCount": size}}, "priority": number % 5}
        condition = {
            "type": "PodGroupInitiallyScheduled",
            "status": "True",
            "reason": "Scheduled",
            "lastTransitionTime": MADE,
        }
        status = {"conditions": [condition]} if runs else {}
        groups.append(_meta(name, namespace) | {"spec": policy, "status": status})
        for member in range(SIZE if runs else 4):
            node = f"node-{number * SIZE + member:04}" if runs else ""
            container = {"name": "c", "resources": {"requests": {"cpu": "8", "nvidia.com/gpu": "8"}}}
            spec = {
                "schedulerName": "default-scheduler",
                "nodeName": node,
                "priority": number % 5,
                "schedulingGroup": {"podGroupName": name},
                "containers": [container],
            }
            phase = {"phase": "Running" if runs else "Pending"}
            pods.append(_meta(f"{name}-{member}", namespace) | {"spec": spec, "status": phase})
    return groups, pods


def large_snapshot(path: Path) -> None:
    groups, pods = _gangs()
    for group in groups[RUNNING:]:
        group["spec"]["schedulingPolicy"]["gang"]["minCount"] = 4
    kinds = ((NODE, _nodes()), (POD_GROUP, groups), (POD, pods))
    listed = [Listed(kind.group_resource, obj) for kind, objects in kinds for obj in objects]
    write_snapshot(path, new_header("team-0", NOW, [NAMESPACE, NODE, POD_GROUP, POD], []), listed)


def data_times(path: Path) -> Json:
    source = read_snapshot(path)
    started = time.process_time()
    state = PageState(source, EngineOptions())
    read = time.process_time()
    document = state.document()
    made = time.process_time()
    increment(document, state.document())
    size = len(json.dumps(document, separators=(",", ":")))
    return {
        "nodes": len(document["nodes"]),
        "gangs": len(document["gangs"]),
        "read seconds of processor": round(read - started, 2),
        "document seconds of processor": round(made - read, 2),
        "document bytes": size,
    }


def browser_times(path: Path) -> Json:
    """First paint of the page and times to draw a frame, with the data already made by the server."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only `make test-browser` installs it

    words = [sys.executable, "-m", "posse", "ui", "--snapshot", str(path), "--port", "0"]
    with (
        subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as serving,  # noqa: S603 - our own words
        sync_playwright() as playwright,
    ):
        try:
            assert serving.stdout is not None  # noqa: S101 - it is a pipe
            address = serving.stdout.readline().partition(" at ")[2].strip()
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            first = browser.new_page(viewport={"width": 1280, "height": 720})
            first.goto(address)
            first.get_by_text("As of").wait_for(timeout=120_000)
            first.close()
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(address)
            page.wait_for_function("() => window.posseView.map.frames.length > 0", timeout=60_000)
            found: Json = page.evaluate(_FIRST_PAINT) | page.evaluate(_FRAMES)
            browser.close()
            return found
        finally:
            serving.terminate()


_FIRST_PAINT = """() => ({
  "first contentful paint ms": Math.round(performance.getEntriesByName("first-contentful-paint")[0].startTime),
  "map painted ms": Math.round(window.posseView.map.paintedAt),
  "first frame ms": Math.round(window.posseView.map.frames[0]),
})"""
_FRAMES = """async () => {
  const { map } = window.posseView;
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const measured = async (number, act) => {
    map.frames.length = 0;
    for (let i = 0; i < number; i += 1) { act(i); await frame(); }
    const all = [...map.frames].sort((a, b) => a - b);
    return [all[Math.floor(all.length / 2)], all[all.length - 1]].map((one) => Math.round(10 * one) / 10);
  };
  const ids = Object.keys(map.data.gangs);
  return {
    "hover ms (median, longest)": await measured(60, (i) => map.mark(ids[i * 7])),
    "pan ms (median, longest)": await measured(60, () => { map.view.x += 3; map.moved(); }),
    "whole picture ms (median, longest)": await measured(20, () => map.draw(true)),
    "zoom ms (median, longest)": await measured(60, (i) => map.zoom(i < 30 ? 1.1 : 1 / 1.1)),
  };
}"""


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="posse-page-") as folder:
        path = Path(folder) / "large"
        large_snapshot(path)
        for name, value in (data_times(path) | browser_times(path)).items():
            print(f"{name:<36} {value}")


if __name__ == "__main__":
    main()
