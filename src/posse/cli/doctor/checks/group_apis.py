"""Which APIs describe groups here, and which server serves them."""

from collections.abc import Iterator

from posse.cli.doctor.facts import ClusterFacts
from posse.cli.doctor.findings import DoctorFinding, error, note

OWN_APIS = ("scheduling.k8s.io", "scheduling.posse.dev")


def check_group_apis(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    apis = facts.apis or ()
    for api in apis:
        if api.is_available:
            yield note(f"PodGroups of {api.group} ({', '.join(api.versions)}) are served by {api.server}")
        else:
            yield error(
                f"PodGroups of {api.group} are registered with {api.server}, which does not answer",
                f"look at it: kubectl get apiservices | grep {api.group}",
            )
    if not any(api.group in OWN_APIS for api in apis):
        yield error(
            "no API for PodGroups of Kubernetes or Posse is served, so gangs cannot be described",
            "install Posse's custom resources: posse install --form crd | kubectl apply -f -",
        )
