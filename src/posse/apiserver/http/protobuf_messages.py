"""The protobuf messages that can be read: those kubectl makes itself, without a manifest, and DeleteOptions.

The field numbers are those of the Kubernetes API; a number never changes its meaning.
"""

from posse.apiserver.http.protobuf import (
    Field,
    MapField,
    Message,
    ProtobufError,
    base64_text,
    flag,
    ignored,
    integer,
    integer_or_text,
    message,
    read_envelope,
    text,
    timestamp,
)
from posse.kinds.machinery.kind import Json

OWNER_REFERENCE = Message(
    "OwnerReference",
    {
        1: Field("kind", text),
        3: Field("name", text),
        4: Field("uid", text),
        5: Field("apiVersion", text),
        6: Field("controller", flag),
        7: Field("blockOwnerDeletion", flag),
    },
)
OBJECT_META = Message(
    "ObjectMeta",
    {
        1: Field("name", text),
        2: Field("generateName", text),
        3: Field("namespace", text),
        4: Field("selfLink", ignored),
        5: Field("uid", text),
        6: Field("resourceVersion", text),
        7: Field("generation", integer),
        8: Field("creationTimestamp", timestamp),
        9: Field("deletionTimestamp", timestamp),
        10: Field("deletionGracePeriodSeconds", integer, kept=True),
        11: MapField("labels", text),
        12: MapField("annotations", text),
        13: Field("ownerReferences", message(OWNER_REFERENCE), many=True),
        14: Field("finalizers", text, many=True),
        17: Field("managedFields", ignored),
    },
)
METADATA = Field("metadata", message(OBJECT_META))

NAMESPACE = Message(
    "Namespace",
    {
        1: METADATA,
        2: Field("spec", message(Message("NamespaceSpec", {1: Field("finalizers", text, many=True)}))),
        3: Field("status", message(Message("NamespaceStatus", {1: Field("phase", text)}))),
    },
)
CONFIG_MAP = Message(
    "ConfigMap",
    {
        1: METADATA,
        2: MapField("data", text),
        3: MapField("binaryData", base64_text),
        4: Field("immutable", flag),
    },
)
SECRET = Message(
    "Secret",
    {
        1: METADATA,
        2: MapField("data", base64_text),
        3: Field("type", text),
        4: MapField("stringData", text),
        5: Field("immutable", flag),
    },
)
SERVICE_ACCOUNT = Message("ServiceAccount", {1: METADATA})
PRIORITY_CLASS = Message(
    "PriorityClass",
    {
        1: METADATA,
        2: Field("value", integer, kept=True),
        3: Field("globalDefault", flag),
        4: Field("description", text),
        5: Field("preemptionPolicy", text),
    },
)
LABEL_REQUIREMENT = Message(
    "LabelSelectorRequirement",
    {1: Field("key", text), 2: Field("operator", text), 3: Field("values", text, many=True)},
)
LABEL_SELECTOR = Message(
    "LabelSelector",
    {
        1: MapField("matchLabels", text),
        2: Field("matchExpressions", message(LABEL_REQUIREMENT), many=True),
    },
)
POD_DISRUPTION_BUDGET = Message(
    "PodDisruptionBudget",
    {
        1: METADATA,
        2: Field(
            "spec",
            message(
                Message(
                    "PodDisruptionBudgetSpec",
                    {
                        1: Field("minAvailable", integer_or_text, kept=True),
                        # An empty selector selects everything, a missing one nothing.
                        2: Field("selector", message(LABEL_SELECTOR), kept=True),
                        3: Field("maxUnavailable", integer_or_text, kept=True),
                        4: Field("unhealthyPodEvictionPolicy", text),
                    },
                )
            ),
        ),
        3: Field("status", ignored),
    },
)
# As much of a pod template as `kubectl create job` fills in; empty texts stand for what it leaves out.
CONTAINER = Message(
    "Container",
    {
        1: Field("name", text),
        2: Field("image", text),
        3: Field("command", text, many=True),
        4: Field("args", text, many=True),
        5: Field("workingDir", text),
        8: Field("resources", message(Message("ResourceRequirements", {}))),
        13: Field("terminationMessagePath", text),
        14: Field("imagePullPolicy", text),
        16: Field("stdin", flag),
        17: Field("stdinOnce", flag),
        18: Field("tty", flag),
        20: Field("terminationMessagePolicy", text),
    },
)
POD_SPEC = Message(
    "PodSpec",
    {
        2: Field("containers", message(CONTAINER), many=True),
        3: Field("restartPolicy", text),
        6: Field("dnsPolicy", text),
        7: MapField("nodeSelector", text),
        8: Field("serviceAccountName", text),
        9: Field("serviceAccount", text),
        10: Field("nodeName", text),
        11: Field("hostNetwork", flag),
        12: Field("hostPID", flag),
        13: Field("hostIPC", flag),
        16: Field("hostname", text),
        17: Field("subdomain", text),
        19: Field("schedulerName", text),
        24: Field("priorityClassName", text),
    },
)
JOB_SPEC = Message(
    "JobSpec",
    {
        1: Field("parallelism", integer, kept=True),
        2: Field("completions", integer, kept=True),
        3: Field("activeDeadlineSeconds", integer, kept=True),
        6: Field(
            "template",
            message(Message("PodTemplateSpec", {1: METADATA, 2: Field("spec", message(POD_SPEC))})),
        ),
        7: Field("backoffLimit", integer, kept=True),
        8: Field("ttlSecondsAfterFinished", integer, kept=True),
        9: Field("completionMode", text),
        10: Field("suspend", flag),
    },
)
JOB = Message("Job", {1: METADATA, 2: Field("spec", message(JOB_SPEC)), 3: Field("status", ignored)})
DELETE_OPTIONS = Message(
    "DeleteOptions",
    {
        1: Field("gracePeriodSeconds", integer, kept=True),
        2: Field(
            "preconditions",
            message(Message("Preconditions", {1: Field("uid", text), 2: Field("resourceVersion", text)})),
        ),
        3: Field("orphanDependents", flag),
        4: Field("propagationPolicy", text),
        5: Field("dryRun", text, many=True),
    },
)

MESSAGES = {
    ("v1", "Namespace"): NAMESPACE,
    ("v1", "ConfigMap"): CONFIG_MAP,
    ("v1", "Secret"): SECRET,
    ("v1", "ServiceAccount"): SERVICE_ACCOUNT,
    ("scheduling.k8s.io/v1", "PriorityClass"): PRIORITY_CLASS,
    ("policy/v1", "PodDisruptionBudget"): POD_DISRUPTION_BUDGET,
    ("batch/v1", "Job"): JOB,
}


def read_protobuf(body: bytes) -> Json:
    """Return the JSON form of an object sent as protobuf."""
    api_version, kind, content = read_envelope(body)
    # Clients send DeleteOptions in the group and version of whatever they delete.
    shape = DELETE_OPTIONS if kind == "DeleteOptions" else MESSAGES.get((api_version, kind))
    if shape is None:
        raise ProtobufError(f"{kind} of {api_version} is not read from protobuf")
    return {"apiVersion": api_version, "kind": kind} | shape.read(content)
