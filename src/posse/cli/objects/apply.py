"""posse apply: creates new objects and patches existing ones."""

from typing import Annotated, Any

import typer

from posse.cli.client import ApiClient, Refused
from posse.cli.manifests import Manifest, read_manifests
from posse.cli.problems import Problem
from posse.cli.session import KubeconfigOption, NamespaceOption, connected
from posse.client.paths import path_of
from posse.kinds.machinery.errors import NOT_FOUND

Json = dict[str, Any]

FilesOption = Annotated[
    list[str],
    typer.Option("--filename", "-f", metavar="FILE", help="YAML or JSON manifest; - reads standard input."),
]


def apply(files: FilesOption, namespace: NamespaceOption = None, kubeconfig: KubeconfigOption = None) -> None:
    """Create or change objects from manifests.

    A file may hold several documents. Objects that exist are patched, others are created.

    [bold]Examples[/bold]

      posse apply -f examples/gang.yaml

      cat pods.yaml | posse apply -n team-a -f -
    """
    manifests = [manifest for file in files for manifest in read_manifests(file)]
    with connected(kubeconfig) as client:
        for manifest in manifests:
            typer.echo(_apply_one(client, manifest, namespace))


def _apply_one(client: ApiClient, manifest: Manifest, namespace: str | None) -> str:
    place = namespace_for(manifest, namespace, client.default_namespace)
    collection = path_of(manifest.kind, manifest.version, place)
    try:
        if not manifest.name:
            made = client.create(collection, manifest.obj)
            return f"{manifest.kind.singular}/{made['metadata']['name']} created"
        outcome = _create_or_patch(client, manifest, collection)
    except Refused as refusal:
        raise Problem(f"{manifest.origin}: {refusal}") from refusal
    return f"{manifest.kind.singular}/{manifest.name} {outcome}"


def _create_or_patch(client: ApiClient, manifest: Manifest, collection: str) -> str:
    path = f"{collection}/{manifest.name}"
    try:
        before = client.get(path)
    except Refused as refusal:
        if refusal.code != NOT_FOUND:
            raise
        client.create(collection, manifest.obj)
        return "created"
    after = client.patch(path, manifest.obj)
    return "unchanged" if _authored(after) == _authored(before) else "configured"


def _authored(obj: Json) -> Json:
    """Return the object without the fields that controllers change meanwhile."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "resourceVersion"}
    return {key: value for key, value in obj.items() if key != "status"} | {"metadata": metadata}


def namespace_for(manifest: Manifest, chosen: str | None, default: str) -> str | None:
    """Return where the object goes; a manifest that names another namespace than -n is refused."""
    if not manifest.kind.namespaced:
        return None
    if manifest.namespace and chosen and manifest.namespace != chosen:
        raise Problem(
            f"{manifest.origin}: metadata.namespace is {manifest.namespace}, but -n is {chosen}; remove one"
        )
    return manifest.namespace or chosen or default
