from posse.engine.intake.pod_events import PodEvents
from posse.engine.pods.policy import ServiceBook
from posse.model.meta import ObjectMeta
from posse.model.service import Service, ServiceSpec
from tests.support.builders import changed, node, pod
from tests.support.engine_driver import Driver


def service(name, namespace="test", **selector):
    return Service(metadata=ObjectMeta(name=name, namespace=namespace), spec=ServiceSpec(selector=selector))


def book_of(*services):
    book = ServiceBook()
    for one in services:
        book.put(one)
    return book


def test_a_pod_shares_the_labels_by_which_services_select_it():
    book = book_of(service("a", app="web"), service("b", app="web", tier="front"), service("c", app="db"))
    labels = {"app": "web", "tier": "front", "version": "3"}
    assert book.shared_labels("test", labels) == {"app": "web", "tier": "front"}


def test_all_pairs_of_a_selector_must_match():
    book = book_of(service("a", app="web", tier="front"))
    assert book.shared_labels("test", {"app": "web"}) == {}


def test_services_of_other_namespaces_select_nothing():
    assert book_of(service("a", namespace="other", app="web")).shared_labels("test", {"app": "web"}) == {}


def test_a_service_without_a_selector_selects_nothing():
    book = ServiceBook()
    assert book.put(service("a")) == ()
    assert book.shared_labels("test", {"app": "web"}) == {}


def test_a_new_service_concerns_those_it_selects():
    assert ServiceBook().put(service("a", app="web")) == ({"app": "web"},)


def test_a_changed_selector_concerns_those_before_and_those_after():
    book = book_of(service("a", app="web"))
    assert book.put(service("a", app="db")) == ({"app": "web"}, {"app": "db"})
    assert book.shared_labels("test", {"app": "web"}) == {}
    assert book.shared_labels("test", {"app": "db"}) == {"app": "db"}


def test_a_service_that_changes_otherwise_concerns_nobody():
    book = book_of(service("a", app="web"))
    assert book.put(service("a", app="web")) == ()


def test_a_selector_may_go():
    book = book_of(service("a", app="web"))
    assert book.put(service("a")) == ({"app": "web"},)
    assert book.shared_labels("test", {"app": "web"}) == {}


def test_what_is_dropped_concerns_those_it_selected_once():
    book = book_of(service("a", app="web"), service("b", app="web"))
    assert book.drop("test", "a") == ({"app": "web"},)
    assert book.drop("test", "a") == ()
    assert book.shared_labels("test", {"app": "web"}) == {"app": "web"}


def test_a_service_matters_to_a_pod_that_no_other_selects_by_these_labels():
    book = ServiceBook()
    book.put(service("a", app="web"))
    labels = {"app": "web", "tier": "front"}
    assert book.matters("test", "a", [{"app": "web"}], labels)
    book.put(service("b", app="web"))
    assert not book.matters("test", "b", [{"app": "web"}], labels)
    assert not book.matters("test", "a", [{"app": "web"}], labels)
    assert book.matters("test", "c", [{"app": "web", "tier": "front"}], labels)
    assert not book.matters("test", "c", [{"tier": "back"}], labels)


def test_pods_are_read_again_for_the_first_of_many_equal_services_only(monkeypatch):
    read = []
    monkeypatch.setattr(PodEvents, "reread", lambda _self, record: read.append(record.ref.name))
    web = changed(pod("web"), metadata={"labels": {"app": "web"}})
    driver = Driver(node("n"), web, pod("other"))
    driver.see(*(service(f"s{number}", app="web") for number in range(50)))
    driver.decide()
    assert read == ["web"]
    driver.lose(*(service(f"s{number}", app="web") for number in range(49)))
    driver.decide()
    assert read == ["web"]
    driver.lose(service("s49", app="web"))
    driver.decide()
    assert read == ["web", "web"]


def test_pods_are_read_again_once_for_many_services_with_different_selectors(monkeypatch):
    read = []
    reread = PodEvents.reread
    monkeypatch.setattr(
        PodEvents, "reread", lambda self, record: read.append(record.ref.name) or reread(self, record)
    )
    labels = {f"k{number}": "v" for number in range(50)}
    waiting = [changed(pod(f"w{number}", cpu="99"), metadata={"labels": labels}) for number in range(3)]
    running = changed(pod("running", on="n"), metadata={"labels": labels})
    driver = Driver(node("n"), *waiting, running)
    driver.decide()
    driver.see(*(service(f"s{number}", **{f"k{number}": "v"}) for number in range(50)))
    assert driver.engine.has_work
    driver.decide()
    assert sorted(read) == ["w0", "w1", "w2"]
    assert not driver.engine.has_work
    shared = driver.engine._knowledge.state.services.shared_labels("test", labels)
    assert shared == labels
