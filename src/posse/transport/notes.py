"""What a Kubernetes Event will say, before it is written."""

from typing import Any, NamedTuple

Json = dict[str, Any]


class Subject(NamedTuple):
    """The object that an event is about."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str

    def reference(self) -> Json:
        place = {"namespace": self.namespace} if self.namespace else {}
        return {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "name": self.name,
            "uid": self.uid,
            **place,
        }


class Note(NamedTuple):
    """An Event to be written; `reporter` is the component, `action` defaults to the reason."""

    reporter: str
    subject: Subject
    reason: str
    message: str
    action: str = ""
    warning: bool = False
    related: Subject | None = None
