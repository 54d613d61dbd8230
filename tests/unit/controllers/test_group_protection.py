import copy
import random

from posse.controllers.group_protection import PodGroupProtection, group_in_use, is_deleted
from posse.kinds.admission import POD_GROUP_FINALIZER
from posse.kinds.registry import POD, POD_GROUP, POSSE_POD_GROUP
from tests.support.plans import planned


def group(name="gang", finalizers=(POD_GROUP_FINALIZER,), deleted=True, namespace="default"):
    metadata = {"namespace": namespace, "name": name, "uid": "g", "resourceVersion": "9"}
    metadata["finalizers"] = list(finalizers)
    if deleted:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {"metadata": metadata}


def pod(name="p", group_name="gang", phase="Running", namespace="default"):
    spec = {"schedulingGroup": {"podGroupName": group_name}} if group_name else {}
    return {"metadata": {"namespace": namespace, "name": name}, "spec": spec, "status": {"phase": phase}}


def released(protection):
    steps = [step.obj["metadata"] for step in planned(protection)]
    return [(metadata["namespace"], metadata["name"]) for metadata in steps]


def test_a_deleted_group_without_pods_is_released_as_it_was_seen():
    protection = PodGroupProtection()
    protection.see(POD_GROUP, group(finalizers=["mine", POD_GROUP_FINALIZER]))
    (release,) = planned(protection)
    assert (release.kind, release.obj["metadata"]["name"]) == (POD_GROUP, "gang")
    assert release.patch == {"metadata": {"uid": "g", "resourceVersion": "9", "finalizers": ["mine"]}}


def test_the_last_finalizer_is_removed_with_its_list():
    protection = PodGroupProtection()
    protection.see(POD_GROUP, group())
    (release,) = planned(protection)
    assert release.patch["metadata"]["finalizers"] is None


def test_a_group_is_released_once_per_change():
    protection = PodGroupProtection()
    protection.see(POD_GROUP, group())
    assert released(protection) == [("default", "gang")]
    assert released(protection) == []
    protection.see(POD_GROUP, group())
    assert released(protection) == [("default", "gang")]


def test_groups_that_are_not_deleted_or_not_protected_are_left_alone():
    protection = PodGroupProtection()
    protection.see(POD_GROUP, group(deleted=False))
    protection.see(POD_GROUP, group("other", finalizers=["mine"]))
    assert released(protection) == []


def test_a_live_pod_holds_its_group_until_it_ends():
    protection = PodGroupProtection()
    protection.see(POD, pod())
    protection.see(POD_GROUP, group())
    assert released(protection) == []
    protection.see(POD, pod(phase="Succeeded"))
    assert released(protection) == [("default", "gang")]


def test_a_live_pod_holds_its_group_until_it_is_gone():
    protection = PodGroupProtection()
    protection.see(POD_GROUP, group())
    protection.see(POD, pod("a"))
    protection.see(POD, pod("b", phase="Pending"))
    assert released(protection) == []
    protection.lose(POD, pod("a"))
    assert released(protection) == []
    protection.lose(POD, pod("b"))
    assert released(protection) == [("default", "gang")]


def test_a_pod_being_deleted_still_counts():
    going = pod()
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert group_in_use(going) == "default/gang"


def test_pods_of_other_namespaces_and_groups_do_not_count():
    protection = PodGroupProtection()
    protection.see(POD, pod("a", namespace="elsewhere"))
    protection.see(POD, pod("b", group_name="another"))
    protection.see(POD, pod("c", group_name=None))
    protection.see(POD_GROUP, group())
    assert released(protection) == [("default", "gang")]


def test_a_pod_without_a_status_counts_as_live():
    fresh = pod()
    del fresh["status"]
    assert group_in_use(fresh) == "default/gang"


def test_a_group_that_vanished_is_forgotten():
    protection = PodGroupProtection()
    protection.see(POD, pod())
    protection.see(POD_GROUP, group())
    protection.lose(POD_GROUP, group())
    protection.lose(POD, pod("p"))
    protection.lose(POD, pod("never-seen"))
    assert released(protection) == []


def test_nothing_seen_is_changed():
    seen = group()
    before = copy.deepcopy(seen)
    protection = PodGroupProtection()
    protection.see(POD_GROUP, seen)
    planned(protection)
    assert seen == before


def test_agrees_with_looking_at_everything_anew():
    dice = random.Random(3)
    protection, groups, pods = PodGroupProtection(), {}, {}
    for _ in range(4000):
        number = dice.randrange(6)
        match dice.randrange(4):
            case 0:
                made = group(f"g{number}", deleted=dice.random() < 0.5)
                groups[made["metadata"]["name"]] = made
                protection.see(POD_GROUP, made)
            case 1:
                groups.pop(f"g{number}", None)
                protection.lose(POD_GROUP, group(f"g{number}"))
            case 2:
                made = pod(f"p{number}", f"g{number % 3}", dice.choice(["Running", "Failed"]))
                pods[f"p{number}"] = made
                protection.see(POD, made)
            case 3:
                pods.pop(f"p{number}", None)
                protection.lose(POD, pod(f"p{number}"))
        used = {group_in_use(made) for made in pods.values()} - {None}
        free = {name for name, made in groups.items() if is_deleted(made) and f"default/{name}" not in used}
        now_released = {name for _, name in released(protection)}
        assert now_released <= free
        for name in now_released:
            # Carried out: the group goes at once, as its only finalizer is gone.
            del groups[name]
            protection.lose(POD_GROUP, group(name))
        assert not free - now_released


def labelled(name="p", group_name="gang", phase="Running"):
    one = pod(name, None, phase)
    one["metadata"]["labels"] = {"scheduling.posse.dev/pod-group": group_name}
    return one


def test_a_custom_resource_is_held_by_pods_with_its_label():
    protection = PodGroupProtection(POSSE_POD_GROUP)
    protection.see(POD, labelled())
    protection.see(POD, pod("native", "gang"))
    protection.see(POSSE_POD_GROUP, group())
    assert released(protection) == []
    protection.see(POD, labelled(phase="Succeeded"))
    (release,) = planned(protection)
    assert release.kind is POSSE_POD_GROUP


def test_without_admission_a_group_gets_its_finalizer_once_it_has_pods():
    protection = PodGroupProtection(POSSE_POD_GROUP, adds_finalizer=True)
    protection.see(POSSE_POD_GROUP, group(finalizers=["mine"], deleted=False))
    assert planned(protection) == []
    protection.see(POD, labelled())
    (amended,) = planned(protection)
    assert amended.patch["metadata"]["finalizers"] == ["mine", POD_GROUP_FINALIZER]
    protection.see(POSSE_POD_GROUP, group(deleted=False))
    assert planned(protection) == []
    protection.see(POSSE_POD_GROUP, group(finalizers=["mine"], deleted=True))
    assert planned(protection) == [], "nothing may be added to what is being deleted"


def test_a_finalizer_that_was_removed_by_hand_stays_removed():
    protection = PodGroupProtection(POSSE_POD_GROUP, adds_finalizer=True)
    protection.see(POD, labelled())
    protection.see(POSSE_POD_GROUP, group(finalizers=[POD_GROUP_FINALIZER], deleted=False))
    protection.see(POSSE_POD_GROUP, group(finalizers=[], deleted=False))
    assert planned(protection) == []


def test_with_admission_nothing_is_added():
    protection = PodGroupProtection(POSSE_POD_GROUP)
    protection.see(POSSE_POD_GROUP, group(finalizers=[], deleted=False))
    protection.see(POD, labelled())
    assert planned(protection) == []
