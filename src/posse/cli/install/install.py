"""posse install: print what a cluster needs to run Posse, or apply it."""

import re
from pathlib import Path
from typing import Annotated

import typer

from posse.cli.controller_names import chosen_controllers
from posse.cli.manifest_text import manifest_text
from posse.cli.problems import Misuse, check_format
from posse.installation.bundle import objects
from posse.installation.options import (
    DEFAULT_IMAGE,
    DEFAULT_NAMESPACE,
    DEFAULT_SCHEDULER_NAME,
    NAME,
    ForeignGroupApi,
    InstallOptions,
)
from posse.installation.page import PAGE, PAGE_PORT, VIEWER
from posse.kinds.discovered import ClusterForm
from posse.model.formats import dns_label, dns_subdomain
from posse.runtime.process.run_options import GroupApi, SetController

FormOption = Annotated[
    GroupApi,
    typer.Option(
        help="API that describes groups: [bold]native[/bold], scheduling.k8s.io of the cluster (Kubernetes "
        "1.35 and newer, if enabled); [bold]crd[/bold], CRDs that come with Posse; "
        "[bold]auto[/bold] asks the cluster."
    ),
]
ImageOption = Annotated[str, typer.Option(metavar="IMAGE", help="The container image of Posse.")]
NamespaceOption = Annotated[
    str, typer.Option("--namespace", "-n", metavar="NS", help="Namespace of the scheduler.")
]
SchedulerNameOption = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Posse schedules pods with this schedulerName; other pods are not touched."
    ),
]
MonitoringOption = Annotated[
    bool, typer.Option("--with-monitoring", help="Also install a ServiceMonitor for the Prometheus operator.")
]
PageOption = Annotated[
    bool,
    typer.Option(
        "--ui",
        help="Also install the page, with an account that may only read; kubectl port-forward leads to it.",
    ),
]
ProvisioningOption = Annotated[
    bool,
    typer.Option(
        "--provisioning-requests",
        help="Also ask cluster autoscalers for the nodes that waiting gangs lack.",
    ),
]
ControllersOption = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help=f"Also install controllers of these kinds: {', '.join(SetController)}, separated by commas; "
        "or all. They have a Deployment and an account of their own.",
        show_default=False,
    ),
]
ForeignGroupsOption = Annotated[
    list[ForeignGroupApi] | None,
    typer.Option(
        "--foreign-groups",
        metavar="PROJECT",
        help=f"Also schedule the PodGroups of this project: {', '.join(ForeignGroupApi)}. May be repeated.",
        show_default=False,
    ),
]
VolumesOption = Annotated[
    bool,
    typer.Option(
        "--without-volumes",
        help="Give it no permissions on volumes; pods with claims then wait.",
        show_default=False,
    ),
]
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
ApplyOption = Annotated[bool, typer.Option("--apply", help="Apply the manifests instead of printing them.")]
KubeconfigOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Kubeconfig to use. Default: $KUBECONFIG, else ~/.kube/config."),
]
ContextOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Context of the kubeconfig. Default: the current one.")
]


def install(  # noqa: PLR0913, PLR0917 - one parameter per option is how typer reads them
    form: FormOption = GroupApi.AUTO,
    image: ImageOption = DEFAULT_IMAGE,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
    scheduler_name: SchedulerNameOption = DEFAULT_SCHEDULER_NAME,
    with_monitoring: MonitoringOption = False,
    ui: PageOption = False,
    provisioning_requests: ProvisioningOption = False,
    controllers: ControllersOption = "",
    foreign_groups: ForeignGroupsOption = None,
    without_volumes: VolumesOption = False,
    apply: ApplyOption = False,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> None:
    """Print the manifests that install Posse in a Kubernetes cluster, or apply them.

    [bold]Examples[/bold]

      posse install --image registry.example/posse@sha256:... | kubectl apply -f -

      posse install --image registry.example/posse@sha256:... --apply

      posse install | kubectl delete -f -
    """
    check_format("--namespace", namespace, dns_label)
    check_format("--scheduler-name", scheduler_name, dns_subdomain)
    _check_image(image)
    is_needed = apply or kubeconfig is not None or context is not None
    chosen = _found_out(kubeconfig, context, is_needed) if form is GroupApi.AUTO else ClusterForm(form.value)
    control = chosen_controllers(controllers)
    foreign = tuple(dict.fromkeys(foreign_groups or ()))
    options = InstallOptions(
        chosen,
        image,
        namespace,
        scheduler_name,
        with_monitoring,
        control,
        foreign,
        not without_volumes,
        ui,
        provisioning_requests,
    )
    wanted = objects(options)
    if not apply:
        typer.echo(manifest_text(wanted), nl=False)
        return
    # The client takes a while to load, which the other verbs need not wait for.
    from posse.cli.install.run import apply_objects, form_of_cluster  # noqa: PLC0415

    if form is GroupApi.NATIVE and form_of_cluster(kubeconfig, context) is not ClusterForm.NATIVE:
        _say(
            "Warning: the cluster does not serve PodGroups; --form crd installs those of scheduling.posse.dev"
        )
    apply_objects(kubeconfig, context, wanted, typer.echo)
    _say(f"watch it start: kubectl -n {namespace} rollout status deployment/{NAME}")
    if ui:
        _say(
            f"see it: kubectl -n {namespace} port-forward deployment/{PAGE} {PAGE_PORT}, and open "
            f"http://127.0.0.1:{PAGE_PORT}/#token=$(kubectl -n {namespace} create token {VIEWER})"
        )


def _check_image(image: str) -> None:
    if not image.strip():
        raise Misuse("--image: the name is empty; give one such as registry.example/posse@sha256:...")
    _, marker, digest = image.partition("@")
    if marker and not _DIGEST.fullmatch(digest):
        raise Misuse(f"--image: {digest!r} is not a digest; one is sha256: and 64 hexadecimal digits")
    if not marker:
        _say(f"Warning: the image behind {image} may change; name it by digest: {image}@sha256:...")


def _found_out(kubeconfig: Path | None, context: str | None, is_needed: bool) -> ClusterForm:
    """Return the form that the cluster serves; without a cluster, the form that every cluster supports."""
    from posse.cli.install.run import NoClusterError, form_of_cluster  # noqa: PLC0415 - as above

    try:
        form = form_of_cluster(kubeconfig, context)
    except NoClusterError as error:
        if is_needed:
            raise
        _say(f"no cluster reachable ({error}); using --form crd, which works on every cluster")
        return ClusterForm.CRD
    serves = "serves" if form is ClusterForm.NATIVE else "does not serve"
    _say(f"the cluster {serves} PodGroups of scheduling.k8s.io; using --form {form}")
    return form


def _say(text: str) -> None:
    """Print to stderr: stdout has the manifests."""
    typer.echo(text, err=True)
