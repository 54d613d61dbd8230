"""Further chapters of the tour: storage, schedules, quotas, tokens, apply, formats and groups of pods.

`EXAMPLES` stands for the folder of examples.
"""

MORE_CHAPTERS = {
    "storage": """
        get storageclass -> standard (default)
        get sc -o wide -> posse.dev/simulated
        describe sc standard -> WaitForFirstConsumer
        get pv -> No resources found
        get pvc -> No resources found
        apply -f EXAMPLES/statefulsets/volumes.yaml -> created
        rollout status statefulset/notes --timeout=40s -> complete
        get statefulsets -> 2/2
        get sts notes -o wide -> registry.example
        get pvc -> Bound
        get pvc data-notes-0 -o jsonpath={.spec.storageClassName} -> standard
        get pvc -o wide -> Filesystem
        describe pvc data-notes-0 -> ProvisioningSucceeded
        get pv -> Delete
        get pv -o jsonpath={.items[0].spec.claimRef.name} -> data-notes
        scale sts notes --replicas=1 -> scaled
        rollout status sts/notes --timeout=40s -> complete
        describe sts notes -> SuccessfulCreate
        delete sts notes -> deleted
        wait pod/notes-0 --for=delete --timeout=30s ->
        get pvc -o name -> persistentvolumeclaim/data-notes-0
        delete pvc --all -> deleted
        get pvc -> No resources found
        patch sc standard -p {"metadata":{"annotations":{"note":"x"}}} -> patched
        patch sc standard -p {"provisioner":"other"} -! updates to provisioner are forbidden
        delete pv nothing -! not found
        get csidrivers -> No resources found
        get csinodes -> No resources found
    """,
    "schedules": """
        create cronjob tick --image=x --schedule=@hourly -> cronjob.batch/tick created
        get cronjobs -> @hourly
        get cj tick -o wide -> CONTAINERS
        get cj tick -o jsonpath={.spec.concurrencyPolicy} -> Allow
        describe cronjob tick -> Concurrency Policy
        create job now --from=cronjob/tick -> job.batch/now created
        wait job/now --for=condition=complete --timeout=40s -> condition met
        get job now -o jsonpath={.metadata.ownerReferences[0].kind} -> CronJob
        patch cj tick -p {"spec":{"suspend":true}} -> patched
        get cj tick -> True
        patch cj tick -p {"spec":{"timeZone":"Europe/Berlin"}} -> patched
        get cj tick -> Europe/Berlin
        patch cj tick -p {"spec":{"timeZone":"Mars/Base"}} -! unknown time zone
        patch cj tick -p {"spec":{"concurrencyPolicy":"Maybe"}} -! supported values
        patch cj tick -p {"spec":{"schedule":"99"}} -! expected exactly 5 fields
        create cronjob wrong --image=x --schedule=never -! expected exactly 5 fields
        explain cronjob.spec.schedule -> minute, hour, day, month, weekday
        set image cronjob/tick tick=y -> image updated
        delete cj tick -> deleted
        wait job/now --for=delete --timeout=30s ->
        get cj -> No resources found
    """,
    "quotas": """
        create quota few --hard=pods=1,services=1 -> created
        wait quota/few --for=jsonpath={.status.hard.pods}=1 --timeout=30s -> condition met
        get quota few -> pods: 0/1
        describe quota few -> Hard
        describe namespace NS -> Resource Quotas
        run one --image=x -> created
        run two --image=x -! exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1
        create service clusterip web --tcp=80 -> created
        create service clusterip more --tcp=80 -! exceeded quota
        create deployment web --image=x -> created
        wait rs -l app=web --for=jsonpath={.status.observedGeneration}=1 --timeout=30s -> condition met
        get deployment web -> 0/1
        patch quota few -p {"spec":{"hard":{"pods":"5"}}} -> patched
        rollout status deployment/web --timeout=60s -> successfully rolled out
        run two --image=x -> created
        create quota odd --hard=pods=1 --scopes=Odd -! unsupported scope
        create quota best --hard=pods=9 --scopes=BestEffort -> created
        get resourcequotas -> best
        delete quota --all -> deleted
        get limitranges -> No resources found
        explain limitrange.spec.limits.defaultRequest -> Requests of containers that have none
        explain quota.spec.hard -> How much the namespace may hold
        delete deploy,svc,pods --all --wait=false -> deleted
    """,
    "accounts": """
        create serviceaccount robot -> created
        create token robot -> ey
        create token robot --duration=10m -> ey
        create token robot --duration=1m -! may not specify a duration less than 10 minutes
        create token robot --audience=me -o yaml -> TokenRequest
        create token nothing -! not found
        auth can-i get pods -> yes
        auth can-i delete nodes --as=somebody -> yes
        auth whoami -o yaml -> system:masters
        get sa robot -o yaml -> uid
        describe sa robot -> Name
        delete sa robot -> deleted
        create token robot -! not found
    """,
    "applying": """
        apply -f EXAMPLES/job.yaml --dry-run=client -> (dry run)
        apply -f EXAMPLES/job.yaml --dry-run=server -> (server dry run)
        diff -f EXAMPLES/job.yaml -! apiVersion
        apply -f EXAMPLES/job.yaml -> created
        apply -f EXAMPLES/job.yaml -> unchanged
        diff -f EXAMPLES/job.yaml ->
        apply view-last-applied -f EXAMPLES/job.yaml -> kind: Job
        apply --server-side -f EXAMPLES/job.yaml -> serverside-applied
        get -f EXAMPLES/job.yaml -> COMPLETIONS
        get -f EXAMPLES/job.yaml -o yaml --show-managed-fields -> operation: Apply
        describe -f EXAMPLES/job.yaml -> Parallelism
        label -f EXAMPLES/job.yaml team=blue -> labeled
        annotate -f EXAMPLES/job.yaml note=x -> annotated
        get jobs -l team=blue -o name -> job.batch/
        get jobs -l team -o name -> job.batch/
        get jobs -l team=red -> No resources found
        replace -f EXAMPLES/job.yaml -! field is immutable
        create -f EXAMPLES/job.yaml -! already exists
        delete -f EXAMPLES/job.yaml -> deleted
        delete -f EXAMPLES/job.yaml -! not found
        delete -f EXAMPLES/job.yaml --ignore-not-found ->
        apply -f EXAMPLES/nothing.yaml -! does not exist
        create configmap kept --from-literal=a=b --save-config -> created
        apply edit-last-applied configmap/nothing -! not found
        create configmap shown --from-literal=a=b --dry-run=client -o yaml -> a: b
        create configmap files --from-file=EXAMPLES/job.yaml -> created
        get cm files -o jsonpath={.data} -> job.yaml
        create secret generic word --from-literal=a=b --type=example.com/x -> created
        get secret word -> example.com/x
        create secret docker-registry pull --docker-server=r --docker-username=u --docker-password=p -> created
        get secret pull -> kubernetes.io/dockerconfigjson
        get secrets --field-selector=type=example.com/x -> word
    """,
    "formats": """
        get nodes -o json -> "kind": "List"
        get nodes -o yaml -> kind: List
        get nodes -o jsonpath={.items[*].metadata.name} -> node-0001 node-0002
        get nodes -o jsonpath={range.items[*]}{.metadata.name}{end} -> node-0001node-0002
        get nodes -o jsonpath-as-json={.items[0].metadata.name} -> "node-0001"
        get nodes -o go-template={{.kind}} -> List
        get nodes -o custom-columns=NAME:.metadata.name --no-headers -> node-0001
        get nodes,namespaces -> namespace/default
        get node/node-0001 ns/default -> namespace/default
        get nodes --output=name -> node/node-0001
        get nodes -o wide --no-headers -> simulated
        get nodes --sort-by=.metadata.creationTimestamp -> node-0001
        get nodes --selector=kubernetes.io/hostname=node-0003 -> node-0003
        get nodes --field-selector=metadata.name=node-0004 -> node-0004
        get nodes --show-kind -> node/node-0001
        get nodes --chunk-size=0 -> node-0008
        get --raw=/api -> APIVersions
        get --raw=/apis -> APIGroupList
        get --raw=/apis/apps/v1 -> deployments/scale
        get --raw=/openapi/v3 -> apis/apps/v1
        get --raw=/livez -> ok
        get --raw=/metrics -> scheduler_
        get --raw=/api/v1/nodes/node-0001 -> "name":"node-0001"
        explain pods -> FIELDS
        explain pod.spec.containers.resources -> requests
        explain deployment.spec.strategy.rollingUpdate.maxSurge -> Pods beyond the wanted ones
        explain pod --recursive -> tolerations
        explain node.status.conditions -> lastHeartbeatTime
        explain pvc.spec.storageClassName -> an empty text means none
        version -o json -> serverVersion
        cluster-info -> running at
    """,
    "groups of pods": """
        apply -f EXAMPLES/gang.yaml -n default -> podgroup
        get podgroups -n default -> NAME
        get podgroups -A -o wide -> NAME
        get podgroups -n default -o yaml -> minCount
        describe podgroups -n default -> Min Count
        get workloads -n default -> No resources found
        get podgroups.scheduling.k8s.io -n default -o name -> podgroup.scheduling.k8s.io/
        explain podgroup.spec -> schedulingPolicy
        explain podgroup.spec.schedulingPolicy.gang.minCount -> FIELD: minCount
        delete -f EXAMPLES/gang.yaml -n default -> deleted
        get compositepodgroups -> No resources found
        get podgroups.scheduling.volcano.sh -> No resources found
        get podgroups.scheduling.x-k8s.io -> No resources found
        get resourceclaims -> No resources found
        get deviceclasses -> No resources found
        get resourceslices -> No resources found
    """,
}
