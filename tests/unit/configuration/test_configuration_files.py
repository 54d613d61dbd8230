"""What a file may say, and how it is told what it may not."""

import pytest

from posse.configuration.problems import ConfigurationError
from posse.configuration.reading import read_configuration
from posse.configuration.running import LeaseTerms, Running
from posse.engine.queue.backlog import Backoff
from posse.engine.rules.registry import DEFAULT_PROFILE
from tests.support.configurations import (
    configured,
    disabled,
    document,
    enabled,
    filters,
    options,
    problems,
    read,
    scores,
)


def names(profile):
    return (
        [rule.name for rule in profile.preconditions],
        filters(profile),
        scores(profile),
        profile.policy,
        profile.preempts,
    )


def test_a_file_without_profiles_is_the_default_profile():
    profiles = options().profiles
    assert list(profiles) == ["default-scheduler"]
    assert names(profiles["default-scheduler"]) == names(DEFAULT_PROFILE)


def test_nulls_count_as_absent():
    assert list(options(profiles=None, parallelism=None).profiles) == ["default-scheduler"]


def test_a_profile_on_its_own_need_not_be_named():
    assert list(options({}).profiles) == ["default-scheduler"]
    assert list(options({"schedulerName": "mine"}).profiles) == ["mine"]


def test_the_names_of_profiles_are_the_schedulers_that_pods_may_name():
    profiles = options({"schedulerName": "a"}, {"schedulerName": "b"}).profiles
    assert list(profiles) == ["a", "b"]


def test_backoff_is_that_of_the_file():
    assert options().backoff == Backoff(1, 10)
    assert options(podInitialBackoffSeconds=2, podMaxBackoffSeconds=60).backoff == Backoff(2, 60)


def test_members_of_another_priority_are_ignored_or_refused():
    assert not options().members_must_match
    assert not options(memberPriority="Ignore").members_must_match
    assert options(memberPriority="MustMatch").members_must_match


@pytest.mark.parametrize(
    "fields",
    [
        {"parallelism": 16},
        {"percentageOfNodesToScore": 50},
        {"enableProfiling": True},
        {"enableContentionProfiling": False},
        {"delayCacheUntilActive": True},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_what_has_no_meaning_here_is_accepted_with_a_notice(fields):
    (notice,) = read(**fields).notices
    assert notice.startswith(f"{next(iter(fields))}: without effect; ")


@pytest.mark.parametrize(
    "fields",
    [
        {"leaderElection": {"leaderElect": True, "leaseDuration": "15s"}},
        {"clientConnection": {"kubeconfig": "/etc/kubernetes/scheduler.conf", "qps": 50}},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_what_has_no_meaning_in_an_embedded_cluster_is_noticed_there_only(fields):
    configuration = read(**fields)
    assert configuration.notices == ()
    (notice,) = configuration.embedded_notices
    assert notice.startswith(f"{next(iter(fields))}: without effect; ")


def test_who_leads_and_how_much_is_asked_is_that_of_the_file():
    assert read().running == Running()
    election = {
        "leaderElect": False,
        "resourceName": "mine",
        "resourceNamespace": "here",
        "leaseDuration": "1m30s",
        "renewDeadline": "20s",
        "retryPeriod": "500ms",
    }
    running = read(
        leaderElection=election, clientConnection={"kubeconfig": "k", "qps": 5, "burst": 9}
    ).running
    assert running == Running(
        leader_elect=False,
        terms=LeaseTerms("mine", "here", 90.0, 20.0, 0.5),
        kubeconfig="k",
        requests_per_second=5,
        burst=9,
    )


@pytest.mark.parametrize(
    ("election", "field"),
    [
        ({"leaseDuration": "soon"}, "leaseDuration"),
        ({"leaseDuration": "10s"}, "leaseDuration"),
        ({"leaseDuration": "500ms", "renewDeadline": "200ms", "retryPeriod": "100ms"}, "leaseDuration"),
        ({"renewDeadline": "2s"}, "renewDeadline"),
        ({"retryPeriod": "0s"}, "retryPeriod"),
        ({"resourceLock": "endpoints"}, "resourceLock"),
    ],
)
def test_terms_of_a_lease_that_cannot_work_are_refused(election, field):
    with pytest.raises(ConfigurationError, match=rf"leaderElection\.{field}: "):
        read(leaderElection=election)


@pytest.mark.parametrize("field", ["qps", "burst"])
def test_limits_are_not_negative(field):
    with pytest.raises(ConfigurationError, match=rf"clientConnection\.{field}: must not be negative"):
        read(clientConnection={field: -1})


@pytest.mark.parametrize(
    ("profile", "notice"),
    [
        ({"percentageOfNodesToScore": 5}, "profiles[0].percentageOfNodesToScore: without effect"),
        ({"plugins": {"preFilter": disabled("*")}}, "profiles[0].plugins.preFilter: without effect"),
        (
            {"plugins": {"queueSort": enabled("PrioritySort")}},
            "profiles[0].plugins.queueSort: without effect",
        ),
        (
            {"plugins": {"multiPoint": enabled("NodeDeclaredFeatures")}},
            "profiles[0].plugins.multiPoint.enabled: Posse has no NodeDeclaredFeatures",
        ),
        (
            configured("VolumeBinding", bindTimeoutSeconds=30),
            "profiles[0].pluginConfig[0].args: without effect",
        ),
        (
            configured("DefaultPreemption", minCandidateNodesPercentage=20),
            "profiles[0].pluginConfig[0].args: without effect",
        ),
        (
            configured("DynamicResources", filterTimeout="5s"),
            "profiles[0].pluginConfig[0].args: without effect",
        ),
    ],
)
def test_profiles_may_have_parts_without_effect_too(profile, notice):
    (found,) = read(profile).notices
    assert found.startswith(notice)


def test_a_file_that_is_something_else_is_told_just_that():
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {}}
    with pytest.raises(ConfigurationError) as refused:
        read_configuration(pod, {})
    assert str(refused.value) == (
        "apiVersion: must be kubescheduler.config.k8s.io/v1, not 'v1'\n"
        "kind: must be KubeSchedulerConfiguration, not 'Pod'"
    )
    for nonsense in ([], "text", None, 3):
        with pytest.raises(ConfigurationError, match="expected a KubeSchedulerConfiguration"):
            read_configuration(nonsense, {})


def test_older_versions_are_told_which_one_is_read():
    old = document() | {"apiVersion": "kubescheduler.config.k8s.io/v1beta3"}
    with pytest.raises(ConfigurationError, match=r"must be kubescheduler\.config\.k8s\.io/v1, not"):
        read_configuration(old, {})


WRONG_FILES = {
    "unknown-field": ({"paralelism": 3}, "paralelism", "unknown field; did you mean parallelism?"),
    "wrong-type": ({"parallelism": "16"}, "parallelism", "expected an integer, got a string"),
    "nested-type": (
        {"leaderElection": {"leaderElect": "yes"}},
        "leaderElection.leaderElect",
        "expected a boolean, got a string",
    ),
    "nested-unknown": (
        {"clientConnection": {"qsp": 3}},
        "clientConnection.qsp",
        "unknown field; did you mean qps?",
    ),
    "object-expected": ({"clientConnection": 3}, "clientConnection", "expected an object, got a number"),
    "list-expected": ({"profiles": {}}, "profiles", "expected a list, got an object"),
    "item-expected": ({"profiles": ["a"]}, "profiles[0]", "expected an object, got a string"),
    "no-parallelism": ({"parallelism": 0}, "parallelism", "must be greater than 0, not 0"),
    "percentage": (
        {"percentageOfNodesToScore": 101},
        "percentageOfNodesToScore",
        "must be from 0 to 100, not 101",
    ),
    "no-backoff": (
        {"podInitialBackoffSeconds": 0},
        "podInitialBackoffSeconds",
        "must be greater than 0, not 0",
    ),
    "backoff-shrinks": (
        {"podInitialBackoffSeconds": 20},
        "podMaxBackoffSeconds",
        "must not be less than the initial 20",
    ),
    "member-priority": (
        {"memberPriority": "Maybe"},
        "memberPriority",
        "must be Ignore or MustMatch, not 'Maybe'",
    ),
    "extenders": (
        {"extenders": [{"urlPrefix": "http://localhost"}]},
        "extenders",
        "Posse calls no extenders; remove them, or write what they do as a plugin",
    ),
    "unnamed": (
        {"profiles": [{"schedulerName": "a"}, {}]},
        "profiles[1].schedulerName",
        "is missing; with several profiles each needs a name of its own",
    ),
    "same-name": (
        {"profiles": [{"schedulerName": "a"}, {"schedulerName": "b"}, {"schedulerName": "a"}]},
        "profiles[2].schedulerName",
        "a is the name of profiles[0] already; choose another",
    ),
}


@pytest.mark.parametrize("case", WRONG_FILES)
def test_what_is_wrong_with_a_file_is_told_with_its_place(case):
    fields, path, message = WRONG_FILES[case]
    assert problems(**fields) == {path: message}


def test_all_problems_are_told_at_once():
    first = {"schedulerName": 5, "plugins": {"score": enabled(ImageLocality=-1)}} | configured("NodePorts")
    second = {"schedulerName": "b"} | configured("InterPodAffinity", hardPodAffinityWeight=101)
    assert sorted(problems(first, second, parallelism=0, profils=[])) == [
        "parallelism",
        "profiles[0].pluginConfig[0].name",
        "profiles[0].plugins.score.enabled[0].weight",
        "profiles[0].schedulerName",
        "profiles[1].pluginConfig[0].args.hardPodAffinityWeight",
        "profils",
    ]


def test_all_that_is_wrong_with_arguments_is_told_at_once():
    strategy = {"type": "Bogus", "resources": [{"name": "cpu", "weight": 500}, {"name": 5}]}
    found = problems(configured("NodeResourcesFit", scoringStrategy=strategy, wrong=1, kind="Other"))
    where = "profiles[0].pluginConfig[0].args"
    assert {path.removeprefix(f"{where}.") for path in found} == {
        "wrong",
        "kind",
        "scoringStrategy.type",
        "scoringStrategy.resources[0].weight",
        "scoringStrategy.resources[1].name",
    }
    assert found[f"{where}.scoringStrategy.resources[1].name"].startswith("expected a string")


def test_the_names_of_all_plugins_are_told_once():
    with pytest.raises(ConfigurationError) as raised:
        read({"plugins": {"filter": enabled("Zzz", "Yyy"), "score": enabled("NodePort")}})
    first, second, third = str(raised.value).splitlines()
    assert "there is no plugin 'Zzz'; there are " in first
    assert second.endswith("there is no plugin 'Yyy'")
    assert third.endswith("there is no plugin 'NodePort'; did you mean NodePorts?")
