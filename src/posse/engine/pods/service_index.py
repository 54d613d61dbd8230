"""Which Services select a pod. They tell what belongs together, and so what is spread when a pod does not say."""

from collections.abc import Iterator, Mapping, Sequence

from posse.model.service import Service

Selector = Mapping[str, str]


class ServiceBook:
    """Services with a selector; one without selects nothing and says nothing."""

    def __init__(self) -> None:
        self._selectors: dict[tuple[str, str], Selector] = {}
        self._by_pair: dict[tuple[str, str, str], dict[str, Selector]] = {}
        """By namespace and one pair of the selector, then by name: a pod looks only where one of its labels leads."""

    def put(self, service: Service) -> Sequence[Selector]:
        """Returns the selectors of pods that may now belong together in another way than before."""
        namespace, name = service.metadata.namespace, service.metadata.name
        selector = service.spec.selector
        if selector == self._selectors.get((namespace, name), {}):
            return ()
        gone = self.drop(namespace, name)
        if not selector:
            return gone
        self._selectors[namespace, name] = selector
        self._by_pair.setdefault(_lead(namespace, selector), {})[name] = selector
        return (*gone, selector)

    def drop(self, namespace: str, name: str) -> Sequence[Selector]:
        selector = self._selectors.pop((namespace, name), None)
        if selector is None:
            return ()
        together = self._by_pair[_lead(namespace, selector)]
        del together[name]
        if not together:
            del self._by_pair[_lead(namespace, selector)]
        return (selector,)

    def shared_labels(self, namespace: str, labels: Mapping[str, str]) -> dict[str, str]:
        """The labels by which Services select a pod; none if no Service does."""
        shared: dict[str, str] = {}
        for selector in self._selecting(namespace, labels):
            shared.update(selector)
        return shared

    def _selecting(self, namespace: str, labels: Mapping[str, str]) -> Iterator[Selector]:
        for key, value in labels.items():
            for selector in self._by_pair.get((namespace, key, value), {}).values():
                if selects(selector, labels):
                    yield selector


def selects(selector: Selector, labels: Mapping[str, str]) -> bool:
    return selector.items() <= labels.items()


def _lead(namespace: str, selector: Selector) -> tuple[str, str, str]:
    key = min(selector)
    return namespace, key, selector[key]
