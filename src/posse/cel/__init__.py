"""CEL, the expression language in which claims and device classes select devices. Pure, without IO."""

from posse.cel.device_selector import (
    CompiledSelector,
    CostLimitError,
    DeviceFacts,
    DeviceSelectorError,
    device_selector,
)
from posse.cel.errors import CelError
from posse.cel.semver import Semver, parse_semver

__all__ = [
    "CelError",
    "CompiledSelector",
    "CostLimitError",
    "DeviceFacts",
    "DeviceSelectorError",
    "Semver",
    "device_selector",
    "parse_semver",
]
