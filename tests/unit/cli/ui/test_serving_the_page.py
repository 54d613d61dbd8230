"""posse ui serves a running cluster, a snapshot or a recording; a scheduler starts it when it is opened."""

import asyncio
import json
import os
import signal

import aiohttp
import pytest

from posse.cli.run.page import page_words
from posse.cli.session import Rules
from posse.cli.ui import run as ui_run
from posse.cli.ui.run import PageOptions, serve_page
from posse.page.process import PageProcess
from posse.runtime.process.run_options import RunOptions

EXAMPLE = "examples/gang-too-big.yaml"


def options(tmp_path, kubeconfig=None, snapshot=None, recording=None):
    token = tmp_path / "token"
    token.write_text("a-token-for-tests-only")
    return PageOptions(
        kubeconfig, None, snapshot, recording, Rules(), kubeconfig is not None, 0, None, token, ""
    )


async def whole(session, url):
    headers = {"Authorization": "Bearer a-token-for-tests-only"}
    async with session.get(f"{url}/api/events", headers=headers) as stream:
        return json.loads((await stream.content.readuntil(b"\n\n")).split(b"data: ")[1])


def served(monkeypatch, chosen, ask):
    """Serve the page in this process, and return what `ask` finds out; a signal ends it."""
    found = []
    listen = ui_run._listen

    async def listening(*words):
        listener = await listen(*words)

        async def visit():
            async with aiohttp.ClientSession() as session:
                found.append(await ask(session, listener.url))
            os.kill(os.getpid(), signal.SIGTERM)

        visits.append(asyncio.ensure_future(visit()))
        return listener

    visits = []
    monkeypatch.setattr(ui_run, "_listen", listening)
    serve_page(chosen)
    return found[0]


def test_a_running_cluster_is_shown(posse, kubeconfig, tmp_path, monkeypatch):
    assert posse("apply", "-f", EXAMPLE, "--kubeconfig", kubeconfig).code == 0
    data = served(monkeypatch, options(tmp_path, kubeconfig=kubeconfig), whole)
    assert sorted(data["nodes"]) == ["node-0001", "node-0002"]
    gang = data["gangs"]["default/PodGroup/scheduling.k8s.io/colossus"]
    assert (gang["isWaiting"], gang["minimum"]) == (True, 9)
    assert data["source"] == {"isLive": True, "hasRecording": False, "time": "", "namespace": "default"}


@pytest.fixture
def snapshot(posse, kubeconfig, tmp_path):
    path = tmp_path / "cluster.snapshot"
    assert posse("snapshot", path, "--kubeconfig", kubeconfig).code == 0
    return path


def test_a_snapshot_is_shown(snapshot, tmp_path, monkeypatch):
    data = served(monkeypatch, options(tmp_path, snapshot=snapshot), whole)
    assert sorted(data["nodes"]) == ["node-0001", "node-0002"]
    assert (data["source"]["isLive"], bool(data["source"]["time"])) == (False, True)


def test_the_page_of_posse_run_reads_the_same_cluster_by_the_same_rules(tmp_path, monkeypatch):
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    chosen = RunOptions(kubeconfig=tmp_path / "k", context="lab", scheduler_names=("a", "b"), has_page=True)
    words = " ".join(page_words(chosen, "http://127.0.0.1:10259"))
    assert f"--kubeconfig {tmp_path / 'k'} --context lab --scheduler-name a --scheduler-name b" in words
    assert words.endswith("--metrics http://127.0.0.1:10259/metrics")
    assert page_words(RunOptions(), "https://0.0.0.0:1")[1].endswith("/.kube/config")


def test_a_snapshot_is_no_recording(posse, snapshot, tmp_path):
    refused = posse("ui", "--snapshot", snapshot, "--recording", tmp_path)
    assert (refused.code, "--snapshot excludes" in refused.err) == (2, True)
    refused = posse("ui", "--recording", tmp_path / "nothing")
    assert (refused.code, "holds no recording" in refused.err) == (1, True)


def test_the_page_of_a_scheduler_starts_when_it_is_opened_and_ends_with_it(snapshot, tmp_path):
    """Its process is started again if it was killed."""
    (tmp_path / "token").write_text("a-token-for-tests-only")
    words = ["ui", "--snapshot", str(snapshot), "--token-file", str(tmp_path / "token")]

    async def opened():
        page = PageProcess(words, 0, tmp_path / "page.log")
        page.start()
        url, _, token = page.address("x").partition("/#token=")
        assert token == "x"
        assert page.process is None
        try:
            async with aiohttp.ClientSession() as session:
                first = await whole(session, url)
                page.process.kill()
                await page.process.wait()
                return first, await whole(session, url)
        finally:
            running = page.process
            await page.stop()
            assert running.returncode is not None

    first, second = asyncio.run(asyncio.wait_for(opened(), 60))
    assert first == second
