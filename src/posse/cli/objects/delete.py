"""posse delete: remove objects by manifest or by name."""

from typing import Annotated

import typer

from posse.cli.client import ApiClient, Refused
from posse.cli.manifests import read_manifests
from posse.cli.objects.apply import namespace_for
from posse.cli.objects.get import complete_resource
from posse.cli.problems import Misuse, Problem
from posse.cli.resources import kind_named
from posse.cli.session import KubeconfigOption, NamespaceOption, connected
from posse.client.paths import path_of
from posse.kinds.machinery.errors import NOT_FOUND

ResourceArgument = Annotated[
    str,
    typer.Argument(metavar="RESOURCE", help="pods, podgroups, nodes ...", autocompletion=complete_resource),
]
NamesArgument = Annotated[list[str] | None, typer.Argument(metavar="NAME...", help="Which of them.")]
FilesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filename",
        "-f",
        metavar="FILE",
        help="Delete what this manifest describes; - reads standard input.",
    ),
]


def delete(
    resource: ResourceArgument = "",
    names: NamesArgument = None,
    files: FilesOption = None,
    namespace: NamespaceOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Delete objects, either those of a manifest or by name.

    [bold]Examples[/bold]

      posse delete -f examples/gang.yaml

      posse delete pods trainer-0 trainer-1
    """
    if bool(files) == bool(resource) or bool(resource) != bool(names):
        raise Misuse("give either -f FILE, or RESOURCE and NAME")
    with connected(kubeconfig) as client:
        if files:
            targets = _targets_of_files(client, files, namespace)
        else:
            targets = _targets_by_name(client, resource, names or [], namespace)
        _delete_all(client, targets)


def _targets_of_files(client: ApiClient, files: list[str], namespace: str | None) -> dict[str, str]:
    """Return the path of each object and how to call it."""
    manifests = [manifest for file in files for manifest in read_manifests(file)]
    targets = {}
    for manifest in manifests:
        if not manifest.name:
            raise Problem(
                f"{manifest.origin}: has no metadata.name, so it cannot be found again; delete it by name"
            )
        place = namespace_for(manifest, namespace, client.default_namespace)
        path = path_of(manifest.kind, manifest.version, place, manifest.name)
        targets[path] = f'{manifest.kind.singular} "{manifest.name}"'
    return targets


def _targets_by_name(
    client: ApiClient, resource: str, names: list[str], namespace: str | None
) -> dict[str, str]:
    kind = kind_named(resource)
    place = namespace or client.default_namespace
    return {path_of(kind, kind.versions[0], place, name): f'{kind.singular} "{name}"' for name in names}


def _delete_all(client: ApiClient, targets: dict[str, str]) -> None:
    missing = []
    for path, called in targets.items():
        try:
            client.delete(path)
        except Refused as refusal:
            if refusal.code != NOT_FOUND:
                raise
            missing.append(called)
        else:
            typer.echo(f"{called} deleted")
    if missing:
        raise Problem(f"not found: {', '.join(missing)}")
