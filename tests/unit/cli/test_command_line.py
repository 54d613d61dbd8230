import inspect
import re
import subprocess
import sys
from importlib import import_module

import pytest
import yaml

from posse.apiserver.http.kubeconfig import ServerAccess, kubeconfig
from posse.cli.help_text import rewrapped
from posse.cli.verbs import VERBS
from posse.model.feature_gates import ALL_GATES, Gate
from posse.runtime.process.options import ClusterOptions
from posse.version import VERSION


@pytest.fixture
def asked(monkeypatch):
    """Collect what `posse up` would serve instead of serving it."""
    calls = []
    monkeypatch.setattr("posse.cli.up.run.serve", lambda options, examples: calls.append((options, examples)))
    return calls


def test_the_version_is_that_of_the_package(posse):
    assert posse("version").out == f"posse {VERSION}\n"
    assert posse("--version").out == f"posse {VERSION}\n"
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", VERSION)


def test_help_teaches(posse):
    top = posse("--help").out
    for verb in ("up", "gangs", "explain", "apply", "get", "delete", "version"):
        assert re.search(rf"│ {verb} ", top)
    for verb in ("up", "gangs", "explain", "apply", "get", "delete"):
        text = posse(verb, "-h").out
        assert "Examples" in text
        assert f"posse {verb}" in text


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_fits_a_terminal_of_80_columns(posse, monkeypatch, verb):
    monkeypatch.setenv("COLUMNS", "80")
    text = posse(*filter(None, [verb]), "--help").out
    assert "<bool>" not in text
    assert "range>" not in text
    options = [line for line in text.splitlines() if line.startswith("│ --")]
    assert all(len(line) <= 80 for line in text.splitlines())
    assert options


@pytest.mark.parametrize("verb", VERBS)
def test_examples_of_a_verb_are_one_line_each_in_80_columns(verb):
    function = getattr(import_module(VERBS[verb][0]), verb)
    examples = [line for line in inspect.getdoc(function).splitlines() if line.startswith(" ")]
    assert [line for line in examples if len(line) > 78] == []


def test_paragraphs_of_help_are_wrapped_to_the_terminal():
    assert rewrapped("One\n    line.\n\n      an example\n") == "One line.\n\n  an example"


def loaded_by(*words):
    """The packages that a process has loaded once the command has run."""
    program = "import sys; from posse.cli.main import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "unneeded"),
    [
        (("version",), {"msgspec", "numpy", "yaml", "aiohttp", "rich", "posse.kinds.registry"}),
        (("get", "--help"), {"numpy", "ortools", "aiohttp", "kubernetes_asyncio", "cryptography"}),
        (("up", "--help"), {"numpy", "ortools", "aiohttp", "kubernetes_asyncio"}),
        (("explain", "--help"), {"numpy", "ortools", "aiohttp"}),
    ],
)
def test_a_verb_loads_only_what_it_needs(words, unneeded):
    assert loaded_by(*words) & unneeded == set()


def test_ctrl_c_while_a_verb_is_loaded_prints_nothing(posse, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("posse.cli.verbs.import_module", interrupted)
    assert posse("up") == (130, "", "")


def test_completion_can_be_had(posse):
    assert "--install-completion" in posse("--help").out


def test_up_without_options_takes_the_defaults(posse, asked, tmp_path):
    assert posse("up").code == 0
    ((options, examples),) = asked
    assert options == ClusterOptions(data_dir=tmp_path / "share" / "posse" / "default", port=6553)
    assert examples == []


def test_up_with_everything(posse, asked, tmp_path):
    words = ["--nodes", "0", "--topology", "block=2,rack=4", "--data-dir", tmp_path / "d", "--port", "0"]
    result = posse(
        "up", *words, "--kubeconfig", tmp_path / "k", "--example", "gang", "--example", "single-pods"
    )
    assert result.code == 0, result.err
    ((options, examples),) = asked
    assert (options.node_count, options.port, options.data_dir) == (0, 0, tmp_path / "d")
    assert [(level.name, level.count) for level in options.topology] == [("block", 2), ("rack", 4)]
    assert options.kubeconfig == tmp_path / "k"
    assert len(examples) == 9


def test_up_hands_on_how_long_an_exact_search_may_take(posse, asked):
    assert posse("up", "--exact-search", "2.5").code == 0
    ((options, _),) = asked
    assert options.exact_search == 2.5


def test_up_hands_the_feature_gates_on(posse, asked):
    words = ["--feature-gates=DelayedPreemption=false,WorkloadWithJob=true", "--feature-gates"]
    assert posse("up", *words, "WorkloadWithJob=false").code == 0
    ((options, _),) = asked
    assert ALL_GATES - options.gates == {Gate.DELAYED_PREEMPTION, Gate.WORKLOAD_WITH_JOB}


@pytest.mark.parametrize("verb", ["up", "run"])
def test_help_names_every_feature_gate_on_a_narrow_terminal(posse, monkeypatch, verb):
    monkeypatch.setenv("COLUMNS", "80")
    text = posse(verb, "--help").out
    assert all(gate in text for gate in Gate)


@pytest.mark.parametrize("verb", VERBS)
def test_help_cuts_nothing_short_on_a_narrow_terminal(posse, monkeypatch, verb):
    monkeypatch.setenv("COLUMNS", "80")
    assert "…" not in posse(verb, "--help").out


def test_help_shows_how_feature_gates_are_switched(posse):
    text = posse("up", "--help").out
    assert "--feature-gates=GangScheduling=false,WorkloadAwarePreemption=false" in text


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--topology", "block"], 2, '--topology: "block"'),
        (["--example", "nope"], 2, '--example: there is no example "nope"; there are basic-group'),
        (["--nodes", "-1"], 2, "--nodes"),
        (["--nodes", "many"], 2, "--nodes"),
        (["--port", "70000"], 2, "--port"),
        (["--unknown"], 2, "--unknown"),
        (
            ["--feature-gates", "Gangs=true"],
            2,
            '--feature-gates: there is no feature gate "Gangs"; known are GenericWorkload, GangScheduling,',
        ),
        (["--feature-gates=GangScheduling"], 2, "write GangScheduling=true or GangScheduling=false"),
        (
            ["--feature-gates=GangScheduling=maybe"],
            2,
            '--feature-gates: GangScheduling is "maybe", which is neither true nor false',
        ),
        (
            ["--feature-gates=TopologyAwareWorkloadScheduling=false"],
            2,
            (
                "--feature-gates: CompositePodGroup needs TopologyAwareWorkloadScheduling, which is off; "
                "add CompositePodGroup=false"
            ),
        ),
        (
            ["--example", "gang", *(f"--feature-gates={gate}=false" for gate in Gate)],
            2,
            "--example: gang has a PodGroup, which --feature-gates switches off",
        ),
    ],
)
def test_up_refuses_what_makes_no_sense(posse, asked, words, code, says):
    result = posse("up", *words)
    assert result.code == code
    assert says in result.err
    assert "Traceback" not in result.err
    assert asked == []


def test_a_kubeconfig_that_is_not_from_posse_is_never_overwritten(posse, asked, tmp_path):
    path = tmp_path / "config"
    for text in (
        "precious",
        "contexts: [{name: production}]",
        "contexts: [{name: posse}, {name: production}]",
    ):
        path.write_text(text)
        result = posse("up", "--kubeconfig", path)
        assert result.code == 1
        assert str(path) in result.err
        assert path.read_text() == text
    path.write_text(yaml.safe_dump(kubeconfig(ServerAccess("https://x", b"", "t"))))
    assert posse("up", "--kubeconfig", path).code == 0
