from posse.controllers.namespace_furniture import NamespaceFurniture
from posse.controllers.steps import Create, Write
from posse.kinds.registry import CONFIG_MAP, NAMESPACE, SERVICE_ACCOUNT
from tests.support.plans import planned

TEAM = {"metadata": {"name": "team", "uid": "team", "resourceVersion": "1"}}


def thing(name, version="2", **fields):
    metadata = {"namespace": "team", "name": name, "uid": f"uid-{name}", "resourceVersion": version}
    return {"metadata": metadata, **fields}


def furniture(*seen):
    made = NamespaceFurniture("PEM")
    for kind, obj in seen:
        made.see(kind, obj)
    return made


def test_a_namespace_gets_an_account_and_the_certificate():
    account, config = planned(furniture((NAMESPACE, TEAM)))
    assert (account.kind, account.obj["metadata"]["name"]) == (SERVICE_ACCOUNT, "default")
    assert (config.kind, config.obj["data"]) == (CONFIG_MAP, {"ca.crt": "PEM"})


def test_what_is_there_stays_and_what_is_lost_comes_back():
    account, config = thing("default"), thing("kube-root-ca.crt", data={"ca.crt": "PEM"})
    made = furniture((NAMESPACE, TEAM), (SERVICE_ACCOUNT, account), (CONFIG_MAP, config))
    assert planned(made) == []
    made.lose(SERVICE_ACCOUNT, account)
    assert [type(step) for step in planned(made)] == [Create]


def test_an_old_certificate_is_replaced():
    config = thing("kube-root-ca.crt", data={"ca.crt": "OLD"})
    made = furniture((SERVICE_ACCOUNT, thing("default")), (CONFIG_MAP, config), (NAMESPACE, TEAM))
    [step] = planned(made)
    assert isinstance(step, Write)
    assert step.obj["data"] == {"ca.crt": "PEM"}


def test_a_namespace_that_goes_gets_nothing():
    going = {"metadata": TEAM["metadata"] | {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert planned(furniture((NAMESPACE, going))) == []
