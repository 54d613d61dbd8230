"""Runs every line of the `sh` blocks of docs/guides as it is written, against a real `posse up`."""

import json
import re
import shlex
import time
from pathlib import Path

import pytest

from posse.model.feature_gates import NEEDS, Gate
from tests.support import posse_command
from tests.support.warm_process import WarmProcess

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 30.0


def commands_of(page):
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def posse(line, kubeconfig):
    words = shlex.split(line)
    assert words[0] == "posse", f"the guide uses something this test cannot run: {line}"
    return posse_command.posse(*words, "--kubeconfig", kubeconfig)


@pytest.fixture
def words(request, tmp_path):
    """What the guide adds to `posse up`; logs go to the directory of the test."""
    return [
        str(tmp_path / word) if word.endswith(".jsonl") else word for word in getattr(request, "param", [])
    ]


@pytest.fixture
def cluster(tmp_path, words):
    """The kubeconfig of a running cluster like the one the guides start with."""
    kubeconfig = tmp_path / "kubeconfig"
    places = ["--port", "0", "--data-dir", tmp_path / "data", "--kubeconfig", kubeconfig]
    process = WarmProcess(["up", *words, *places], tmp_path / "log", XDG_DATA_HOME=str(tmp_path))
    wait_until(kubeconfig.exists, f"a cluster, see {tmp_path / 'log'}")
    yield kubeconfig
    assert process.stop(PATIENCE_SECONDS) == 0


def wait_until(holds, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.1)


def running(kubeconfig, prefix):
    pods = listed(kubeconfig, "pods")
    return sum(
        1
        for pod in pods
        if pod["metadata"]["name"].startswith(prefix) and pod["status"]["phase"] == "Running"
    )


def test_the_first_gang_goes_as_its_guide_says(cluster):
    commands = commands_of(ROOT / "docs" / "guides" / "first-gang.md")
    for line in commands:
        posse(line, cluster)
        if line == "posse apply -f examples/gang.yaml":
            wait_until(lambda: running(cluster, "trainer") == 4, "the gang of four")
        elif line == "posse get podgroup colossus -o yaml":
            assert running(cluster, "colossus") == 0
    wait_until(lambda: running(cluster, "colossus") == 9, "the gang of nine")


@pytest.mark.parametrize("words", [["--autoscale", "1"]], indirect=True)
def test_autoscaling_goes_as_its_guide_says(cluster):
    first, second = commands_of(ROOT / "docs" / "guides" / "autoscaling.md")
    posse(first, cluster)
    wait_until(lambda: running(cluster, "colossus") == 9, "the gang of nine")
    assert "autoscaled-0001" in posse(second, cluster)


@pytest.mark.parametrize("words", [["--record", "recording.jsonl"]], indirect=True)
def test_recordings_go_as_their_guide_says(cluster, words, tmp_path):
    places = {"build/recording": words[1], "build/then.gz": str(tmp_path / "then.gz")}
    first, second, *others = commands_of(ROOT / "docs" / "guides" / "what-happened.md")
    posse(first, cluster)
    wait_until(lambda: running(cluster, "trainer") == 4, "the gang of four")
    posse(second, cluster)

    def run(line):
        return posse_command.posse(*(places.get(word, word) for word in shlex.split(line)))

    again, what_if, *looks_back = others
    assert "all equal" in run(again)

    def starts_with_more_nodes():
        try:
            told = run(what_if)
        except AssertionError as differs:  # It ends with 3.
            told = str(differs)
        return "recorded never starts it, changed starts it after 0s" in told

    wait_until(starts_with_more_nodes, "the gang of nine in the recording")
    gangs, why, snapshot, gangs_again = [run(line) for line in looks_back]
    assert "trainer" in gangs
    assert "colossus" in why
    assert "objects as of" in snapshot
    assert "trainer" in gangs_again


def test_the_page_goes_as_its_guide_says(cluster):
    for line in commands_of(ROOT / "docs" / "guides" / "page.md"):
        words = shlex.split(line)
        told = posse_command.posse(*words, "--kubeconfig", cluster, codes=(0, 3))
        if line.endswith("gang.yaml"):
            wait_until(lambda: running(cluster, "trainer") == 4, "the gang of four")
        elif words[1] == "plan":
            assert "waits" in told
    log = (cluster.parent / "log").read_text()
    assert re.search(r"^  page        http://127\.0\.0\.1:\d+/#token=\S{20,}$", log, re.MULTILINE)


def test_simulations_go_as_their_guide_says(tmp_path):
    commands = commands_of(ROOT / "docs" / "guides" / "simulating.md")
    assert len(commands) == 6
    for line in commands:
        words = [str(tmp_path) if word == "build/simulation" else word for word in shlex.split(line)]
        started = "3/3" if "arrivals" in line else "160/160"
        assert started in posse_command.posse(*words)
    assert (tmp_path / "report.html").exists()


def nodes_of(kubeconfig, prefix):
    pods = listed(kubeconfig, "pods")
    return {
        pod["spec"].get("nodeName", "") for pod in pods if pod["metadata"]["name"].startswith(f"{prefix}-")
    }


def test_hierarchies_go_as_their_guide_says(cluster):
    for line in commands_of(ROOT / "docs" / "guides" / "hierarchies.md"):
        told = posse(line, cluster)
        if line == "posse apply -f examples/hierarchies/racks.yaml":
            wait_until(lambda: "rack-2" in posse("posse get nodes", cluster), "the racks")
        elif line == "posse apply -f examples/hierarchies/two-sizes.yaml":
            wait_until(lambda: running(cluster, "five") + running(cluster, "six") == 11, "the tree")
            assert (nodes_of(cluster, "five"), nodes_of(cluster, "six")) == ({"rack-1"}, {"rack-2"})
        elif line == "posse explain compositepodgroup/serving":
            page = (ROOT / "docs" / "guides" / "hierarchies.md").read_text()
            picture = page.partition("```\nIts tree\n")[2].partition("```")[0]
            assert picture in told
            assert nodes_of(cluster, "prefill") == {""}
    wait_until(lambda: not listed(cluster, "compositepodgroups"), "the end of the trees")


def listed(kubeconfig, what):
    return json.loads(posse(f"posse get {what} -o json", kubeconfig))["items"]


def is_complete(job):
    conditions = job.get("status", {}).get("conditions", [])
    return any(item["type"] == "Complete" and item["status"] == "True" for item in conditions)


def shards(kubeconfig):
    return [pod for pod in listed(kubeconfig, "pods") if pod["metadata"]["name"].startswith("shards")]


def test_jobs_go_as_their_guide_says(cluster):
    for line in commands_of(ROOT / "docs" / "guides" / "jobs.md"):
        posse(line, cluster)
        if line == "posse apply -f examples/job.yaml":
            wait_until(lambda: all(map(is_complete, listed(cluster, "jobs"))), "the completion of the Job")
            assert [job["status"]["completedIndexes"] for job in listed(cluster, "jobs")] == ["0-11"]
            names = [pod["metadata"]["name"].split("-")[:2] for pod in listed(cluster, "pods")]
            assert sorted(names) == sorted(["shards", str(index)] for index in range(12))
        elif line == "posse apply -f examples/job-gang.yaml":
            wait_until(lambda: all(map(is_complete, listed(cluster, "jobs"))), "the completion of the gang")
    wait_until(lambda: not shards(cluster), "the end of the pods")


def has_completed(kubeconfig, name):
    jobset = json.loads(posse(f"posse get jobset {name} -o json", kubeconfig))
    return jobset.get("status", {}).get("terminalState") == "Completed"


def test_jobsets_go_as_their_guide_says(cluster):
    for line in commands_of(ROOT / "docs" / "guides" / "jobsets.md"):
        posse(line, cluster)
    for name in ("pytorch", "shards", "mpi", "tree"):
        wait_until(lambda n=name: has_completed(cluster, n), f"the completion of {name}")
    groups = sorted(group["metadata"]["name"] for group in listed(cluster, "podgroups"))
    shards = [f"shards-pg-shard-{index}" for index in range(6)]
    assert groups == ["mpi-pg-workers", "pg-pytorch", *shards, "tree-pg-evaluator", "tree-pg-trainers"]


def test_stateful_sets_go_as_their_guide_says(cluster):
    for line in commands_of(ROOT / "docs" / "guides" / "statefulsets.md"):
        posse(line, cluster)
        if line == "posse apply -f examples/statefulsets/store.yaml":
            wait_until(lambda: running(cluster, "store") == 3, "the pods of the set")
        elif line == "posse apply -f examples/statefulsets/store-update.yaml":
            wait_until(lambda: images_of(cluster) == ["store:1", "store:2", "store:2"], "the new images")
        elif line == "posse apply -f examples/statefulsets/volumes.yaml":
            wait_until(lambda: running(cluster, "notes") == 2, "the pods with volumes")
            phases = [claim["status"]["phase"] for claim in listed(cluster, "persistentvolumeclaims")]
            assert phases == ["Bound", "Bound"]
    wait_until(lambda: not listed(cluster, "pods"), "the end of the pods")


def test_deployments_go_as_their_guide_says(cluster):
    for line in commands_of(ROOT / "docs" / "guides" / "deployments.md"):
        if line == "posse gangs":
            wait_until(lambda: len(listed(cluster, "pods")) == 9, "the pods of the next version")
            wait_until(lambda: "Waiting" in posse("posse gangs", cluster), "a gang that waits")
            assert running(cluster, "serving") == 0
            continue
        posse(line, cluster)
        if line == "posse apply -f examples/deployments/serving.yaml":
            wait_until(lambda: running(cluster, "serving") == 4, "the pods of the Deployment")
            [group] = listed(cluster, "podgroups")
            assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 4}}
    wait_until(
        lambda: not listed(cluster, "pods") and not listed(cluster, "podgroups"), "the end of the pods"
    )


def images_of(kubeconfig):
    pods = sorted(listed(kubeconfig, "pods"), key=lambda pod: pod["metadata"]["name"])
    return [pod["spec"]["containers"][0]["image"].rpartition("/")[2] for pod in pods]


def are_available(kubeconfig):
    sets = listed(kubeconfig, "leaderworkersets")
    return sets and all(
        any(item["type"] == "Available" and item["status"] == "True" for item in conditions_of(one))
        and one["status"]["observedGeneration"] == one["metadata"]["generation"]
        for one in sets
    )


def conditions_of(obj):
    return obj.get("status", {}).get("conditions", [])


def test_leader_worker_sets_go_as_their_guide_says(cluster):
    examples = "posse apply -f examples/leaderworkersets"
    for line in commands_of(ROOT / "docs" / "guides" / "leaderworkersets.md"):
        if line.startswith("posse apply") and "-update" not in line:
            wait_until(lambda: not listed(cluster, "pods"), "the end of the last set")
        posse(line, cluster)
        if line in {f"{examples}/{name}.yaml" for name in ("serving", "serving-update", "disaggregated")}:
            wait_until(lambda: are_available(cluster), f"the sets of {line}")
        elif line == f"{examples}/crowded.yaml":
            wait_until(lambda: ready_replicas(cluster) == 4, "the four replicas that fit")
            assert running(cluster, "crowded") == 8
        elif line == f"{examples}/crowded-leaders-first.yaml":
            wait_until(lambda: ready_replicas(cluster) == 4, "the four replicas that fit, leaders first")
            assert running(cluster, "leaders-first") == 8
        elif line == f"{examples}/crowded-one-by-one.yaml":
            wait_until(lambda: running(cluster, "stuck") == 8, "leaders on all nodes")
            assert ready_replicas(cluster) == 0
    images = {pod["spec"]["containers"][0]["image"] for pod in listed(cluster, "pods")}
    assert images == {"registry.example/engine:1", "registry.example/router:1"}
    wait_until(lambda: running(cluster, "") == 10, "prefill, decode and router")


def ready_replicas(kubeconfig):
    return sum(
        one.get("status", {}).get("readyReplicas", 0) for one in listed(kubeconfig, "leaderworkersets")
    )


_MEMBERS = {"by-spec": 3, "by-label": 3, "jobset": 4, "job-1-": 100, "coscheduled": 3, "erupting": 3}


def test_every_form_of_membership_goes_as_its_guide_says(cluster):
    for line in commands_of(ROOT / "docs" / "guides" / "membership.md"):
        posse(line, cluster)
    for prefix, count in _MEMBERS.items():
        wait_until(lambda p=prefix, c=count: running(cluster, p) == c, f"the pods of {prefix}")


def test_preemption_goes_as_its_guide_says(cluster):
    page = ROOT / "docs" / "guides" / "preemption.md"
    for line in commands_of(page):
        answer = posse(line, cluster)
        if line == "posse apply -f examples/preemption/trainings.yaml":
            wait_until(lambda: running(cluster, "night") + running(cluster, "day") == 8, "the trainings")
        elif line == "posse explain podgroup/patient":
            assert "not eligible due to preemptionPolicy=Never" in answer
        elif line == "posse apply -f examples/preemption/urgent.yaml":
            wait_until(lambda: running(cluster, "urgent") == 3, "the urgent gang")
        elif line == "posse explain podgroup/night":
            assert told(page)[-1] in answer
    assert [running(cluster, name) for name in ("night", "day", "patient")] == [0, 4, 0]


GATES_PAGE = ROOT / "docs" / "guides" / "feature-gates.md"
GATES = re.findall(r"^    posse up (--feature-gates=.*)$", GATES_PAGE.read_text(), re.MULTILINE)


@pytest.mark.parametrize("words", [GATES], indirect=True)
def test_gates_go_as_their_guide_says(cluster):
    for line in commands_of(GATES_PAGE):
        posse(line, cluster)
    wait_until(lambda: running(cluster, "colossus") == 8, "the pods that fit by themselves")
    wait_until(lambda: running(cluster, "expecting") == 2, "the pods of a group that expects more")
    assert all("status" not in group for group in listed(cluster, "podgroups"))


def test_the_guide_to_gates_names_each_with_what_it_needs():
    rows = {
        row[0]: set(re.findall(r"`(\w+)`", row[1]))
        for row in re.findall(r"^\| `(\w+)` \|([^|]*)\|", GATES_PAGE.read_text(), re.MULTILINE)
    }
    assert rows == {gate.value: {needed.value for needed in NEEDS.get(gate, ())} for gate in Gate}


def test_a_group_that_expects_more_pods_starts_with_those_there_are(cluster):
    posse("posse apply -f examples/desired-count/servers.yaml", cluster)
    wait_until(lambda: running(cluster, "expecting") == 2, "the two pods that exist")


@pytest.fixture
def beside(tmp_path, cluster):
    """A scheduler of its own process for pods that name it."""
    log = tmp_path / "run.log"
    words = ["run", "--kubeconfig", cluster, "--scheduler-name", "second", "--port", "0"]
    process = WarmProcess(words, log)
    yield process
    assert process.stop(PATIENCE_SECONDS) == 0, log.read_text()


def test_a_real_cluster_goes_as_its_guide_says(cluster, beside):
    for line in commands_of(ROOT / "docs" / "guides" / "real-cluster.md"):
        posse(line, cluster)
    wait_until(lambda: running(cluster, "crew") == 3, "the gang of the other scheduler")
    wait_until(lambda: running(cluster, "runs-on") == 1, "the pods of the cluster's own scheduler")
    sources = {
        event["source"]["component"] for event in listed(cluster, "events") if event["reason"] == "Scheduled"
    }
    assert sources == {"second", "default-scheduler"}


def without_ages(text):
    return re.sub(r"\b\d+s\b", "AGE", re.sub(r" +", " ", text))


def told(page):
    """The blocks that show what a command prints."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    return [text for language, text in blocks if not language]


def test_why_something_waits_is_told_as_its_guide_says(cluster):
    page = ROOT / "docs" / "guides" / "why-it-waits.md"
    _, table, story = told(page)
    for line in commands_of(page):
        if line == "posse gangs":
            wait_until(lambda: running(cluster, "trainer") == 4, "the gang of four")
        answer = posse(line, cluster)
        if line == "posse gangs":
            assert without_ages(answer) == without_ages(table)
        elif line == "posse explain podgroup/colossus":
            assert without_ages(answer).startswith(without_ages(story))
            assert story == readme_story()
        elif line == "posse get podgroup colossus -o yaml":
            wait_until(lambda line=line: ADVICE in unfolded(posse(line, cluster)), "advice in the condition")


@pytest.mark.parametrize(
    "words", [["--topology", "rack=2", "--log-decisions", "decisions.jsonl"]], indirect=True
)
def test_usage_and_history_are_told_as_their_guide_says(cluster, tmp_path):
    page = ROOT / "docs" / "guides" / "usage.md"
    table = told(page)[1]
    for line in commands_of(page):
        if line == "posse top":
            wait_until(lambda: running(cluster, "trainer") == 4, "the gang of four")
        answer = posse(line.replace("decisions.jsonl", str(tmp_path / "decisions.jsonl")), cluster)
        if line == "posse top":
            assert answer == table
        elif line == "posse top --by rack":
            assert [row.split()[0] for row in answer.splitlines()[3:]] == ["rack-1", "rack-2"]
        elif line.startswith("posse history"):
            assert "trainer" in answer


@pytest.mark.parametrize("words", [["--nodes", "4", "--topology", "rack=2"]], indirect=True)
def test_the_doctor_says_what_its_guide_says(cluster, tmp_path):
    page = ROOT / "docs" / "guides" / "doctor.md"
    codes = iter([0, 4, 4, 4])
    for line in commands_of(page):
        words = [str(tmp_path / word) if word.endswith(".snapshot") else word for word in shlex.split(line)]
        where = [] if "--snapshot" in words else ["--kubeconfig", cluster]
        code = next(codes) if words[1] == "doctor" else 0
        answer = posse_command.posse(*words, *where, codes=(code,))
        if line == "posse doctor" and code:
            assert answer.startswith(told(page)[1])
    assert next(codes, None) is None


PLAN_CODES = {
    "--add-nodes 5=node-0001": 0,
    "--min-count 4": 0,
    "--without podgroup/trainer --add-nodes 1=node-0001": 0,
    "--priority 1000 --add-nodes 1=node-0001": 4,
    "--add-nodes 5=node-0001 -o json": 0,
    "--drain rack=rack-1": 0,
    "--drain rack=rack-1 --drain rack=rack-2": 3,
    "--make-room-for podgroup/sextet": 0,
    "--make-room-for podgroup/sextet --apply": 0,
}


@pytest.mark.parametrize("words", [["--topology", "rack=2"]], indirect=True)
def test_plans_are_told_as_their_guide_says(cluster, tmp_path):
    page = ROOT / "docs" / "guides" / "plan.md"
    table = told(page)[1]
    for line in commands_of(page):
        words = [str(tmp_path / word) if word.endswith(".snapshot") else word for word in shlex.split(line)]
        if line == "posse plan -f examples/gang-too-big.yaml":
            wait_until(lambda: running(cluster, "trainer") == 4, "the gang of four")
        asked = line.removeprefix("posse plan ").removeprefix("-f examples/gang-too-big.yaml").strip()
        code = PLAN_CODES.get(asked, 3) if line.startswith("posse plan") else 0
        where = [] if "--snapshot" in words else ["--kubeconfig", cluster]
        answer = posse_command.posse(*words, *where, codes=(code,))
        if line == "posse plan -f examples/gang-too-big.yaml" or ("plan" in line and "--snapshot" in line):
            assert answer == table
        elif line.endswith("--make-room-for podgroup/sextet"):
            assert answer == told(page)[-1]
    wait_until(lambda: running(cluster, "sextet") == 6, "the gang of six in place of the gang of four")
    assert running(cluster, "colossus") == 0


ADVICE = "Any of these would let it start: 5 more nodes like node-0001; a minCount of 4 instead of 9."


def unfolded(text):
    """Return YAML with long strings on one line."""
    return " ".join(text.split())


RACKS = ["--nodes", "12", "--topology", "rack=3"]


PACKED = [
    *("--nodes", "64", "--topology", "rack=8"),
    *("--config", "examples/scheduler-configuration/packing.yaml"),
]


@pytest.mark.parametrize("words", [PACKED], indirect=True)
def test_racks_stay_whole_as_their_guide_says(cluster):
    page = ROOT / "docs" / "guides" / "packing.md"
    assert f"    posse up {' '.join(PACKED)}\n" in page.read_text()
    commands = commands_of(page)
    for line in commands[:2]:
        posse(line, cluster)
    wait_until(lambda: running(cluster, "sixteen") == 16, "the gang of sixteen")
    wait_until(lambda: running(cluster, "eight") == 8, "the gang of eight")
    assert "rack" in posse(commands[2], cluster)
    racks = {
        node["metadata"]["name"]: node["metadata"]["labels"]["topology.posse.dev/rack"]
        for node in listed(cluster, "nodes")
    }
    assert len({racks[node] for node in nodes_of(cluster, "sixteen")}) == 2
    for line in commands[3:]:
        assert "160/160" in posse_command.posse(*shlex.split(line))


BACKFILL = ["--nodes", "3", "--config", "examples/scheduler-configuration/backfill.yaml"]


@pytest.mark.parametrize("words", [BACKFILL], indirect=True)
def test_forecasts_come_true_as_their_guide_says(cluster):
    page = ROOT / "docs" / "guides" / "forecasts.md"
    assert f"    posse up {' '.join(BACKFILL)}\n" in page.read_text()
    first, large, gangs, explain, short, again, simulate = commands_of(page)
    posse(first, cluster)
    wait_until(lambda: running(cluster, "first") == 2, "the first gang")
    posse(large, cluster)
    wait_until(lambda: len(nodes_of(cluster, "large")) > 0, "the pods of the large gang")
    assert "STARTS" in posse(gangs, cluster).splitlines()[0]
    told = posse(explain, cluster)
    assert re.search(
        r"starts +between \S+ and \S+ \(80 %\), not before \S+; waits for the end of podgroup/first", told
    )
    posse(short, cluster)
    wait_until(lambda: running(cluster, "short") == 1 or "Finished" in posse(again, cluster), "the short job")
    assert running(cluster, "large") == 0
    notes = []

    def has_started():
        (group,) = (
            one for one in listed(cluster, "podgroups") if one["metadata"]["name"].startswith("large")
        )
        # It is removed some time after the start.
        notes.append((group["metadata"].get("annotations") or {}).get("scheduling.posse.dev/forecast"))
        return running(cluster, "large") == 3

    wait_until(has_started, "the large gang")
    note = json.loads(next(one for one in reversed(notes) if one))
    started = min(
        one["status"]["startTime"] for one in listed(cluster, "pods") if "large" in one["metadata"]["name"]
    )
    assert note["notBefore"] <= note["earliest"] <= started <= note["latest"]
    assert "IN BAND" in posse_command.posse(*shlex.split(simulate))


@pytest.mark.parametrize("words", [RACKS], indirect=True)
def test_gangs_in_one_rack_go_as_their_guide_says(cluster):
    page = ROOT / "docs" / "guides" / "topology.md"
    assert f"    posse up {' '.join(RACKS)}\n" in page.read_text()
    (story,) = told(page)
    for line in commands_of(page):
        if line.startswith("posse get podgroups"):
            wait_until(lambda: running(cluster, "ring") + running(cluster, "torus") == 7, "both gangs")
        answer = posse(line, cluster)
        if line == "posse explain podgroup/mesh":
            assert without_ages(answer).startswith(without_ages(story))
        elif line == "posse explain podgroup/preferring":
            assert "preferred topology   one topology.posse.dev/rack\n" in answer
            wait_until(lambda: running(cluster, "preferring") == 2, "the gang that prefers a rack")
    wait_until(lambda: running(cluster, "mesh") == 5, "the gang that waited for a fifth node")
    racks = {
        node["metadata"]["name"]: node["metadata"]["labels"]["topology.posse.dev/rack"]
        for node in listed(cluster, "nodes")
    }
    used = {pod["metadata"]["name"]: racks[pod["spec"]["nodeName"]] for pod in listed(cluster, "pods")}
    assert [len({rack for name, rack in used.items() if name.startswith(gang)}) for gang in GANGS] == [
        1,
        1,
        1,
        1,
    ]


GANGS = ("ring", "torus", "mesh", "preferring")


def readme_story():
    (block,) = (block for block in told(ROOT / "README.md") if block.startswith("$ posse explain"))
    return block.partition("\n")[2]


DEVICES = [
    "--nodes",
    "4",
    "--topology",
    "rack=2",
    "--devices",
    "gpus",
    "--devices",
    "nics",
    "--devices",
    "fabric",
    "--devices",
    "attachable",
]


@pytest.mark.parametrize("words", [DEVICES], indirect=True)
def test_devices_go_as_their_guide_says(cluster):
    page = ROOT / "docs" / "guides" / "devices.md"
    assert f"    posse up {' '.join(DEVICES)}\n" in page.read_text()
    for line in commands_of(page):
        if line.startswith("posse get resourceclaims,pods"):
            wait_until(lambda: running(cluster, "trainer") == 2, "the gang with devices")
        if line == "posse get pods -o wide":
            wait_until(
                lambda: running(cluster, "reader") + running(cluster, "writer") == 2, "those who share"
            )
        if line == "posse get resourceclaims -o yaml":
            wait_until(lambda: running(cluster, "patient") == 2, "the gang whose devices take time")
        if line == "posse explain pod/greedy":
            wait_until(lambda line=line: "cannot allocate all claims" in posse(line, cluster), "the reason")
        assert posse(line, cluster)
    claims = {claim["metadata"]["name"]: claim for claim in listed(cluster, "resourceclaims")}
    assert len(claims["accelerator"]["status"]["reservedFor"]) == 2
    assert "allocation" not in claims["sixteen"].get("status", {})
    [attached, _] = [claim for name, claim in claims.items() if name.startswith("patient")]
    assert attached["status"]["devices"][0]["conditions"][0]["status"] == "True"
    for name, claim in claims.items():
        if name.startswith("trainer"):
            results = claim["status"]["allocation"]["devices"]["results"]
            roots = {
                int(one["device"].split("-")[1]) // (2 if one["request"] == "gpus" else 1) for one in results
            }
            assert len(results) == 3
            assert len(roots) == 1
