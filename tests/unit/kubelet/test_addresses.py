from ipaddress import IPv4Network

import pytest

from posse.kubelet.addresses import AddressPool


def pool_of_two() -> AddressPool:
    return AddressPool(IPv4Network("10.0.0.0/30"))


def test_each_holder_gets_its_own_address_and_keeps_it():
    pool = pool_of_two()
    first = pool.take("a")
    assert pool.take("b") != first
    assert pool.take("a") == first


def test_a_released_address_can_be_taken_again():
    pool = pool_of_two()
    pool.take("a")
    pool.take("b")
    pool.release("a")
    assert pool.take("c") == "10.0.0.1"


def test_an_address_known_from_before_is_not_given_to_another():
    pool = pool_of_two()
    pool.hold("old", "10.0.0.1")
    assert pool.take("new") == "10.0.0.2"
    assert pool.take("old") == "10.0.0.1"


def test_an_address_held_twice_is_free_only_after_both_let_go():
    pool = pool_of_two()
    pool.hold("a", "10.0.0.1")
    pool.hold("b", "10.0.0.1")
    pool.release("a")
    assert pool.take("c") == "10.0.0.2"
    pool.release("b")
    assert pool.take("d") == "10.0.0.1"


@pytest.mark.parametrize("address", ["", "nonsense", "192.168.0.1", "fe80::1"])
def test_addresses_of_elsewhere_are_not_noted(address):
    pool = pool_of_two()
    pool.hold("a", address)
    assert pool.take("a") == "10.0.0.1"


def test_holding_again_moves_the_holder():
    pool = pool_of_two()
    pool.hold("a", "10.0.0.1")
    pool.hold("a", "10.0.0.2")
    assert pool.take("b") == "10.0.0.1"


def test_a_full_pool_says_so():
    pool = pool_of_two()
    pool.take("a")
    pool.take("b")
    with pytest.raises(LookupError, match=r"10\.0\.0\.0/30"):
        pool.take("c")


def test_releasing_nothing_is_harmless():
    pool_of_two().release("nobody")
