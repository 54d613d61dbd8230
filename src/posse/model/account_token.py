"""The request for a token of a ServiceAccount, and the answer in its status."""

from typing import Annotated

from msgspec import Meta

from posse.model.meta import ApiObject, Int64, ObjectReference, Shape, Timestamp


class AccountTokenSpec(Shape):
    audiences: Annotated[tuple[str, ...], Meta(description="What the token is meant for.")] = ()
    expiration_seconds: Annotated[
        Int64 | None, Meta(description="How long it is valid: at least 600 seconds. Default 3600.")
    ] = None
    bound_object_ref: Annotated[
        ObjectReference | None, Meta(description="A Pod, Secret or Node with which the token ends.")
    ] = None


class AccountTokenStatus(Shape):
    token: Annotated[str, Meta(description="The token.")] = ""
    expiration_timestamp: Annotated[Timestamp, Meta(description="When it ends.")] = ""


class AccountToken(ApiObject):
    """Asks for a token of a ServiceAccount."""

    spec: AccountTokenSpec = AccountTokenSpec()
    status: AccountTokenStatus = AccountTokenStatus()
