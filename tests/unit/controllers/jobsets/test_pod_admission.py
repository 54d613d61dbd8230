"""Pods of JobSets at creation: they say their priority, and repel others of it where a domain is theirs alone."""

import random

from posse.apiserver.service import ApiService
from posse.controllers.pod_admission import complete_new_pod
from posse.kinds.registry import NAMESPACE, POD, PRIORITY_CLASS
from posse.store.store import Store
from tests.support.jobset_plans import PREFIX, jobset, made, plan, replicated_job

EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
BY_NODE_SELECTOR = "alpha.jobset.sigs.k8s.io/node-selector"
KEYS = [PREFIX + "job-key", PREFIX + "job-key", PREFIX + "priority"]


def created(template, **spec):
    """A pod as the embedded server stores it."""
    service = ApiService(Store(), lambda: 1.8e9, random.Random(1), admission={POD: complete_new_pod})
    service.create(NAMESPACE, "", {"metadata": {"name": "default"}})
    service.create(PRIORITY_CLASS, "", {"metadata": {"name": "high"}, "value": 1000})
    pod = {"metadata": {"name": "p", **template["metadata"]}, "spec": template["spec"] | spec}
    return service.create(POD, "default", pod)


def template_of(**annotations):
    return made(plan(jobset(replicated_job("workers"), annotations=annotations)))[0]["spec"]["template"]


def repelled(pod):
    (term,) = pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return term["labelSelector"]["matchExpressions"]


def test_pods_of_a_jobset_say_their_priority():
    assert created(template_of())["metadata"]["labels"][PREFIX + "priority"] == "0"
    pod = created(template_of(), priorityClassName="high")
    assert pod["metadata"]["labels"][PREFIX + "priority"] == str(pod["spec"]["priority"]) == "1000"


def test_an_exclusive_domain_is_kept_from_pods_of_the_same_priority():
    pod = created(template_of(**{EXCLUSIVE: "rack"}), priorityClassName="high")
    assert [item["key"] for item in repelled(pod)] == KEYS
    assert repelled(pod)[-1] == {"key": PREFIX + "priority", "operator": "In", "values": ["1000"]}


def test_other_pods_are_left_alone():
    plain = {"metadata": {}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    assert "labels" not in created(plain)["metadata"]
    selected = created(template_of(**{EXCLUSIVE: "rack", BY_NODE_SELECTOR: "true"}))
    assert PREFIX + "priority" not in selected["metadata"]["labels"]
