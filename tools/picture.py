"""Draw the picture of the README: an embedded cluster with two gangs, as `posse up` shows it."""

import asyncio
import io
import re
import tempfile
from pathlib import Path

from rich.console import Console

from posse.cli.up.examples import read_example
from posse.cli.up.live_view import picture
from posse.runtime.embedded.cluster import EmbeddedCluster
from posse.runtime.process.options import ClusterOptions

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "up.svg"
SETTLE_SECONDS = 3.0


async def draw(folder: Path) -> str:
    cluster = EmbeddedCluster(ClusterOptions(data_dir=folder, port=0))
    await cluster.start()
    try:
        for name in ("gang", "gang-too-big"):
            await cluster.add([(item.kind, "default", item.obj) for item in read_example(name)])
        await asyncio.sleep(SETTLE_SECONDS)
        console = Console(record=True, width=128, height=34, file=io.StringIO())
        console.print("[bold]$ make run[/bold]")
        console.print(
            picture(cluster.node_usage(), await cluster.scheduling(), console.height, console.width)
        )
        # Without the web fonts that Rich refers to: the picture shall load nothing from elsewhere.
        return re.sub(r"@font-face \{.*?\}", "", console.export_svg(title="posse up"), flags=re.DOTALL)
    finally:
        await cluster.stop()


def main() -> None:
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="posse-picture-") as folder:
        PICTURE.write_text(asyncio.run(draw(Path(folder) / "data")))


if __name__ == "__main__":
    main()
