"""Names and common label of all objects of an installation."""

from posse.installation.options import NAME
from posse.kinds.machinery.kind import Json

NAME_LABEL = "app.kubernetes.io/name"
LABELS = {NAME_LABEL: NAME}


def named(api_version: str, kind: str, name: str, namespace: str = "") -> Json:
    place = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, **place, "labels": dict(LABELS)},
    }
