"""What people do with kubectl all day: apply, look, change, wait, delete."""

import json
import threading

import pytest

pytestmark = pytest.mark.kubectl

GROUP = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: training}
spec:
  schedulingPolicy: {gang: {minCount: 2}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata:
  name: worker-0
  labels: {app: training}
spec:
  schedulingGroup: {podGroupName: training}
  containers:
    - name: main
      image: registry.example/train:1
      resources: {requests: {cpu: "1", memory: 1Gi}}
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {kubernetes.io/hostname: node-a}}
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "10"}
  allocatable: {cpu: "4", memory: 8Gi, pods: "10"}
  conditions: [{type: Ready, status: "True", reason: KubeletReady}]
"""
WORKLOAD = """
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: job}
spec:
  podGroupTemplates:
    - name: workers
      schedulingPolicy: {gang: {minCount: 2}}
"""
EVERYTHING = f"{GROUP}---{POD}---{NODE}---{WORKLOAD}"


def applied(kubectl, manifest: str) -> list[str]:
    return kubectl("apply -f -", manifest=manifest).splitlines()


def read(kubectl, what: str) -> dict:
    return json.loads(kubectl(f"get {what} -o json"))


def table(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


def test_apply_creates_then_changes_then_leaves_alone(kubectl):
    assert applied(kubectl, EVERYTHING) == [
        "podgroup.scheduling.k8s.io/training created",
        "pod/worker-0 created",
        "node/node-a created",
        "workload.scheduling.k8s.io/job created",
    ]
    changed = EVERYTHING.replace("minCount: 2}}\n---", "minCount: 3}}\n---").replace(
        "app: training", "app: tuning"
    )
    assert applied(kubectl, changed) == [
        "podgroup.scheduling.k8s.io/training configured",
        "pod/worker-0 configured",
        "node/node-a unchanged",
        "workload.scheduling.k8s.io/job unchanged",
    ]
    assert read(kubectl, "podgroup training")["spec"]["schedulingPolicy"] == {"gang": {"minCount": 3}}
    pod = read(kubectl, "pod worker-0")
    assert pod["metadata"]["labels"] == {"app": "tuning"}
    assert pod["spec"]["schedulingGroup"] == {"podGroupName": "training"}


def test_apply_removes_what_the_manifest_no_longer_says(kubectl):
    applied(kubectl, POD.replace("{app: training}", "{app: training, stage: one}"))
    kubectl("label pod worker-0 by-hand=yes")
    assert applied(kubectl, POD) == ["pod/worker-0 configured"]
    assert read(kubectl, "pod worker-0")["metadata"]["labels"] == {"app": "training", "by-hand": "yes"}


def test_diff_says_what_apply_would_change(kubectl):
    applied(kubectl, GROUP)
    assert kubectl("diff -f -", manifest=GROUP) == ""
    result = kubectl.run("diff", "-f", "-", manifest=GROUP.replace("minCount: 2", "minCount: 7"))
    assert result.returncode == 1
    assert "+      minCount: 7" in result.stdout
    assert read(kubectl, "podgroup training")["spec"]["schedulingPolicy"]["gang"]["minCount"] == 2


def test_get_prints_groups_and_pods_with_their_columns(kubectl):
    applied(kubectl, EVERYTHING)
    wide = kubectl("get podgroups,pods -o wide")
    assert "NAME POLICY WORKLOAD STATUS AGE" in " ".join(wide.split())
    groups, pods = wide.split("\n\n")
    assert table(groups)[1][:4] == ["podgroup.scheduling.k8s.io/training", "Gang", "<none>", "Pending"]
    assert table(pods)[0][:7] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE"]
    assert table(pods)[1][:4] == ["pod/worker-0", "0/1", "Pending", "0"]
    assert table(kubectl("get nodes"))[1][:3] == ["node-a", "Ready", "<none>"]
    assert table(kubectl("get pods"))[0] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert table(kubectl("get po -A --show-labels"))[1][-1] == "app=training"


def test_get_in_its_other_forms(kubectl):
    applied(kubectl, EVERYTHING)
    assert kubectl("get pods -o name") == "pod/worker-0\n"
    assert kubectl("get pods -l app=training,stage!=two -o jsonpath={.items[*].metadata.name}") == "worker-0"
    assert (
        kubectl("get pods --field-selector spec.nodeName=,status.phase=Pending -o name") == "pod/worker-0\n"
    )
    assert kubectl("get podgroups.v1alpha3.scheduling.k8s.io -o jsonpath={.items[*].apiVersion}").endswith(
        "/v1alpha3"
    )
    columns = kubectl("get podgroup -o custom-columns=MIN:.spec.schedulingPolicy.gang.minCount")
    assert columns.split() == ["MIN", "2"]
    assert [row[0] for row in table(kubectl("get nodes --sort-by=.metadata.creationTimestamp"))] == [
        "NAME",
        "node-a",
    ]
    assert kubectl("get all -o name") == "pod/worker-0\n"
    assert (
        kubectl.run("get", "pods", "-n", "elsewhere").stderr == "No resources found in elsewhere namespace.\n"
    )


def test_describe_tells_what_the_object_says_and_its_events(kubectl):
    applied(kubectl, EVERYTHING)
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "worker-0.1", "namespace": "default"},
        "involvedObject": {
            "kind": "Pod",
            "namespace": "default",
            "name": "worker-0",
            "uid": read(kubectl, "pod worker-0")["metadata"]["uid"],
        },
        "reason": "FailedScheduling",
        "message": "no room for the gang",
        "type": "Warning",
        "firstTimestamp": "2026-01-02T03:04:05Z",
        "lastTimestamp": "2026-01-02T03:04:05Z",
        "source": {"component": "posse"},
    }
    kubectl("create -f -", manifest=json.dumps(event))
    pod = kubectl("describe pod worker-0")
    assert "registry.example/train:1" in pod
    assert "no room for the gang" in pod
    assert "Min Count:  2" in kubectl("describe podgroup training")
    node = kubectl("describe node node-a")
    assert "KubeletReady" in node
    assert "Non-terminated Pods:          (0 in total)" in node
    assert "Pod Group Templates" in kubectl("describe workload job")
    assert "FailedScheduling" in kubectl("get events")


def test_labels_and_annotations(kubectl):
    applied(kubectl, GROUP + "---" + POD)
    assert kubectl("label pod worker-0 tier=gold") == "pod/worker-0 labeled\n"
    assert kubectl("annotate podgroup training note=x") == "podgroup.scheduling.k8s.io/training annotated\n"
    assert "--overwrite is false" in kubectl.refused("label pod worker-0 tier=silver")
    kubectl("label pod worker-0 tier-")
    assert read(kubectl, "pod worker-0")["metadata"]["labels"] == {"app": "training"}
    assert read(kubectl, "podgroup training")["metadata"]["annotations"]["note"] == "x"


def test_patches_of_each_type(kubectl):
    applied(kubectl, GROUP + "---" + POD)
    kubectl("patch pod worker-0 -p", '{"metadata":{"labels":{"more":"yes"}}}')
    kubectl(
        "patch pod worker-0 -p",
        '{"spec":{"containers":[{"name":"main","image":"registry.example/train:2"}]}}',
    )
    kubectl(
        "patch podgroup training --type merge -p", '{"spec":{"schedulingPolicy":{"gang":{"minCount":4}}}}'
    )
    step = '[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]'
    kubectl("patch podgroup training --type json -p", step)
    pod = read(kubectl, "pod worker-0")
    assert pod["metadata"]["labels"] == {"app": "training", "more": "yes"}
    [container] = pod["spec"]["containers"]
    assert (container["image"], container["resources"]["requests"]["cpu"]) == (
        "registry.example/train:2",
        "1",
    )
    group = read(kubectl, "podgroup training")
    assert (group["spec"]["schedulingPolicy"], group["metadata"]["labels"]) == (
        {"gang": {"minCount": 4}},
        {"a": "b"},
    )


def test_replace_is_refused_on_a_stale_version(kubectl):
    applied(kubectl, GROUP)
    body = read(kubectl, "podgroup training")
    body["spec"]["schedulingPolicy"]["gang"]["minCount"] = 9
    assert (
        kubectl("replace -f -", manifest=json.dumps(body)) == "podgroup.scheduling.k8s.io/training replaced\n"
    )
    assert "the object has been modified" in kubectl.refused("replace -f -", manifest=json.dumps(body))


def test_create_with_a_generated_name(kubectl):
    manifest = POD.replace("name: worker-0", "generateName: worker-")
    assert kubectl("create -f -", manifest=manifest).startswith("pod/worker-")
    kubectl("create -f -", manifest=manifest)
    assert len(kubectl("get pods -o name").splitlines()) == 2


def test_what_kubectl_makes_without_a_manifest(kubectl):
    """These go out as protobuf, which kubectl prefers for kinds it has compiled in."""
    assert kubectl("create namespace team-a") == "namespace/team-a created\n"
    assert read(kubectl, "namespace team-a")["status"]["phase"] == "Active"
    kubectl("create configmap settings -n team-a --from-literal=a=b --from-literal=empty=")
    assert read(kubectl, "configmap settings -n team-a")["data"] == {"a": "b", "empty": ""}
    kubectl("create secret generic key --from-literal=password=pässword")
    assert read(kubectl, "secret key")["data"] == {"password": "cMOkc3N3b3Jk"}
    kubectl("create serviceaccount robot")
    kubectl("create priorityclass low --value=-7 --preemption-policy=Never --description", "for the patient")
    low = read(kubectl, "priorityclass low")
    assert (low["value"], low["preemptionPolicy"], low["description"]) == (-7, "Never", "for the patient")
    kubectl("create poddisruptionbudget half --selector=app=x,stage --max-unavailable=50%")
    spec = read(kubectl, "pdb half")["spec"]
    assert spec["maxUnavailable"] == "50%"
    assert spec["selector"]["matchLabels"] == {"app": "x"}
    assert spec["selector"]["matchExpressions"] == [{"key": "stage", "operator": "Exists"}]
    kubectl("create poddisruptionbudget none --selector=app=y --min-available=0")
    assert read(kubectl, "pdb none")["spec"]["minAvailable"] == 0
    assert kubectl("run single --image=registry.example/x:1") == "pod/single created\n"
    kubectl("create service clusterip web --tcp=80")
    assert read(kubectl, "service web")["spec"]["ports"][0]["targetPort"] == 80


def test_a_watch_prints_each_change(kubectl):
    applied(kubectl, GROUP)
    watch = kubectl.start("get podgroups -w --output-watch-events")
    # A watch that prints nothing more must fail the test, not hang it.
    guard = threading.Timer(20, watch.kill)
    guard.start()
    try:
        header, first = watch.stdout.readline(), watch.stdout.readline()
        kubectl("label podgroup training seen=yes")
        second = watch.stdout.readline()
    finally:
        guard.cancel()
        watch.terminate()
        watch.communicate()
    assert header.split() == ["EVENT", "NAME", "POLICY", "WORKLOAD", "STATUS", "AGE"]
    assert first.split()[:3] == ["ADDED", "training", "Gang"]
    assert second.split()[:3] == ["MODIFIED", "training", "Gang"]


def test_wait_for_a_condition(kubectl):
    applied(kubectl, GROUP)
    assert "timed out" in kubectl.refused(
        "wait --for=condition=PodGroupInitiallyScheduled podgroup/training --timeout=1s"
    )
    condition = {
        "type": "PodGroupInitiallyScheduled",
        "status": "True",
        "reason": "Scheduled",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    }
    later = threading.Timer(
        0.5,
        lambda: kubectl(
            "patch podgroup training --subresource=status --type=merge -p",
            json.dumps({"status": {"conditions": [condition]}}),
        ),
    )
    later.start()
    kubectl("wait --for=condition=PodGroupInitiallyScheduled podgroup/training --timeout=20s")
    later.join()
    assert table(kubectl("get podgroups"))[1][3] == "Scheduled"


def test_delete_waits_for_finalizers(kubectl):
    applied(kubectl, GROUP)
    deleting = kubectl.start("delete podgroup training --timeout=20s")
    kubectl("wait --for=jsonpath={.metadata.deletionTimestamp} podgroup/training --timeout=20s")
    assert deleting.poll() is None
    kubectl("patch podgroup training --type=merge -p", '{"metadata":{"finalizers":null}}')
    told, _ = deleting.communicate(timeout=20)
    assert deleting.returncode == 0
    assert 'podgroup.scheduling.k8s.io "training" deleted' in told
    assert "NotFound" in kubectl.refused("get podgroup training")


def test_delete_in_its_other_forms(kubectl):
    for number in range(4):
        applied(kubectl, POD.replace("worker-0", f"worker-{number}"))
    applied(kubectl, POD.replace("worker-0", "bound").replace("spec:", "spec:\n  nodeName: node-a"))
    kubectl("delete -f -", manifest=POD)
    kubectl("delete pod worker-1 --now")
    kubectl("delete pods -l app=training --field-selector=metadata.name=worker-2")
    kubectl("delete pod bound --grace-period=0 --force")
    assert kubectl("get pods -o name") == "pod/worker-3\n"
    kubectl("delete pods --all")
    assert kubectl("get pods -o name") == ""
    assert kubectl("delete pod nobody --ignore-not-found") == ""


def test_explain_and_discovery(kubectl):
    text = kubectl("explain podgroup.spec.schedulingPolicy.gang")
    assert "minCount" in text
    assert "<integer>" in text
    assert "schedulingGroup" in kubectl("explain pod.spec")
    assert "workloadRef" in kubectl("explain compositepodgroups.spec")
    resources = table(kubectl("api-resources --no-headers"))
    assert ["podgroups", "scheduling.k8s.io/v1beta1", "true", "PodGroup"] in resources
    assert ["podgroups", "scheduling.posse.dev/v1alpha1", "true", "PodGroup"] in resources
    assert ["podgroups", "pg,pgs", "scheduling.x-k8s.io/v1alpha1", "true", "PodGroup"] in resources
    assert ["pods", "po", "v1", "true", "Pod"] in resources
    assert "scheduling.k8s.io/v1alpha3" in kubectl("api-versions").split()
    assert "v1.37.0+posse" in kubectl("version")
