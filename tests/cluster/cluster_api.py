"""The official client's dynamic interface, cut down to objects as dictionaries."""

import time
from pathlib import Path

from kubernetes import client, config, dynamic

PATIENCE_SECONDS = 30.0
# The version that is meant where a kind is named without one.
VERSIONS = {
    "Event": "v1",
    "Job": "batch/v1",
    "Lease": "coordination.k8s.io/v1",
    "Node": "v1",
    "Pod": "v1",
    "PodGroup": "scheduling.k8s.io/v1beta1",
}


class ClusterApi:
    def __init__(self, kubeconfig: Path, discovered: Path) -> None:
        self._kubeconfig = kubeconfig
        self._discovered = discovered
        self.sign_in()

    def sign_in(self) -> None:
        """Use what the kubeconfig says now."""
        configuration = client.Configuration()
        config.load_kube_config(str(self._kubeconfig), client_configuration=configuration)
        # The machine's proxy has nothing to do with a server on loopback.
        configuration.proxy = None
        self._client = client.ApiClient(configuration)
        self._dynamic = dynamic.DynamicClient(self._client, cache_file=str(self._discovered))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._client.close()

    def versions(self, group: str) -> list[str]:
        groups = client.ApisApi(self._client).get_api_versions().groups
        return [version.version for item in groups if item.name == group for version in item.versions]

    def server_version(self) -> str:
        return client.VersionApi(self._client).get_code().git_version

    def create(self, *objects: dict) -> None:
        for obj in objects:
            namespace = obj["metadata"].get("namespace", "default")
            self._kind(obj["kind"], obj["apiVersion"]).create(body=obj, namespace=namespace)

    def get(self, kind: str, name: str, namespace: str = "default") -> dict:
        return self._kind(kind).get(name=name, namespace=namespace).to_dict()

    def list(self, kind: str, namespace: str | None = "default", **options: str) -> list[dict]:
        return self._kind(kind).get(namespace=namespace, **options).to_dict()["items"]

    def raw(self, path: str) -> bytes:
        """Return what the API server answers, unread: reading a large object takes a client long."""
        return bytes(self._dynamic.request("get", path, serialize=False).data)

    def report(self, kind: str, name: str, status: dict, namespace: str = "default") -> None:
        """Write a status, as a kubelet or a controller would."""
        self._kind(kind).status.patch(
            body={"status": status},
            name=name,
            namespace=namespace,
            content_type="application/merge-patch+json",
        )

    def delete(self, kind: str, name: str, namespace: str = "default") -> None:
        self._kind(kind).delete(name=name, namespace=namespace, body={"propagationPolicy": "Background"})

    def _kind(self, kind: str, api_version: str = ""):
        return self._dynamic.resources.get(kind=kind, api_version=api_version or VERSIONS[kind])


def wait_until(holds, what, seconds=PATIENCE_SECONDS):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.1)
