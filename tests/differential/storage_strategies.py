"""Small clusters with storage for property tests. What is unusual is rare, so that claims and volumes meet often.

Objects are made beforehand, many of each, and drawn whole: drawing them field by field takes longer than testing them.
"""

import random

from hypothesis import strategies as st

from tests.differential.storage_oracle import ZONES, World
from tests.support.builders import node, pod, requirement
from tests.support.storage_objects import DRIVER, claim, csi_driver, csi_node, storage_class, using, volume

NODES = ["n0", "n1", "n2"]
CLAIMS = ["c0", "c1", "c2"]
VOLUMES = ["v0", "v1", "v2", "v3"]
ALL_CLASSES = (
    storage_class("late"),
    storage_class("made", DRIVER),
    storage_class("zoned", "other.example.com", zones=("west",)),
    storage_class("now", late=False),
)
DELETED = "2026-01-01T00:00:00Z"
OF_EACH = 300

dice = random.Random(3)


def usually(value, *others, times=8):
    return dice.choice([value] * times + list(others))


def size():
    return dice.choice(["1Gi", "2Gi", "3Gi"])


def storage_class_name():
    return usually("late", "made", "made", "zoned", "now")


def tier():
    return dice.choice([{"tier": "x"}, {"tier": "y"}])


def places(*values, chance):
    """Labels that say where something is, once in a while."""
    keys = dice.sample(ZONES, dice.randint(1, 2)) if dice.random() < chance else []
    return {key: dice.choice(values) for key in keys}


def reach():
    """From where a volume can be reached."""
    wanted = requirement("zone", dice.choice(["In", "NotIn"]), dice.choice(["east", "west"]))
    hosts = requirement("host", "In", *dice.sample(NODES, dice.randint(1, 2)))
    exists = requirement("zone", dice.choice(["Exists", "DoesNotExist"]))
    return dice.choice([None, None, [hosts], [hosts], [hosts], [wanted], [exists], [hosts, wanted], []])


def random_node(name):
    zone = dice.choice([{}, {"zone": "east"}, {"zone": "west"}])
    return node(name, labels={"host": name} | zone | places("a", "b", chance=0.6))


def random_claim(name):
    access = usually(("ReadWriteOnce",), ("ReadWriteOncePod",), ("ReadWriteOncePod",), ("ReadWriteMany",))
    if dice.random() < 0.4:
        behind = dice.choice([*VOLUMES, *VOLUMES, "gone"])
        return claim(
            name, of=storage_class_name(), modes=access, volume=behind, phase=usually("Bound", "Lost")
        )
    return claim(
        name,
        size(),
        of=storage_class_name(),
        modes=access,
        match_labels=dice.choice([None, None, None, {}, tier()]),
        mode=usually(None, "Filesystem", "Block"),
        annotations=usually({}, {"volume.kubernetes.io/selected-node": "n1"}),
        deleted=usually("", DELETED, times=20),
    )


def random_volume(name):
    access = ["ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"]
    return volume(
        name,
        size(),
        of=storage_class_name(),
        on=reach(),
        modes=usually(access, access[:1], access[1:]),
        mode=usually(None, "Filesystem", "Block"),
        labels=tier() | places("a", "b", "a__b", "a__", chance=0.6),
        phase=usually("Available", "Released"),
        kept_for=usually("", *CLAIMS, times=12),
        deleted=usually("", DELETED, times=20),
        handle=dice.choice(["", f"handle-{name}"]),
    )


def random_csi_node(name):
    return csi_node(name, dice.choice([None, 0, 1, 1, 2]), usually(DRIVER, ""))


def nearly_all(names, make):
    """One object for each of the names, or for all but one."""
    pools = [st.sampled_from([make(name) for _ in range(OF_EACH)]) for name in names]
    absent = st.sampled_from([None] * len(names) + list(names))
    return st.tuples(absent, *pools).map(
        lambda drawn: [obj for obj in drawn[1:] if obj.metadata.name != drawn[0]]
    )


worlds = st.builds(
    World,
    nodes=st.tuples(*(st.sampled_from([random_node(name) for _ in range(OF_EACH)]) for name in NODES)),
    claims=nearly_all(CLAIMS, random_claim),
    volumes=nearly_all(VOLUMES, random_volume),
    classes=st.just(ALL_CLASSES),
    csi_nodes=nearly_all(NODES, random_csi_node),
    csi_drivers=st.sampled_from([(), (), (csi_driver(),), (csi_driver(insists=False),)]),
)

some_claims = st.sampled_from([("c0",), ("c1",), ("c2",), ("c0", "c1"), ("c2", "c1"), ("c1", "c2", "c0")])


def pods(name="p"):
    """A pod with some of the claims."""
    return some_claims.map(lambda chosen: pod(name, volumes=using(*chosen)))


def some_pods(prefix, least, most):
    """Pods with names of their own."""
    return st.lists(some_claims, min_size=least, max_size=most).map(
        lambda drawn: [
            pod(f"{prefix}{number}", volumes=using(*chosen)) for number, chosen in enumerate(drawn)
        ]
    )


neighbours = st.lists(st.tuples(some_claims, st.sampled_from(NODES)), max_size=3).map(
    lambda drawn: [
        (pod(f"there-{number}", volumes=using(*chosen)), name) for number, (chosen, name) in enumerate(drawn)
    ]
)
