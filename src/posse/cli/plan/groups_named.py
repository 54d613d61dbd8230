"""The groups that an option of `posse plan` names: by themselves, or by the controller that made them."""

from posse.cli.explain.controller_words import controller_object
from posse.cli.explain.targets import groups_meant, parse_target, typed
from posse.cli.problems import Misuse, Problem
from posse.cli.reading.cluster_reader import Survey
from posse.cli.reading.owners import CONTROLLERS, Owners
from posse.cli.reading.sources import ClusterSource
from posse.engine.keys import GroupKey


def groups_named(
    source: ClusterSource, survey: Survey, option: str, named: str, namespace: str
) -> list[GroupKey]:
    """Misuse or Problem: it is no group, or is not there."""
    target = parse_target(named)
    if target.kind in CONTROLLERS:
        uid = controller_object(source, target, namespace)["metadata"].get("uid", "")
        keys = Owners(survey, source, namespace).groups_of(uid, namespace)
        if not keys:
            raise Problem(f"{option}: {named} has no pod group; `posse explain {named}` says what it has")
        return keys
    if not target.forms:
        raise Misuse(f"{option}: {named!r} is not a group, as in podgroup/NAME or job/NAME")
    return groups_meant(survey, target, namespace)


def group_named(source: ClusterSource, survey: Survey, option: str, named: str, namespace: str) -> GroupKey:
    """The same for an option about one group."""
    keys = groups_named(source, survey, option, named, namespace)
    if len(keys) > 1:
        raise Problem(f"{option}: {named} has {len(keys)} groups; name one of them, as in {typed(keys[0])}")
    return keys[0]
