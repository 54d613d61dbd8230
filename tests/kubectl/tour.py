"""The tour: commands that people type, and what kubectl must say to each.

A line is a command and, after `->`, a part of its answer; after `-!` the command must fail and say so. Each
chapter runs in a namespace of its own; `NS` stands for its name.
"""

import re
from pathlib import Path

from tests.kubectl.tour_continued import MORE_CHAPTERS

EXAMPLES = Path(__file__).parents[2] / "examples"
CHAPTERS = {
    "the cluster": """
        version -> Server Version: v1.37
        cluster-info -> control plane is running
        api-versions -> scheduling.k8s.io/v1beta1
        api-resources -> podgroups
        api-resources --namespaced=false -> nodes
        api-resources --api-group=apps -> deployments
        api-resources -o name -> statefulsets.apps
        api-resources --verbs=list,watch -o wide -> deletecollection
        get --raw=/healthz -> ok
        get --raw=/readyz -> ok
        get --raw=/version -> gitVersion
        get --raw=/api/v1/nodes?limit=1 -> remainingItemCount
        get nodes -> Ready
        get nodes -o wide -> INTERNAL-IP
        get node node-0001 -o yaml -> posse.dev/simulated
        get nodes -o name -> node/node-0001
        get nodes --show-labels -> kubernetes.io/hostname=node-0001
        get nodes -l kubernetes.io/os=linux -> node-0008
        get nodes -L kubernetes.io/arch -> amd64
        get nodes --sort-by=.metadata.name -> node-0008
        get nodes --no-headers -> node-0001
        get nodes -o jsonpath={.items[0].status.capacity.cpu} -> 32
        get nodes -o custom-columns=N:.metadata.name,C:.status.capacity.cpu -> 32
        get nodes --chunk-size=3 -> node-0008
        describe node node-0002 -> nvidia.com/gpu
        get namespaces -> kube-system
        get ns default -o jsonpath={.status.phase} -> Active
        get priorityclasses -> system-node-critical
        get leases -n kube-node-lease -> node-0001
        get svc kubernetes -n default -> 10.96.0.1
        get configmap kube-root-ca.crt -o jsonpath={.data} -> BEGIN CERTIFICATE
        get serviceaccounts -> default
        auth can-i create pods -> yes
        auth can-i --list -> *.*
        auth whoami -> posse-owner
        config view --minify -> server
        config current-context -> posse
        options -> kubeconfig
    """,
    "pods": """
        run web --image=registry.example/web:1 --labels=app=web -> pod/web created
        wait pod/web --for=condition=Ready --timeout=30s -> condition met
        get pods -> Running
        get pod web -o wide -> node-
        get pods -A -> web
        get pods -l app=web -> web
        get pods -l app!=web -> No resources found
        get pods --field-selector=status.phase=Running -> web
        get pods --field-selector=spec.nodeName!= -> web
        get pods -o jsonpath={.items[*].status.podIP} -> 10.
        get pod web -o json -> containerStatuses
        get pod web -o go-template={{.spec.nodeName}} -> node-
        describe pod web -> Successfully assigned
        label pod web tier=front -> labeled
        label pod web tier=back --overwrite -> labeled
        label pod web tier- -> unlabeled
        annotate pod web note=hello -> annotated
        annotate pod web note- -> annotated
        patch pod web -p {"metadata":{"labels":{"a":"b"}}} -> patched
        patch pod web --type=merge -p {"metadata":{"labels":{"a":"c"}}} -> patched
        patch pod web --type=json -p [{"op":"remove","path":"/metadata/labels/a"}] -> patched
        set image pod/web web=registry.example/web:2 -> image updated
        events -> Scheduled
        events --for=pod/web -> Scheduled
        get events --field-selector=involvedObject.name=web -> Scheduled
        get events --sort-by=.metadata.creationTimestamp -> Scheduled
        logs web -! pods/log is not served
        exec web -- ls -! pods/exec is not served
        attach web -! pods/attach is not served
        port-forward pod/web 8080:80 -! pods/portforward is not served
        debug web --image=x -! pods/ephemeralcontainers is not served
        patch pod web --subresource=resize -p {"spec":{"containers":[]}} -! posse up --control-plane kubernetes
        top pods -! Metrics API not available
        top nodes -! Metrics API not available
        delete pod web --wait=false -> deleted
        wait pod/web --for=delete --timeout=30s ->
        get pod web -! not found
        delete pod web --ignore-not-found ->
        delete pod web -! not found
        run shown --image=x --dry-run=client -o yaml -> kind: Pod
        run shown --image=x --dry-run=server -> server dry run
        run Wrong_Name --image=x -! Invalid value
        run once --image=x --restart=Never --annotations=posse.dev/run-seconds=0 -> created
        wait pod/once --for=jsonpath={.status.phase}=Succeeded --timeout=30s -> condition met
        get pod once -> Completed
        run named --image=x --overrides={"apiVersion":"v1","spec":{"schedulerName":"posse"}} -> created
        wait pod/named --for=condition=Ready --timeout=30s -> condition met
        run other --image=x --overrides={"apiVersion":"v1","spec":{"schedulerName":"other"}} -> created
        get pod other -> Pending
        delete pods --all --wait=false -> deleted
    """,
    "deployments": """
        create deployment web --image=registry.example/web:1 --replicas=3 -> created
        rollout status deployment/web --timeout=30s -> successfully rolled out
        get deployments -> 3/3
        get deploy -o wide -> registry.example/web:1
        get rs -> DESIRED
        get all -> replicaset.apps/web
        describe deployment web -> ScalingReplicaSet
        describe rs -> SuccessfulCreate
        scale deployment web --replicas=2 -> scaled
        scale deployment web --current-replicas=9 --replicas=1 -! Expected replicas to be 9
        rollout status deploy/web --timeout=30s -> successfully
        get deploy web -o jsonpath={.spec.replicas} -> 2
        get deploy web --subresource=scale -o jsonpath={.spec.replicas} -> 2
        set image deployment/web web=registry.example/web:2 -> image updated
        rollout status deploy/web --timeout=30s -> successfully
        rollout history deployment/web -> REVISION
        rollout history deployment/web --revision=2 -> registry.example/web:2
        rollout undo deployment/web -> rolled back
        rollout status deploy/web --timeout=30s -> successfully
        get deploy web -o jsonpath={..image} -> web:1
        rollout undo deployment/web --to-revision=2 -> rolled back
        rollout restart deployment/web -> restarted
        rollout status deploy/web --timeout=30s -> successfully
        rollout pause deployment/web -> paused
        rollout pause deployment/web -! already paused
        rollout resume deployment/web -> resumed
        set env deployment/web A=b -> env updated
        set env deployment/web --list -> A=b
        set resources deployment/web --requests=cpu=1 -> resource requirements updated
        set serviceaccount deployment/web default -> serviceaccount updated
        wait deployment/web --for=condition=Available --timeout=30s -> condition met
        expose deployment web --port=80 -> exposed
        get service web -> ClusterIP
        get svc web -o wide -> app=web
        describe service web -> Selector
        delete service web -> deleted
        autoscale deployment web --max=3 -! could not find the requested resource
        create deployment Wrong --image=x -! Invalid value
        get deploy web -o yaml -> observedGeneration
        delete deployment web -> deleted
        get deployments -> No resources found
    """,
    "jobs and sets": """
        create job sum --image=registry.example/sum:1 -> created
        wait job/sum --for=condition=complete --timeout=40s -> condition met
        get jobs -> 1/1
        describe job sum -> SuccessfulCreate
        get pods -l job-name=sum -> Completed
        delete job sum -> deleted
        get statefulsets -> No resources found
        get jobsets -> No resources found
        get leaderworkersets -> No resources found
        get controllerrevisions -> No resources found
    """,
    "configuration": """
        create configmap settings --from-literal=a=b -> created
        get configmap settings -> DATA
        get cm settings -o jsonpath={.data.a} -> b
        describe configmap settings -> a:
        create secret generic keys --from-literal=a=b -> created
        get secret keys -> Opaque
        get secret keys -o jsonpath={.data.a} -> Yg==
        describe secret keys -> 1 bytes
        patch secret keys -p {"data":{"a":"not!base64"}} -! illegal base64 data
        create serviceaccount robot -> created
        get sa robot -> robot
        create service clusterip plain --tcp=80:80 -> created
        create service clusterip headless --clusterip=None -> created
        create service nodeport open --tcp=80 -> created
        create service externalname away --external-name=example.com -> created
        get services -> 80/TCP
        get svc away -> example.com
        create priorityclass NS-high --value=1000 -> created
        get priorityclass NS-high -> 1000
        delete priorityclass NS-high -> deleted
        create poddisruptionbudget guard --min-available=1 --selector=app=web -> created
        get pdb guard -> ALLOWED DISRUPTIONS
        describe pdb guard -> Allowed disruptions
        create role reader --verb=get --resource=pods -! not
        create ingress way --rule=a/b=c:80 -! not
        delete configmap,secret,serviceaccount --all -> deleted
        get configmaps -> kube-root-ca.crt
    """,
    "nodes": """
        cordon node-0008 -> cordoned
        get node node-0008 -> SchedulingDisabled
        uncordon node-0008 -> uncordoned
        taint node node-0008 wet=yes:NoSchedule -> tainted
        describe node node-0008 -> wet=yes:NoSchedule
        taint node node-0008 wet=yes:NoSchedule- -> untainted
        taint node node-0008 wet=yes:Never -! invalid taint effect
        label node node-0008 pool=spare -> labeled
        get nodes -l pool=spare -> node-0008
        label node node-0008 pool- -> unlabeled
        annotate node node-0008 posse.dev/failure=not-ready -> annotated
        wait node/node-0008 --for=condition=Ready=false --timeout=30s -> condition met
        get node node-0008 -> NotReady
        annotate node node-0008 posse.dev/failure- -> annotated
        wait node/node-0008 --for=condition=Ready --timeout=30s -> condition met
        drain node-0008 --timeout=20s -> drained
        uncordon node-0008 -> uncordoned
    """,
    "namespaces": """
        create namespace NS-other -> created
        get namespace NS-other -> Active
        get sa -n NS-other -> default
        run lonely -n NS-other --image=x -> created
        get pods -n NS-other -> lonely
        delete namespace NS-other --timeout=60s -> deleted
        get namespace NS-other -! not found
        delete namespace default -! this namespace may not be deleted
        get pods -n NS-nowhere -> No resources found
        run lost -n NS-nowhere --image=x -! not found
        create namespace Wrong_Name -! Invalid value
    """,
    "refusals": """
        get daemonsets -! the server doesn't have a resource type
        get ingresses -! the server doesn't have a resource type
        get customresourcedefinitions -! the server doesn't have a resource type
        get pods --field-selector=spec.color=red -! field label not supported
        get pods -l a==b==c -! unable to parse requirement
        get pods/none -! not found
        get pods --token=wrong-wrong-wrong -! You must be logged in
        get --raw=/apis/apps/v1/daemonsets -! posse up --control-plane kubernetes
        get --raw=/api/v1/namespaces/NS/pods/x/log -! run in name only
        delete node nobody -! not found
        label pods nobody a=b -! not found
        rollout status deployment/nobody -! not found
        scale deployment nobody --replicas=1 -! not found
        explain nothing -! the server doesn't have a resource type
        explain pods.spec.colour -! does not exist
    """,
    **MORE_CHAPTERS,
}


def commands(chapter, namespace):
    """The commands of a chapter: their words, what is to be said, and whether they must fail."""
    for line in CHAPTERS[chapter].replace("EXAMPLES", str(EXAMPLES)).strip().splitlines():
        mark = " -! " if " -! " in line else " ->"
        command, _, said = re.sub(r"\bNS\b", namespace, line.strip()).partition(mark)
        yield command, said.strip(), mark == " -! "
