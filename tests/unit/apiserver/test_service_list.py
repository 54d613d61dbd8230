"""Listing: selectors, pages, versions."""

import base64

import pytest

from posse.apiserver.requests import Selection
from posse.kinds.registry import EVENT, NAMESPACE, NODE, POD


@pytest.fixture
def many(service, pod):
    service.create(NAMESPACE, "", {"metadata": {"name": "other"}})
    for number in range(7):
        labels = {"parity": "even" if number % 2 == 0 else "odd"}
        service.create(POD, "default", pod(f"p{number}", metadata={"labels": labels}))
    service.create(POD, "other", pod("q0", metadata={"labels": {"parity": "even"}}))
    service.bind("default", "p3", {"target": {"name": "n1"}})
    return service


def names(listing):
    return [each["metadata"]["name"] for each in listing.items]


def test_a_listing_has_the_version_at_which_it_is_true(many):
    listing = many.list(POD, None)
    assert listing.resource_version == str(many.store.version)
    assert names(listing) == ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "q0"]
    assert names(many.list(POD, "other")) == ["q0"]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(labels="parity=even"), ["p0", "p2", "p4", "p6", "q0"]),
        (Selection(labels="parity notin (even)"), ["p1", "p3", "p5"]),
        (Selection(labels="!parity"), []),
        (Selection(fields="spec.nodeName=n1"), ["p3"]),
        (Selection(fields="spec.nodeName="), ["p0", "p1", "p2", "p4", "p5", "p6", "q0"]),
        (Selection(fields="metadata.name=p1"), ["p1"]),
        (Selection(fields="metadata.namespace!=default"), ["q0"]),
        (Selection(fields="status.phase=Pending", labels="parity=odd"), ["p1", "p3", "p5"]),
    ],
)
def test_selectors_choose_objects(many, selection, expected):
    assert names(many.list(POD, None, selection)) == expected


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(labels="a=="), None),
        (Selection(labels="a in ("), "unable to parse requirement"),
        (Selection(fields="spec.nodeName"), "unable to parse requirement"),
        (Selection(fields="spec.colour=red"), "field label not supported: spec.colour"),
    ],
)
def test_selectors_that_make_no_sense_are_refused(many, refused, selection, message):
    if message is None:
        assert names(many.list(POD, None, selection)) == []
        return
    error = refused(many.list, POD, None, selection)
    assert error.code == 400
    assert message in error.message


def test_events_can_be_selected_by_what_they_are_about(service):
    for name, about in (("e1", "p1"), ("e2", "p2")):
        involved = {"kind": "Pod", "name": about, "namespace": "default"}
        service.create(EVENT, "default", {"metadata": {"name": name}, "involvedObject": involved})
    found = service.list(EVENT, "default", Selection(fields="involvedObject.name=p2,involvedObject.kind=Pod"))
    assert names(found) == ["e2"]


def test_pages_together_are_the_whole_list_and_carry_one_version(many):
    pages, token = [], ""
    while True:
        page = many.list(POD, None, Selection(limit=3, continue_token=token))
        pages.append(page)
        token = page.continue_token
        if not token:
            break
    assert [names(page) for page in pages] == [["p0", "p1", "p2"], ["p3", "p4", "p5"], ["p6", "q0"]]
    assert [page.remaining for page in pages] == [5, 2, None]
    assert len({page.resource_version for page in pages}) == 1


def test_what_changes_between_pages_is_told_by_a_watch_from_the_lists_version(many, pod):
    first = many.list(POD, None, Selection(limit=4))
    many.delete(POD, "default", "p0")
    many.create(POD, "default", pod("p00"))
    many.delete(POD, "default", "p6")
    second = many.list(POD, None, Selection(limit=4, continue_token=first.continue_token))
    assert names(second) == ["p4", "p5", "p6", "q0"]
    assert second.resource_version == first.resource_version
    events = many.watch(POD, None, resource_version=int(second.resource_version)).drain()
    assert [(event.type, event.obj["metadata"]["name"]) for event in events] == [
        ("DELETED", "p0"),
        ("ADDED", "p00"),
        ("DELETED", "p6"),
    ]


def test_the_rest_is_not_counted_under_a_selector(many):
    page = many.list(POD, None, Selection(limit=2, labels="parity=even"))
    assert names(page) == ["p0", "p2"]
    assert page.remaining is None
    assert page.continue_token


def test_a_token_expires_when_the_changes_since_are_forgotten_and_another_goes_on(many, pod, refused):
    page = many.list(POD, None, Selection(limit=2))
    old = many.get(POD, "default", "p0")
    for number in range(300):
        changed = {**old, "metadata": {**old["metadata"], "labels": {"n": str(number)}}}
        del changed["metadata"]["resourceVersion"]
        many.update(POD, "default", "p0", changed)
    error = refused(many.list, POD, None, Selection(limit=2, continue_token=page.continue_token))
    assert (error.code, error.reason) == (410, "Expired")
    many.create(POD, "default", pod("p20"))
    further = error.status["metadata"]["continue"]
    rest = many.list(POD, None, Selection(limit=2, continue_token=further))
    assert names(rest) == ["p2", "p20"]
    assert int(rest.resource_version) == many.store.version
    assert names(many.list(POD, None, Selection(limit=2, continue_token=rest.continue_token))) == ["p3", "p4"]


@pytest.mark.parametrize("token", ["%%%", "aGVsbG8", base64.b64encode(b"[1]").decode()])
def test_a_token_from_elsewhere_is_refused(many, refused, token):
    error = refused(many.list, POD, None, Selection(limit=2, continue_token=token))
    assert error.code == 400
    assert "continue key is not valid" in error.message


def test_versions_up_to_the_present_can_be_asked_for(many, refused):
    present = many.store.version
    for version in ("0", "1", str(present)):
        assert len(many.list(POD, None, Selection(resource_version=version)).items) == 8
    error = refused(many.list, POD, None, Selection(resource_version=str(present + 1)))
    assert (error.code, error.reason) == (504, "Timeout")
    assert error.message == f"Too large resource version: {present + 1}, current: {present}"


def test_an_exact_version_is_shown_as_long_as_it_is_known(many, refused):
    present = many.store.version
    exact = Selection(resource_version=str(present), resource_version_match="Exact")
    many.delete(POD, "default", "p2")
    page = many.list(POD, None, exact)
    assert (len(page.items), page.resource_version) == (8, str(present))
    assert len(many.list(POD, None).items) == 7
    past = Selection(resource_version="1", resource_version_match="Exact")
    assert len(many.list(POD, None, past).items) == 0


def test_switches_that_are_not_set_are_selected_as_off(many):
    many.create(NODE, "", {"metadata": {"name": "open"}})
    many.create(NODE, "", {"metadata": {"name": "closed"}, "spec": {"unschedulable": True}})
    assert names(many.list(NODE, None, Selection(fields="spec.unschedulable=false"))) == ["open"]
    assert names(many.list(NODE, None, Selection(fields="spec.unschedulable!=false"))) == ["closed"]
    assert len(many.list(POD, None, Selection(fields="spec.hostNetwork=false")).items) == 8
