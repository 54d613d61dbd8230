"""Warns once of each permission that the API server denies, until it is granted.

Other refusals with the same code, as in a namespace that is being removed, are no matter of permissions.
"""

import logging
import re

from posse.kinds.machinery.errors import FORBIDDEN, ApiError

log = logging.getLogger(__name__)

_DENIAL = re.compile(r'cannot (\S+) resource "([^"]+)"(?: in API group "([^"]*)")?')
"""How every authorizer of Kubernetes puts it."""


class PermissionWarnings:
    def __init__(self) -> None:
        self._told: set[tuple[str, ...]] = set()

    def note(self, error: ApiError) -> None:
        denial = _DENIAL.search(error.message) if error.code == FORBIDDEN else None
        if denial is None or denial.groups("") in self._told:
            return
        self._told.add(denial.groups(""))
        verb, resource, group = denial.groups("")
        log.warning('the role lacks %s on %s of API group "%s": %s', verb, resource, group, error)

    def allowed(self, verb: str, resource: str, group: str = "") -> None:
        """Something of this kind was done; if it is denied again, that is news."""
        self._told.discard((verb, resource, group))
