"""The Python clients: kubernetes, and kubernetes_asyncio."""

import asyncio

import kubernetes
import kubernetes_asyncio

POD = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "main", "image": "app:1"}]}}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"k": "v"}}
GROUP = {
    "apiVersion": "scheduling.k8s.io/v1beta1",
    "kind": "PodGroup",
    "metadata": {"name": "g"},
    "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
}


def use_kubernetes(kubeconfig: str) -> None:
    namespace = "python-client"
    with kubernetes.config.new_client_from_config(kubeconfig) as client:
        core, custom = kubernetes.client.CoreV1Api(client), kubernetes.client.CustomObjectsApi(client)
        core.create_namespace({"metadata": {"name": namespace}})
        try:
            core.create_namespaced_pod(namespace, POD)
            watch = kubernetes.watch.Watch()
            for event in watch.stream(core.list_namespaced_pod, namespace, timeout_seconds=30):
                assert (event["type"], event["object"].metadata.name) == ("ADDED", "a")
                watch.stop()
            core.patch_namespaced_pod("a", namespace, {"metadata": {"labels": {"x": "y"}}})
            [pod] = core.list_namespaced_pod(namespace, label_selector="x=y").items
            assert pod.spec.containers[0].image == "app:1"
            custom.create_namespaced_custom_object(
                "scheduling.k8s.io", "v1beta1", namespace, "podgroups", GROUP
            )
            _apply(kubernetes.dynamic.DynamicClient(client), namespace)
            core.delete_namespaced_pod("a", namespace)
        finally:
            core.delete_namespace(namespace)


def _apply(client: kubernetes.dynamic.DynamicClient, namespace: str) -> None:
    maps = client.resources.get(api_version="v1", kind="ConfigMap")
    made = maps.server_side_apply(CONFIG, "c", namespace, field_manager="me")
    assert made.metadata.managedFields[0].manager == "me"
    again = maps.server_side_apply(
        {**CONFIG, "data": {"k": "w"}}, "c", namespace, field_manager="you", force_conflicts=True
    )
    assert again.data.k == "w"


def use_kubernetes_asyncio(kubeconfig: str) -> None:
    asyncio.run(_use_asyncio(kubeconfig))


async def _use_asyncio(kubeconfig: str) -> None:
    namespace = "asyncio-client"
    async with await kubernetes_asyncio.config.new_client_from_config(kubeconfig) as client:
        core = kubernetes_asyncio.client.CoreV1Api(client)
        await core.create_namespace({"metadata": {"name": namespace}})
        try:
            await core.create_namespaced_pod(namespace, POD)
            async with kubernetes_asyncio.watch.Watch().stream(
                core.list_namespaced_pod, namespace, timeout_seconds=30
            ) as events:
                async for event in events:
                    assert (event["type"], event["object"].metadata.name) == ("ADDED", "a")
                    break
            await core.create_namespaced_config_map(namespace, CONFIG)
            seen = await core.read_namespaced_config_map("c", namespace)
            seen.data["k"] = "w"
            assert (await core.replace_namespaced_config_map("c", namespace, seen)).data == {"k": "w"}
            await core.delete_namespaced_pod("a", namespace)
        finally:
            await core.delete_namespace(namespace)
