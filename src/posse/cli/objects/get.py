"""posse get: show objects as tables, YAML or JSON."""

from pathlib import Path
from typing import Annotated, Any

import typer

from posse.cli.client import TABLE, ApiClient
from posse.cli.output import Output, OutputOption, print_data
from posse.cli.problems import Misuse
from posse.cli.resources import kind_named, resource_names
from posse.cli.session import AllNamespacesOption, KubeconfigOption, NamespaceOption, connected
from posse.cli.tables import table_lines
from posse.client.paths import path_of
from posse.kinds.machinery.kind import Kind

Json = dict[str, Any]


def complete_resource(incomplete: str) -> list[str]:
    return [name for name in resource_names() if name.startswith(incomplete)]


ResourcesArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="RESOURCE",
        help="What to show: pods, po, podgroups, nodes ...; several with commas.",
        autocompletion=complete_resource,
    ),
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Only the object of this name.")]
RawOption = Annotated[
    str,
    typer.Option("--raw", metavar="PATH", help="Print the response of the server at this path unchanged."),
]


def get(  # noqa: PLR0913, PLR0917 - one parameter per option is how typer reads them
    resources: ResourcesArgument = None,
    name: NameArgument = "",
    namespace: NamespaceOption = None,
    all_namespaces: AllNamespacesOption = False,
    output: OutputOption = Output.table,
    raw: RawOption = "",
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Show objects.

    [bold]Examples[/bold]

      posse get podgroups,pods -o wide

      posse get podgroup trainer -o yaml

      posse get pods -A

      posse get --raw /metrics
    """
    if raw:
        _print_raw(raw, resources, kubeconfig)
        return
    if not resources:
        raise Misuse("say what to show, for example: posse get pods")
    if name and all_namespaces:
        raise Misuse("a NAME and --all-namespaces exclude each other; use -n NS")
    kinds = [kind_named(part) for part in resources.split(",") if part]
    with connected(kubeconfig) as client:
        place = None if all_namespaces else namespace or client.default_namespace
        paths = [(kind, path_of(kind, kind.versions[0], place, name)) for kind in kinds]
        if output.is_data:
            answers = [_with_types(client.get(path)) for _, path in paths]
            print_data(answers[0] if len(answers) == 1 else _joined(answers), output)
        else:
            _print_tables(client, paths, wide=output is Output.wide, place=place)


def _print_raw(path: str, resources: str | None, kubeconfig: Path | None) -> None:
    if resources:
        raise Misuse("--raw PATH and RESOURCE exclude each other")
    with connected(kubeconfig) as client:
        typer.echo(client.get_text(f"/{path.removeprefix('/')}"), nl=False)


def _print_tables(client: ApiClient, paths: list[tuple[Kind, str]], *, wide: bool, place: str | None) -> None:
    tables = [(kind, client.get(path, TABLE)) for kind, path in paths]
    filled = [(kind, table) for kind, table in tables if table.get("rows")]
    if not filled:
        typer.echo(f"No resources found{f' in {place} namespace' if place else ''}.", err=True)
    for number, (kind, table) in enumerate(filled):
        if number:
            typer.echo()
        with_namespace = place is None and kind.namespaced
        for line in table_lines(table, wide=wide, with_namespace=with_namespace):
            typer.echo(line)


def _with_types(answer: Json) -> Json:
    """Items of a list say what they are, which API servers leave out: each can then stand alone."""
    if "items" not in answer:
        return answer
    said = {"apiVersion": answer["apiVersion"], "kind": answer["kind"].removesuffix("List")}
    return answer | {"items": [said | item for item in answer["items"] or []]}


def _joined(answers: list[Json]) -> Json:
    items = [item for answer in answers for item in answer.get("items", [answer])]
    return {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}
