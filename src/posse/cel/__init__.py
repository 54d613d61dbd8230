"""CEL, the expression language in which claims and device classes select devices. Pure, without IO."""

from posse.cel.device_selector import (
    CostLimitError,
    DeviceFacts,
    DeviceSelector,
    DeviceSelectorError,
    device_selector,
)
from posse.cel.errors import CelError
from posse.cel.semver import Semver, parse_semver

__all__ = [
    "CelError",
    "CostLimitError",
    "DeviceFacts",
    "DeviceSelector",
    "DeviceSelectorError",
    "Semver",
    "device_selector",
    "parse_semver",
]
