"""Gives every namespace what pods expect in it: the ServiceAccount `default`, and the certificate of the API
server in the ConfigMap `kube-root-ca.crt`.
"""

from posse.controllers.observed import ObservedObjects
from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Create, Plan, Write, is_deleting
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import CONFIG_MAP, NAMESPACE, SERVICE_ACCOUNT

ACCOUNT_NAME = "default"
CERTIFICATE_NAME = "kube-root-ca.crt"


class NamespaceFurniture(Reconciler):
    """Keys are names of namespaces."""

    reporter = "namespace-furniture"
    kinds = (SERVICE_ACCOUNT, CONFIG_MAP, NAMESPACE)

    def __init__(self, authority: str) -> None:
        """`authority` is the certificate of the API server, as PEM."""
        self._certificates = {"ca.crt": authority}
        self._observed = ObservedObjects()
        self.touched = Touched()

    def see(self, kind: Kind, obj: Json) -> None:
        if self._matters(kind, obj) and self._observed.see(kind, obj):
            self.touched.add(_namespace(kind, obj))

    def lose(self, kind: Kind, obj: Json) -> None:
        if self._matters(kind, obj):
            self._observed.lose(obj)
            self.touched.add(_namespace(kind, obj))

    def plan(self, key: str, _now: float) -> Plan:
        namespace, result = self._observed.at(NAMESPACE, "", key), Plan()
        if namespace is None or is_deleting(namespace):
            return result
        if self._observed.at(SERVICE_ACCOUNT, key, ACCOUNT_NAME) is None:
            account = {"metadata": {"name": ACCOUNT_NAME, "namespace": key}}
            result.then(Create(SERVICE_ACCOUNT, account, unless_present=True))
        config = self._observed.at(CONFIG_MAP, key, CERTIFICATE_NAME)
        if config is None:
            made = {"metadata": {"name": CERTIFICATE_NAME, "namespace": key}, "data": self._certificates}
            result.then(Create(CONFIG_MAP, made, unless_present=True))
        elif config.get("data") != self._certificates and not is_deleting(config):
            result.then(Write(CONFIG_MAP, config | {"data": self._certificates}))
        return result

    def _matters(self, kind: Kind, obj: Json) -> bool:
        return kind is NAMESPACE or obj["metadata"]["name"] in (ACCOUNT_NAME, CERTIFICATE_NAME)


def _namespace(kind: Kind, obj: Json) -> str:
    name: str = obj["metadata"]["name" if kind is NAMESPACE else "namespace"]
    return name
