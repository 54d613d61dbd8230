"""The client against the embedded API server, over HTTPS; what that server never does is scripted."""

import asyncio
import json
from contextlib import asynccontextmanager

import msgspec
import pytest
from aiohttp import web

from posse.client import http_transport, lists, raw_objects, repeating
from posse.client.connection import Call, Connection
from posse.client.credentials import Kubeconfig
from posse.client.http_transport import HttpTransport
from posse.client.reading import WirePage
from posse.client.write_priorities import RequestLimits
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import EVENT, LEASE, NODE, POD, POD_GROUP, POSSE_POD_GROUP, RESOURCE_CLAIM, WORKLOAD
from posse.kinds.wire.reading import read_object
from posse.kinds.wire.writing import write_object
from posse.model.pod import Pod
from posse.model.workload import PodGroup
from posse.transport.patches import MERGE_PATCH, STRATEGIC_MERGE_PATCH, Patch
from posse.transport.transport import PodBinding
from tests.support.live_server import running_server
from tests.support.scripted_server import ScriptedServer, connected, dropping, status, streaming


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(repeating, "FIRST_PAUSE_SECONDS", 0.0001)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running_server(tmp_path_factory.mktemp("server")) as running:
        running.call(running.service.create, NODE, "", {"metadata": {"name": "n1"}})
        yield running


@asynccontextmanager
async def opened(server, fence=lambda: None):
    connection = Connection(Kubeconfig(str(server.kubeconfig), None))
    await connection.open()
    try:
        yield HttpTransport(connection, RequestLimits(), fence)
    finally:
        await connection.close()


def on(server, scenario, **options):
    async def main():
        async with opened(server, **options) as transport, asyncio.timeout(20):
            return await scenario(transport)

    return asyncio.run(main())


def pod(name, **labels):
    container = {"name": "c", "image": "i"}
    return {"metadata": {"name": name, "labels": labels}, "spec": {"containers": [container]}}


def test_lists_come_in_pages_and_read_as_structs(server, monkeypatch):
    monkeypatch.setattr(lists, "PAGE", 3)

    async def scenario(transport):
        for number in range(8):
            await transport.create(POD, "default", pod(f"page{number}", of="pages"))
        return await transport.list(POD, "default", labels="of=pages")

    listing = on(server, scenario)
    read = [shown.read(Pod) for shown in listing.shown]
    assert [each.metadata.name for each in read] == [f"page{number}" for number in range(8)]
    assert {(each.api_version, each.kind) for each in read} == {("v1", "Pod")}
    assert listing.items[0]["metadata"]["labels"] == {"of": "pages"}


def test_structs_have_no_managed_fields_and_json_has(server):
    async def scenario(transport):
        made = await transport.create(POD, "default", pod("managed"))
        (listed,) = (await transport.list(POD, "default", fields="metadata.name=managed")).shown
        (event, *_) = await anext(transport.watch(POD, str(int(made["metadata"]["resourceVersion"]) - 1)))
        return listed, event.shown

    for shown in on(server, scenario):
        assert shown.obj["metadata"]["managedFields"]
        assert shown.read(Pod).metadata.managed_fields == ()
        assert shown.read(Pod).metadata.uid == shown.obj["metadata"]["uid"]


def test_structs_of_another_dialect_have_no_managed_fields_either():
    dialect = next(iter(POD_GROUP.dialects))
    metadata = {"name": "g", "uid": "u", "managedFields": [{"manager": "kubectl"}]}
    group = {"apiVersion": POD_GROUP.api_version_of(dialect), "kind": POD_GROUP.name, "metadata": metadata}
    encoded = msgspec.Raw(msgspec.json.encode(group))
    one = raw_objects.shown(POD_GROUP, dialect, encoded)
    for each in (one, *raw_objects.shown_items(POD_GROUP, dialect, [encoded])):
        assert each.obj["metadata"]["managedFields"]
        assert each.read(PodGroup).metadata.managed_fields == ()
        assert each.read(PodGroup).metadata.uid == "u"


def test_the_next_page_of_a_list_is_asked_for_while_one_is_read():
    asked = []

    async def ask(call):
        asked.append(call.query.get("continue", ""))
        token = str(len(asked)) if len(asked) < 3 else ""
        return msgspec.convert({"metadata": {"continue": token}, "items": []}, WirePage)

    async def main():
        seen = []
        async for page in lists.raw_pages(Call("GET", "/"), ask):
            await asyncio.sleep(0)
            seen.append((page.is_first, list(asked)))
        return seen

    assert asyncio.run(main()) == [(True, ["", "1"]), (False, ["", "1", "2"]), (False, ["", "1", "2"])]


def test_a_list_whose_place_was_forgotten_comes_once_more_at_once():
    def page(names, token=""):
        items = [{"metadata": {"name": name}} for name in names]
        return web.json_response({"metadata": {"resourceVersion": "7", "continue": token}, "items": items})

    pods = {"groupVersion": "v1", "resources": [{"name": "pods"}]}
    scripted = ScriptedServer(
        web.json_response({"groups": []}), web.json_response(pods), page("a", "t"), status(410), page("ab")
    )

    async def main():
        async with connected(scripted) as connection:
            return await HttpTransport(connection, RequestLimits()).list(POD)

    listing = asyncio.run(main())
    assert [item["metadata"]["name"] for item in listing.items] == ["a", "b"]
    assert "limit" not in scripted.requests[-1].query


SAYS_WHAT_IT_IS = {"apiVersion": WORKLOAD.api_version, "kind": WORKLOAD.name}
WITH_NULLS = SAYS_WHAT_IT_IS | {
    "metadata": {"name": "w", "uid": "u", "resourceVersion": "4", "labels": None},
    "spec": {"podGroupTemplates": None, "compositePodGroupTemplates": [{"name": "t", "priority": None}]},
}
WITHOUT_NULLS = SAYS_WHAT_IT_IS | {
    "metadata": {"name": "w", "uid": "u", "resourceVersion": "4"},
    "spec": {"compositePodGroupTemplates": [{"name": "t"}]},
}


def test_what_a_server_says_to_be_null_is_absent():
    page = web.json_response({"metadata": {"resourceVersion": "3"}, "items": [WITH_NULLS]})
    event = json.dumps({"type": "ADDED", "object": WITH_NULLS}).encode() + b"\n"
    answers = [page, streaming(event), web.json_response(WITH_NULLS)]
    scripted = ScriptedServer(*offered(WORKLOAD, WORKLOAD.storage_version), *answers)

    async def main():
        async with connected(scripted) as connection:
            transport = HttpTransport(connection, RequestLimits())
            (listed,) = (await transport.list(WORKLOAD)).items
            (shown,) = await anext(transport.watch(WORKLOAD, "3"))
            return [
                listed,
                shown.obj,
                await transport.get(WORKLOAD, "default", "w"),
                await transport.update(WORKLOAD, "default", "w", WITHOUT_NULLS),
            ]

    assert asyncio.run(main()) == [WITHOUT_NULLS] * 4


def test_a_watch_tells_what_happens_after_a_list(server):
    async def scenario(transport):
        version = (await transport.list(POD)).resource_version
        batches = transport.watch(POD, version)
        await transport.create(POD, "default", pod("watched"))
        (event,) = await anext(batches)
        assert transport.watches[POD].is_open
        await batches.aclose()
        return event

    event = on(server, scenario)
    assert (event.type, event.shown.read(Pod).metadata.name) == ("ADDED", "watched")


def test_objects_are_written_read_changed_and_deleted(server):
    async def scenario(transport):
        lease = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}}
        created = await transport.create(LEASE, "default", lease)
        updated = await transport.update(LEASE, "default", "l", created | {"spec": {"holderIdentity": "you"}})
        with pytest.raises(ApiError) as stale:
            await transport.update(LEASE, "default", "l", created)
        patch = Patch(MERGE_PATCH, {"metadata": {"labels": {"a": "b"}}})
        patched = await transport.patch(LEASE, "default", "l", patch)
        await transport.delete(LEASE, "default", "l", uid=created["metadata"]["uid"])
        with pytest.raises(ApiError) as gone:
            await transport.get(LEASE, "default", "l")
        return updated, stale.value.code, patched, gone.value.code

    updated, stale, patched, gone = on(server, scenario)
    assert updated["spec"]["holderIdentity"] == "you"
    assert patched["metadata"]["labels"] == {"a": "b"}
    assert (stale, gone) == (409, 404)


def test_a_deletion_is_of_the_object_that_was_meant(server):
    async def scenario(transport):
        await transport.create(POD, "default", pod("precious"))
        await transport.delete(POD, "default", "precious", uid="another", grace_seconds=0)

    with pytest.raises(ApiError) as error:
        on(server, scenario)
    assert error.value.code == 409


def test_pods_are_bound_together_each_with_its_own_answer(server):
    async def scenario(transport):
        uids = [
            (await transport.create(POD, "default", pod(name)))["metadata"]["uid"] for name in ("b1", "b2")
        ]
        first, second = (PodBinding("default", f"b{n}", uids[n - 1], "n1") for n in (1, 2))
        missing = PodBinding("default", "b3", "none", "n1")
        answers = await transport.bind_all([[first, missing], [second]])
        bound = [(await transport.get(POD, "default", each))["spec"]["nodeName"] for each in ("b1", "b2")]
        with pytest.raises(ApiError) as refused:
            await transport.bind("default", "b1", uids[0], "n2")
        await transport.bind("default", "b1", uids[0], "n1")
        return [[answer and answer.code for answer in group] for group in answers], bound, refused.value.code

    assert on(server, scenario) == ([[None, 404], [None]], ["n1", "n1"], 409)


def bound(scripted):
    """What comes of binding one pod."""

    async def main():
        async with connected(scripted) as connection, asyncio.timeout(10):
            ((answer,),) = await HttpTransport(connection, RequestLimits()).bind_all(
                [[PodBinding("ns", "p", "u", "n1")]]
            )
            return answer

    return asyncio.run(main())


def found(node="n1", uid="u"):
    return web.json_response({"metadata": {"name": "p", "uid": uid}, "spec": {"nodeName": node}})


@pytest.mark.parametrize(
    ("node", "uid", "is_bound"), [("n1", "u", True), ("n2", "u", False), ("n1", "v", False)]
)
def test_a_binding_whose_answer_was_lost_is_looked_for(node, uid, is_bound):
    scripted = ScriptedServer(dropping(b"{"), status(409, "Conflict", "already assigned"), found(node, uid))
    assert (bound(scripted) is None) == is_bound


@pytest.mark.parametrize("trouble", [status(503), dropping(b"{"), web.Response(text="<html>")])
def test_a_binding_of_which_no_answer_came_is_looked_for_until_one_does(trouble, monkeypatch):
    async def send_once(*_):
        raise ApiError(503, "Unreachable", "no answer for too long")

    monkeypatch.setattr(HttpTransport, "_send", send_once)
    monkeypatch.setattr(http_transport, "LOOK_SECONDS", 0.0)
    scripted = ScriptedServer(*[trouble] * 5, found())
    assert bound(scripted) is None
    assert len(scripted.requests) == 6


def test_a_server_that_does_not_know_us_yet_is_asked_again_where_the_pod_is():
    scripted = ScriptedServer(dropping(b"{"), status(403, "Forbidden"), status(403, "Forbidden"), found())
    assert bound(scripted) is None


def test_a_pod_that_is_gone_is_not_looked_for():
    scripted = ScriptedServer(status(404, "NotFound"))
    assert bound(scripted).code == 404
    assert len(scripted.requests) == 1


def test_a_binding_of_which_nothing_can_be_learnt_is_refused(monkeypatch):
    monkeypatch.setattr(http_transport, "LOOK_SECONDS", 0.01)
    scripted = ScriptedServer(status(409, "Conflict", "already assigned"), status(403, "Forbidden"))
    assert bound(scripted).code == 409


def test_a_success_that_is_no_answer_to_a_binding_does_not_count():
    scripted = ScriptedServer(
        web.Response(text="<html>please sign in</html>"), status(409, "Conflict"), found("n2")
    )
    assert bound(scripted).code == 409


OFFERED = web.json_response({"groups": []})
PODS = web.json_response({"groupVersion": "v1", "resources": [{"name": "pods"}]})


@pytest.mark.parametrize("text", ["<html>please sign in</html>", "[]", '"yes"', "\udcff", ""])
@pytest.mark.parametrize("before", [[], [OFFERED], [OFFERED, PODS]])
def test_a_success_that_cannot_be_read_is_asked_for_again(before, text):
    strange = web.Response(body=text.encode(errors="surrogateescape"))
    listed = web.json_response({"metadata": {"resourceVersion": "7"}, "items": []})
    rest = [OFFERED, PODS, listed][len(before) :]
    scripted = ScriptedServer(*before, strange, *rest)

    async def main():
        async with connected(scripted) as connection:
            return await HttpTransport(connection, RequestLimits()).list(POD)

    assert asyncio.run(main()).resource_version == "7"


def test_a_success_that_can_never_be_read_is_a_refusal(monkeypatch):
    events = web.json_response({"groupVersion": "v1", "resources": [{"name": "events"}]})
    scripted = ScriptedServer(OFFERED, events, web.Response(text="<html>"))

    async def main():
        async with connected(scripted) as connection:
            await HttpTransport(connection, RequestLimits()).create(EVENT, "ns", {"metadata": {"name": "e"}})

    with pytest.raises(ApiError, match="not from a Kubernetes API server") as error:
        asyncio.run(main())
    assert (error.value.code, error.value.reason) == (502, "Unreadable")


def test_an_offer_that_is_none_is_a_refusal():
    scripted = ScriptedServer(OFFERED, web.json_response({"kind": "Surprise"}))

    async def main():
        async with connected(scripted) as connection:
            await HttpTransport(connection, RequestLimits()).list(POD)

    with pytest.raises(ApiError, match="what it offers lacks 'groupVersion'"):
        asyncio.run(main())


def test_a_busy_server_gets_its_bindings_later():
    scripted = ScriptedServer(status(429, headers={"Retry-After": "0"}), status(503), web.json_response({}))

    async def main():
        async with connected(scripted) as connection:
            return await HttpTransport(connection, RequestLimits()).bind_all(
                [[PodBinding("ns", "p", "u", "n1")]]
            )

    assert asyncio.run(main()) == [[None]]
    body = json.loads(scripted.bodies[-1])
    assert body["metadata"] == {"name": "p", "namespace": "ns", "uid": "u"}
    assert body["target"]["name"] == "n1"


def test_an_event_is_given_up_at_once():
    events = {"groupVersion": "v1", "resources": [{"name": "events"}]}
    scripted = ScriptedServer(web.json_response({"groups": []}), web.json_response(events), status(503))

    async def main():
        async with connected(scripted) as connection:
            await HttpTransport(connection, RequestLimits()).create(EVENT, "ns", {"metadata": {"name": "e"}})

    with pytest.raises(ApiError):
        asyncio.run(main())
    assert len(scripted.requests) == 3


def test_nothing_is_written_behind_a_closed_fence(server):
    def closed():
        raise ApiError(403, "NotLeading", "no")

    async def scenario(transport):
        await transport.list(POD)
        ((answer,),) = await transport.bind_all([[PodBinding("default", "p", "u", "n1")]])
        with pytest.raises(ApiError):
            await transport.create(POD, "default", pod("never"))
        return answer.reason

    assert on(server, scenario, fence=closed) == "NotLeading"


GROUP = {"metadata": {"name": "g"}, "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}}


def condition(kind, reason="Scheduled"):
    return {"type": kind, "status": "True", "reason": reason, "lastTransitionTime": "2026-01-01T00:00:00Z"}


def test_conditions_are_merged_also_where_the_server_cannot_do_it(server, monkeypatch):
    real = Connection.ask

    async def choosy(self, call, *fence):
        """Custom resources take no strategic patches."""
        if call.content_type == STRATEGIC_MERGE_PATCH:
            raise ApiError(415, "UnsupportedMediaType", "no")
        return await real(self, call, *fence)

    monkeypatch.setattr(Connection, "ask", choosy)

    async def scenario(transport):
        uid = (await transport.create(POSSE_POD_GROUP, "default", GROUP))["metadata"]["uid"]
        for name in ("A", "B", "A"):
            body = {"metadata": {"uid": uid}, "status": {"conditions": [condition(name, f"Because{name}")]}}
            patch = Patch(STRATEGIC_MERGE_PATCH, body)
            await transport.patch(POSSE_POD_GROUP, "default", "g", patch, subresource="status")
        other = Patch(STRATEGIC_MERGE_PATCH, {"metadata": {"uid": "another"}, "status": {}})
        with pytest.raises(ApiError) as replaced:
            await transport.patch(POSSE_POD_GROUP, "default", "g", other, subresource="status")
        return await transport.get(POSSE_POD_GROUP, "default", "g"), replaced.value.code

    group, replaced = on(server, scenario)
    assert {each["type"] for each in group["status"]["conditions"]} == {"A", "B"}
    assert replaced == 409


def test_a_cluster_of_an_older_release_is_spoken_to_in_its_words(server, monkeypatch):
    monkeypatch.setattr(http_transport.ServedVersions, "of", lambda *_: asyncio.sleep(0, "v1alpha2"))

    async def scenario(transport):
        template = {"workloadName": "w", "templateName": "t"}
        group = {"metadata": {"name": "older"}, "spec": GROUP["spec"] | {"workloadRef": template}}
        uid = (await transport.create(POD_GROUP, "default", group))["metadata"]["uid"]
        status = {"conditions": [condition("PodGroupInitiallyScheduled")]}
        patch = Patch(STRATEGIC_MERGE_PATCH, {"metadata": {"uid": uid}, "status": status})
        answer = await transport.patch(POD_GROUP, "default", "older", patch, subresource="status")
        listing = await transport.list(POD_GROUP, "default", fields="metadata.name=older")
        return answer, listing.shown[0].read(PodGroup)

    answer, group = on(server, scenario)
    assert [each["type"] for each in answer["status"]["conditions"]] == ["PodGroupScheduled"]
    assert group.spec.workload_ref.template_name == "t"
    assert group.status.conditions[0].type == "PodGroupInitiallyScheduled"


def offered(kind, version):
    """What a cluster says that serves this kind in this version."""
    spoken = f"{kind.group}/{version}"
    groups = {"groups": [{"name": kind.group, "versions": [{"groupVersion": spoken}]}]}
    resources = {"groupVersion": spoken, "resources": [{"name": kind.plural}]}
    return web.json_response(groups), PODS, web.json_response(resources)


EMPTY = web.json_response({"metadata": {"resourceVersion": "3"}, "items": None})


def test_a_list_follows_a_cluster_that_was_upgraded():
    before, after = offered(POD_GROUP, "v1alpha2"), offered(POD_GROUP, POD_GROUP.storage_version)
    scripted = ScriptedServer(*before, EMPTY, status(404), *after, EMPTY)

    async def main():
        async with connected(scripted) as connection:
            transport = HttpTransport(connection, RequestLimits())
            await transport.list(POD_GROUP)
            return await transport.list(POD_GROUP)

    assert asyncio.run(main()).resource_version == "3"
    assert f"/{POD_GROUP.storage_version}/" in scripted.requests[-1].path


@pytest.mark.parametrize(
    "answers",
    [[status(404)], [OFFERED, status(404)], [OFFERED, PODS, status(404), OFFERED, PODS, status(404)]],
)
def test_what_finds_nothing_that_every_cluster_has_is_no_api_server(answers):
    async def main():
        async with connected(ScriptedServer(*answers)) as connection:
            await HttpTransport(connection, RequestLimits()).list(POD)

    with pytest.raises(ApiError) as error:
        asyncio.run(main())
    assert error.value.reason == "Unreadable"


def test_the_watch_of_a_kind_that_was_taken_away_is_no_matter_any_more():
    scripted = ScriptedServer(OFFERED, PODS, streaming(), status(404))

    async def main():
        async with connected(scripted) as connection:
            transport = HttpTransport(connection, RequestLimits())
            with pytest.raises(ApiError):
                await anext(transport.watch(POD, "1"))
            return transport.watches

    assert asyncio.run(main()) == {}


def test_versions_are_those_of_a_list_in_pages(server, monkeypatch):
    monkeypatch.setattr(lists, "PAGE", 2)

    async def scenario(transport):
        for number in range(5):
            await transport.create(LEASE, "default", {"metadata": {"name": f"versions{number}"}})
        return await transport.versions(LEASE), await transport.list(LEASE), await transport.versions(NODE)

    found, listing, nodes = on(server, scenario)
    metadata = [item["metadata"] for item in listing.items]
    assert found.of == {(each["namespace"], each["name"]): each["resourceVersion"] for each in metadata}
    assert len(found.of) >= 5
    assert found.at == listing.resource_version
    assert list(nodes.of) == [("", "n1")]


def test_a_kind_that_is_not_served_is_not_found_until_it_is():
    served = offered(POSSE_POD_GROUP, POSSE_POD_GROUP.storage_version)
    scripted = ScriptedServer(OFFERED, PODS, *served, EMPTY)

    async def main():
        async with connected(scripted) as connection:
            transport = HttpTransport(connection, RequestLimits())
            with pytest.raises(ApiError) as error:
                await transport.list(POSSE_POD_GROUP)
            transport._versions.doubt()
            return error.value.code, await transport.list(POSSE_POD_GROUP)

    code, listing = asyncio.run(main())
    assert code == 404
    assert (listing.items, listing.resource_version) == ([], "3")


CLAIM = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "c", "uid": "u", "resourceVersion": "3"},
}
FINALIZER = Patch(STRATEGIC_MERGE_PATCH, {"metadata": {"uid": "u", "finalizers": ["f"]}})


def claim_patched(*answers):
    """Patch a claim whose opaque parameters a patch would change, as an API server sees it."""
    scripted = ScriptedServer(*offered(RESOURCE_CLAIM, "v1"), status(422, "Invalid"), *answers)

    async def main():
        async with connected(scripted) as connection:
            transport = HttpTransport(connection, RequestLimits())
            return await transport.patch(RESOURCE_CLAIM, "default", "c", FINALIZER)

    return asyncio.run(main()), scripted


def test_items_are_added_in_protobuf_to_a_claim_that_cannot_be_patched():
    stored = web.Response(body=write_object(CLAIM))
    _, scripted = claim_patched(stored, status(409, "Conflict"), stored, web.json_response(CLAIM))
    put = scripted.requests[-1]
    assert (put.method, put.content_type) == ("PUT", "application/vnd.kubernetes.protobuf")
    assert read_object(scripted.bodies[-1]) == CLAIM | {
        "metadata": {**CLAIM["metadata"], "finalizers": ["f"]}
    }
    assert scripted.requests[-2].headers["Accept"] == "application/vnd.kubernetes.protobuf"


@pytest.mark.parametrize(
    "stored",
    [write_object(CLAIM | {"metadata": {"name": "c", "uid": "another"}}), b"a page of something else"],
    ids=["of another claim", "unreadable"],
)
def test_the_refusal_of_a_patch_stands_if_no_item_can_be_added(stored):
    with pytest.raises(ApiError) as refused:
        claim_patched(web.Response(body=stored))
    assert refused.value.code == 422
