"""The texts and Status objects of refused requests."""

import pytest

from posse.kinds.machinery import errors
from posse.kinds.machinery.errors import ApiError, CauseType, FieldError
from posse.kinds.registry import NAMESPACE, POD, POD_GROUP
from posse.model.workload import PodGroupTemplate


@pytest.mark.parametrize(
    ("error", "body"),
    [
        (FieldError.required("f"), "Required value"),
        (FieldError.required("f", "must be set"), "Required value: must be set"),
        (FieldError.invalid("f", "a b", "is bad"), 'Invalid value: "a b": is bad'),
        (FieldError.invalid("f", -1, "is bad"), "Invalid value: -1: is bad"),
        (FieldError.invalid("f", True, "is bad"), "Invalid value: true: is bad"),
        (FieldError.invalid("f", None, "field is immutable"), "Invalid value: null: field is immutable"),
        (FieldError.invalid("f", {"a": [1]}, "is bad"), 'Invalid value: {"a":[1]}: is bad'),
        (
            FieldError.not_supported("f", "X", ("b", "a")),
            'Unsupported value: "X": supported values: "a", "b"',
        ),
        (FieldError.forbidden("f", "item may not be added"), "Forbidden: item may not be added"),
        (FieldError.duplicate("f", "x"), 'Duplicate value: "x"'),
        (FieldError.duplicate("f", PodGroupTemplate(name="x")), 'Duplicate value: {"name":"x"}'),
        (FieldError.too_many("f", 9, 8), "Too many: 9: must have at most 8 items"),
        (FieldError.too_many("f", 2, 1), "Too many: 2: must have at most 1 item"),
        (FieldError.too_long("f", 1024), "Too long: may not be more than 1024 bytes"),
        (FieldError.not_found("f", "v"), 'Not found: "v"'),
        (FieldError("f", CauseType.TYPE_INVALID, 1, "no"), "Invalid value: 1: no"),
    ],
)
def test_body_of_a_field_error(error: FieldError, body: str) -> None:
    assert error.body() == body
    assert str(error) == f"f: {body}"


def test_invalid_with_one_error() -> None:
    error = errors.invalid(POD_GROUP, "pg", [FieldError.required("spec.x")])
    assert error.status == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'PodGroup.scheduling.k8s.io "pg" is invalid: spec.x: Required value',
        "reason": "Invalid",
        "details": {
            "name": "pg",
            "group": "scheduling.k8s.io",
            "kind": "PodGroup",
            "causes": [{"reason": "FieldValueRequired", "message": "Required value", "field": "spec.x"}],
        },
        "code": 422,
    }


def test_invalid_with_several_errors_says_each_once() -> None:
    error = errors.invalid(
        POD, "p", [FieldError.required("a"), FieldError.forbidden("b", "no"), FieldError.required("a")]
    )
    assert error.message == 'Pod "p" is invalid: [a: Required value, b: Forbidden: no]'
    assert error.details is not None
    assert [cause["field"] for cause in error.details["causes"]] == ["a", "b"]
    assert error.details["kind"] == "Pod"
    assert "group" not in error.details


@pytest.mark.parametrize(
    ("error", "code", "reason", "message"),
    [
        (errors.not_found(POD, "p"), 404, "NotFound", 'pods "p" not found'),
        (
            errors.not_found(POD_GROUP, "pg"),
            404,
            "NotFound",
            'podgroups.scheduling.k8s.io "pg" not found',
        ),
        (errors.already_exists(POD, "p"), 409, "AlreadyExists", 'pods "p" already exists'),
        (
            errors.conflict(POD_GROUP, "pg"),
            409,
            "Conflict",
            (
                'Operation cannot be fulfilled on podgroups.scheduling.k8s.io "pg": the object has been modified; '
                "please apply your changes to the latest version and try again"
            ),
        ),
        (errors.forbidden(POD, "p", "no"), 403, "Forbidden", 'pods "p" is forbidden: no'),
        (
            errors.method_not_allowed(POD, "create"),
            405,
            "MethodNotAllowed",
            'create is not supported on resources of kind "pods"',
        ),
        (errors.bad_request("what?"), 400, "BadRequest", "what?"),
        (errors.expired("too old"), 410, "Expired", "too old"),
        (errors.internal("oops"), 500, "InternalError", "Internal error occurred: oops"),
    ],
)
def test_other_refusals(error: ApiError, code: int, reason: str, message: str) -> None:
    assert (error.code, error.reason, error.message, str(error)) == (code, reason, message, message)
    assert error.status["code"] == code


def test_details_of_a_resource_name_its_plural() -> None:
    assert errors.not_found(POD_GROUP, "pg").details == {
        "name": "pg",
        "group": "scheduling.k8s.io",
        "kind": "podgroups",
    }


def test_terminating_namespace_is_a_cause() -> None:
    error = errors.namespace_terminating(POD, "p", "ns")
    assert error.message == (
        'pods "p" is forbidden: unable to create new content in namespace ns because it is being terminated'
    )
    assert error.status["details"]["causes"][0]["reason"] == "NamespaceTerminating"


def test_core_names_have_no_suffix() -> None:
    assert (NAMESPACE.group_resource, NAMESPACE.group_kind, NAMESPACE.api_version) == (
        "namespaces",
        "Namespace",
        "v1",
    )
