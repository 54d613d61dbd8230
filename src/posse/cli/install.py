"""posse install: print what a cluster needs to run Posse."""

from typing import Annotated

import typer

from posse.cli.manifest_text import manifest_text
from posse.cli.problems import Misuse
from posse.installation.bundle import objects
from posse.installation.options import (
    DEFAULT_IMAGE,
    DEFAULT_NAMESPACE,
    DEFAULT_SCHEDULER_NAME,
    InstallOptions,
)
from posse.kinds.discovered import ClusterForm
from posse.kinds.formats import Format, dns_label, dns_subdomain

FormOption = Annotated[
    ClusterForm,
    typer.Option(
        help="Where groups come from: [bold]native[/bold], the API of the cluster (Kubernetes 1.35 and newer, if it is "
        "switched on), or [bold]crd[/bold], custom resources that Posse brings along."
    ),
]
ImageOption = Annotated[str, typer.Option(metavar="IMAGE", help="The container image of Posse.")]
NamespaceOption = Annotated[
    str, typer.Option("--namespace", "-n", metavar="NS", help="Where the scheduler runs.")
]
SchedulerNameOption = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Pods with this schedulerName are scheduled by Posse; all others are left alone."
    ),
]
MonitoringOption = Annotated[
    bool, typer.Option("--with-monitoring", help="Also a ServiceMonitor, for the Prometheus operator.")
]


def install(
    form: FormOption = ClusterForm.CRD,
    image: ImageOption = DEFAULT_IMAGE,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
    scheduler_name: SchedulerNameOption = DEFAULT_SCHEDULER_NAME,
    with_monitoring: MonitoringOption = False,
) -> None:
    """Print the manifests that install Posse in a Kubernetes cluster.

    [bold]Examples[/bold]

      posse install --image registry.example/posse:1 | kubectl apply -f -

      posse install | kubectl delete -f -
    """
    _check("--namespace", namespace, dns_label)
    _check("--scheduler-name", scheduler_name, dns_subdomain)
    if not image.strip():
        raise Misuse("--image: an image has a name, such as registry.example/posse:1")
    options = InstallOptions(form, image, namespace, scheduler_name, with_monitoring)
    typer.echo(manifest_text(objects(options)), nl=False)


def _check(option: str, text: str, form: Format) -> None:
    problems = form(text)
    if problems:
        raise Misuse(f"{option}: {text!r}: {problems[0]}")
