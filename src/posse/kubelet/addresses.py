"""Addresses that look real for things that do not exist: pods and simulated nodes.

Nothing listens on them. A pool never hands out an address that one of its holders still has.
"""

from collections.abc import Hashable
from ipaddress import AddressValueError, IPv4Address, IPv4Network

POD_NETWORK = IPv4Network("10.128.0.0/9")
NODE_NETWORK = IPv4Network("172.16.0.0/12")


class AddressPool:
    """Assigns the addresses of one network in turn, so that released ones are not reused soon."""

    def __init__(self, network: IPv4Network) -> None:
        self._network = network
        self._by_holder: dict[Hashable, IPv4Address] = {}
        # How many holders claim an address: what was stored earlier may hold one twice.
        self._claims: dict[IPv4Address, int] = {}
        self._next = 1

    def take(self, holder: Hashable) -> str:
        """Return the holder's address, choosing a free one when it has none yet."""
        if holder not in self._by_holder:
            self._claim(holder, self._free_address())
        return str(self._by_holder[holder])

    def hold(self, holder: Hashable, address: str) -> None:
        """Note an address that the holder already has, for example from before a restart."""
        try:
            parsed = IPv4Address(address)
        except AddressValueError:
            return
        if parsed in self._network and self._by_holder.get(holder) != parsed:
            self.release(holder)
            self._claim(holder, parsed)

    def release(self, holder: Hashable) -> None:
        address = self._by_holder.pop(holder, None)
        if address is None:
            return
        self._claims[address] -= 1
        if not self._claims[address]:
            del self._claims[address]

    def _claim(self, holder: Hashable, address: IPv4Address) -> None:
        self._by_holder[holder] = address
        self._claims[address] = self._claims.get(address, 0) + 1

    def _free_address(self) -> IPv4Address:
        # Networks are larger than the number of pods; the bound only ends a broken loop.
        for _ in range(self._network.num_addresses):
            address = self._network[self._next]
            self._next = self._next % (self._network.num_addresses - 2) + 1
            if address not in self._claims:
                return address
        raise LookupError(f"no free address is left in {self._network}")
