"""Reviews of access: what a user may do, and who asks. The owner of an embedded cluster may do all."""

from collections.abc import Callable

from posse.kinds.machinery.kind import Json

OWNER = {"username": "posse-owner", "groups": ["system:masters", "system:authenticated"]}
REASON = "the token of `posse up` may do everything: there are no roles on the embedded server"
EVERYTHING = ["*"]


def _access(_spec: Json) -> Json:
    return {"allowed": True, "reason": REASON}


def _rules(_spec: Json) -> Json:
    resources = {"verbs": EVERYTHING, "apiGroups": EVERYTHING, "resources": EVERYTHING}
    others = {"verbs": EVERYTHING, "nonResourceURLs": EVERYTHING}
    return {"resourceRules": [resources], "nonResourceRules": [others], "incomplete": False}


_AUTHENTICATION = "/apis/authentication.k8s.io/v1"
_AUTHORIZATION = "/apis/authorization.k8s.io/v1"
REVIEWS: dict[str, tuple[str, Callable[[Json], Json] | None]] = {
    f"{_AUTHENTICATION}/selfsubjectreviews": ("SelfSubjectReview", None),
    f"{_AUTHORIZATION}/selfsubjectaccessreviews": ("SelfSubjectAccessReview", _access),
    f"{_AUTHORIZATION}/subjectaccessreviews": ("SubjectAccessReview", _access),
    f"{_AUTHORIZATION}/selfsubjectrulesreviews": ("SelfSubjectRulesReview", _rules),
}


def review_answer(path: str, body: Json, user: Json | None) -> Json:
    """Return the review with its status; nothing of it is stored."""
    kind, status = REVIEWS[path]
    version = path.removeprefix("/apis/").rpartition("/")[0]
    answer = {"kind": kind, "apiVersion": version, "metadata": {"creationTimestamp": None}}
    spec = body.get("spec") or {}
    return (
        answer | ({"spec": spec} if spec else {}) | {"status": status(spec) if status else {"userInfo": user}}
    )
