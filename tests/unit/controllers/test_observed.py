"""What is seen late, twice or after it had gone."""

from posse.controllers.observed import ObservedObjects
from posse.kinds.registry import POD


def pod(uid="p", version=1, owner=""):
    references = [{"uid": owner, "controller": True}] if owner else []
    return {
        "metadata": {
            "name": "n",
            "namespace": "ns",
            "uid": uid,
            "resourceVersion": str(version),
            "ownerReferences": references,
        }
    }


def test_only_newer_forms_are_news():
    observed = ObservedObjects()
    assert observed.see(POD, pod(version=2))
    assert not observed.see(POD, pod(version=2))
    assert not observed.see(POD, pod(version=1))
    assert observed.get("p") == pod(version=2)


def test_who_claims_whom_follows_the_newest_form():
    observed = ObservedObjects()
    observed.see(POD, pod(version=1, owner="a"))
    observed.see(POD, pod(version=2, owner="b"))
    assert observed.owned_by("a", POD) == []
    assert observed.owned_by("b", POD) == [pod(version=2, owner="b")]
    observed.lose(pod())
    assert observed.owned_by("b", POD) == []


def test_what_comes_back_is_news_even_if_it_is_what_it_was():
    observed = ObservedObjects()
    observed.see(POD, pod(version=5, owner="a"))
    observed.lose(pod(version=5))
    assert observed.get("p") is None
    assert observed.see(POD, pod(version=5, owner="a"))
    assert observed.owned_by("a", POD) == [pod(version=5, owner="a")]


def test_a_name_belongs_to_whoever_had_it_last():
    observed = ObservedObjects()
    observed.see(POD, pod(uid="old"))
    observed.see(POD, pod(uid="new", version=2))
    observed.lose(pod(uid="old"))
    assert observed.at(POD, "ns", "n") == pod(uid="new", version=2)
    observed.lose(pod(uid="new"))
    assert observed.at(POD, "ns", "n") is None
