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
        create secret generic bond --from-literal=a=b -> created
        create token robot --bound-object-kind=Secret --bound-object-name=bond -> ey
        create token robot --bound-object-kind=Secret --bound-object-name=none -! secrets "none" not found
        auth can-i get pods -> yes
        auth can-i delete nodes --as=somebody -> yes
        auth whoami -o yaml -> system:masters
        get sa robot -o yaml -> uid
        describe sa robot -> Name
        delete sa robot -> deleted
        create token robot -! not found
        certificate approve x -! the server doesn't have a resource type
        auth can-i * * -> yes
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
    "odd options": """
        create deployment web --image=registry.example/web:1 --replicas=2 --port=80 -> created
        rollout status deploy/web --timeout=40s -> successfully
        get deploy web --subresource=status -o name -> deployment.apps/web
        get deploy web --subresource=scale -> DESIRED
        patch deploy web --subresource=scale --type=merge -p {"spec":{"replicas":3}} -> patched
        patch deploy web --type=json -p [{"op":"test","path":"/spec/replicas","value":9}] -! the test of /spec/replicas failed
        patch deploy web --type=json -p [{"op":"remove","path":"/spec/none/x"}] -! there is nothing at /spec/none
        patch deploy web -p {"spec":{"selector":{"matchLabels":{"a":"b"}}}} -! field is immutable
        rollout undo deploy/web --dry-run=server -! no rollout history found
        rollout undo deploy/web --to-revision=99 -! unable to find specified revision
        rollout restart deploy -l app=web -> restarted
        rollout history deploy/web -o yaml -> kind: ReplicaSet
        set env deploy/web --from=configmap/none -! not found
        set env deploy/web B=c --dry-run=server -o jsonpath={..env} -> "B"
        set env deploy --all C=d -> env updated
        set selector svc none a=b -! not found
        set image deploy web *=registry.example/web:3 -> image updated
        set image deploy web none=x -! unable to find container
        label deploy web a=b --dry-run=server -> labeled (server dry run)
        label pods --all x=y -> labeled
        label --list pods --all -> x=y
        annotate deploy web kubernetes.io/change-cause=first -> annotated
        wait --for=jsonpath={.metadata.annotations.deployment\\.kubernetes\\.io/revision}=4 deploy/web --timeout=20s -> met
        wait --for=create pod/none --timeout=1s -! timed out
        wait --for=condition=Nope deploy/web --timeout=1s -! timed out
        expose deploy web --port=80 --type=NodePort --name=np -> exposed
        get svc np -> 80:3
        describe svc np -> NodePort:
        expose deploy web --port=80 --type=LoadBalancer --name=lb -> exposed
        patch svc np -p {"spec":{"type":"ClusterIP"}} -> patched
        get svc np -> 80/TCP
        expose rs/none --port=80 -! not found
        run p1 --image=x --expose --port=80 -> service/p1 created
        run p2 --image=x --env=A=b --port=80 --dry-run=server -o yaml -> uid:
        run p3 --image=x --restart=Never -it --rm -- sh -! pods/log is not served
        debug node/node-0001 --image=x -> Creating debugging pod
        debug none --image=x --copy-to=y -! not found
        cp /dev/null none:/x -! not found
        create job j1 --image=x -- echo hi -> created
        create job j2 --from=cronjob/none -! not found
        create clusterrole r --verb=get --resource=pods -! posse up --control-plane kubernetes
        create rolebinding r --clusterrole=admin --user=u -! posse up --control-plane kubernetes
        create configmap c --from-literal=a=b --append-hash -> configmap/c-
        create priorityclass NS-far --value=2000000000 -! maximum allowed value
        create --raw=/api/v1/namespaces/NS/configmaps -f EXAMPLES/gang.yaml -! is not valid JSON
        taint nodes -l kubernetes.io/os=linux t=1:PreferNoSchedule -> tainted
        taint node node-0002 t=2:PreferNoSchedule -! --overwrite is false
        taint node node-0002 t=2:PreferNoSchedule --overwrite -> modified
        taint nodes --all t- -> untainted
        taint nodes --all t- -! not found
        cordon node-0007 --dry-run=server -> cordoned (server dry run)
        drain node-0007 --force --dry-run=server -> drained (server dry run)
        drain node-0007 --pod-selector=app=none -> drained
        uncordon -l kubernetes.io/hostname=node-0007 -> uncordoned
        get pods -l x,app!=none -o name -> pod/web
        get pods -l app=web, -! expected a label key
        get pods none other -! pods "other" not found
        get endpointslices -! the server doesn't have a resource type
        delete pods,deploy,svc,jobs --all --wait=false -> deleted
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
        explain deployments --output=plaintext-openapiv2 -> KIND:     Deployment
        explain podgroups.spec.schedulingPolicy --output=plaintext-openapiv2 --recursive -> minCount
        get --raw=/ -> /apis/apps/v1
        get --raw=/readyz?verbose -> [+]ping ok
        get --raw=/livez/ping -> ok
        get pods --server-print=false -> No resources found
        get nodes --field-selector=spec.unschedulable=true -> No resources found
        get nodes -o jsonpath={.bad -! unclosed action
        get --raw=/api/v1/nodes?limit=x -! limit must be a whole number
        get --raw=/api/v1/nodes?resourceVersion=999999999 -! Too large resource version
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
