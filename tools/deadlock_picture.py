"""Draw the picture of the guide to LeaderWorkerSets: replicas as gangs and pod by pod."""

import asyncio
import io
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from posse.cli.manifests import read_manifests
from posse.cli.session import connected
from posse.runtime.embedded.cluster import EmbeddedCluster
from posse.runtime.process.options import ClusterOptions

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "leaderworkersets.svg"
EXAMPLES = ROOT / "examples" / "leaderworkersets"
PODS_PATH = "/api/v1/namespaces/default/pods"
SETTLE_SECONDS = 6.0
# What is drawn, and what is to be seen in it.
SCENES = {
    "crowded": "As gangs: four replicas serve",
    "crowded-one-by-one": "Pod by pod: eight leaders, no workers, nothing serves",
}


async def pods_of(example: str, folder: Path) -> list[Json]:
    """Return the pods of an example when everything has come to rest."""
    options = ClusterOptions(data_dir=folder, port=0)
    cluster = EmbeddedCluster(options)
    await cluster.start()
    try:
        manifests = read_manifests(str(EXAMPLES / f"{example}.yaml"))
        await cluster.add([(item.kind, "default", item.obj) for item in manifests])
        await asyncio.sleep(SETTLE_SECONDS)
        return await asyncio.to_thread(_list_pods, options.kubeconfig)
    finally:
        await cluster.stop()


def _list_pods(kubeconfig: Path) -> list[Json]:
    with connected(kubeconfig) as client:
        items: list[Json] = client.get(PODS_PATH)["items"]
        return items


def drawn(title: str, pods: Sequence[Json]) -> Panel:
    nodes = {pod["spec"]["nodeName"]: pod["metadata"]["name"] for pod in pods if pod["spec"].get("nodeName")}
    waiting = [pod["metadata"]["name"] for pod in pods if not pod["spec"].get("nodeName")]
    served = [name for name in nodes.values() if _leader(name) in nodes.values() and _is_whole(name, nodes)]
    text = Text()
    for node, name in sorted(nodes.items()):
        is_serving = name in served
        text.append(f"{node}  ")
        text.append("████████ ", "green" if is_serving else "red")
        text.append(f"{name:<12}", "bold" if name == _leader(name) else "")
        text.append("serves\n" if is_serving else "waits for its worker\n")
    text.append(f"\nwithout a node: {len(waiting)} pods", "dim")
    return Panel(text, title=title, width=60)


def _leader(name: str) -> str:
    return "-".join(name.split("-")[:2])


def _is_whole(name: str, nodes: dict[str, str]) -> bool:
    return f"{_leader(name)}-1" in nodes.values()


async def draw(folder: Path) -> str:
    panels = [drawn(title, await pods_of(name, folder / name)) for name, title in SCENES.items()]
    console = Console(record=True, width=124, file=io.StringIO())
    console.print(Columns(panels))
    # Without the web fonts that Rich refers to: the picture shall load nothing from elsewhere.
    svg = console.export_svg(title="eight replicas of two pods on eight nodes")
    return re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="posse-picture-") as folder:
        PICTURE.write_text(asyncio.run(draw(Path(folder))))


if __name__ == "__main__":
    main()
