"""Discovery tells exactly what the registry serves, in the plain and in the aggregated form."""

from posse.apiserver.http.discovery import aggregated_documents, documents, versions_of
from posse.kinds.registry import KINDS

PLAIN = documents(KINDS)
AGGREGATED = aggregated_documents(KINDS)
GROUP = "scheduling.k8s.io"


def resources(path: str) -> dict[str, dict]:
    return {entry["name"]: entry for entry in PLAIN[path]["resources"]}


def aggregated_resources(group: str, version: str) -> dict[str, dict]:
    groups = AGGREGATED["/apis" if group else "/api"]["items"]
    [found] = [entry for entry in groups if entry["metadata"].get("name", "") == group]
    [listed] = [entry for entry in found["versions"] if entry["version"] == version]
    return {entry["resource"]: entry for entry in listed["resources"]}


def test_versions_are_listed_from_the_most_to_the_least_stable():
    assert versions_of(KINDS, GROUP) == ["v1", "v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"]
    [group] = [entry for entry in PLAIN["/apis"]["groups"] if entry["name"] == GROUP]
    assert group["preferredVersion"] == {"groupVersion": f"{GROUP}/v1", "version": "v1"}
    assert PLAIN[f"/apis/{GROUP}"]["versions"] == group["versions"]


def test_the_core_group_is_not_listed_among_the_named_ones():
    assert PLAIN["/api"]["versions"] == ["v1"]
    assert "" not in {entry["name"] for entry in PLAIN["/apis"]["groups"]}
    assert [entry["metadata"] for entry in AGGREGATED["/api"]["items"]] == [{}]


def test_every_served_kind_stands_in_each_of_its_versions():
    for kind in KINDS:
        for version in kind.versions:
            path = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
            assert resources(path)[kind.plural]["kind"] == kind.name
            assert aggregated_resources(kind.group, version)[kind.plural]["scope"] == (
                "Namespaced" if kind.namespaced else "Cluster"
            )


def test_a_resource_tells_its_names_and_verbs():
    pods = resources("/api/v1")["pods"]
    assert pods["shortNames"] == ["po"]
    assert pods["singularName"] == "pod"
    assert {"create", "deletecollection", "list", "patch", "watch"} <= set(pods["verbs"])
    assert "shortNames" not in resources(f"/apis/{GROUP}/v1beta1")["podgroups"]


def test_subresources_are_listed_with_what_they_take():
    entries = resources("/api/v1")
    assert entries["pods/status"]["verbs"] == ["get", "patch", "update"]
    assert (entries["pods/binding"]["kind"], entries["pods/binding"]["verbs"]) == ("Binding", ["create"])
    assert entries["namespaces/finalize"]["verbs"] == ["update"]
    assert f"{GROUP}/v1beta1" in PLAIN[f"/apis/{GROUP}/v1beta1"]["groupVersion"]
    assert "workloads/status" not in resources(f"/apis/{GROUP}/v1beta1")
    assert "podgroups/status" in resources(f"/apis/{GROUP}/v1beta1")


def test_aggregated_subresources():
    subresources = {
        entry["subresource"]: entry for entry in aggregated_resources("", "v1")["pods"]["subresources"]
    }
    assert subresources["binding"]["responseKind"] == {"group": "", "version": "v1", "kind": "Binding"}
    assert subresources["status"]["responseKind"]["kind"] == "Pod"
    assert "compositepodgroups" in aggregated_resources(GROUP, "v1alpha3")
    assert "compositepodgroups" not in aggregated_resources(GROUP, "v1beta1")


def test_versions_offer_the_kinds_they_had():
    assert set(resources(f"/apis/{GROUP}/v1alpha2")) == {"workloads", "podgroups", "podgroups/status"}
    assert set(resources(f"/apis/{GROUP}/v1alpha1")) == {"workloads"}
