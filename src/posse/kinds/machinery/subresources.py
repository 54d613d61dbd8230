"""Bodies of subresources that are not the object itself: their structs, and the kinds that they are of."""

from typing import NamedTuple

from posse.model.account_token import AccountToken
from posse.model.binding import Binding
from posse.model.eviction import Eviction
from posse.model.meta import Shape
from posse.model.scale import Scale


class SubresourceBody(NamedTuple):
    struct: type[Shape]
    group: str
    version: str
    kind: str


BODIES = {
    "binding": SubresourceBody(Binding, "", "v1", "Binding"),
    "eviction": SubresourceBody(Eviction, "policy", "v1", "Eviction"),
    "token": SubresourceBody(AccountToken, "authentication.k8s.io", "v1", "TokenRequest"),
    "scale": SubresourceBody(Scale, "autoscaling", "v1", "Scale"),
}
