"""Times and numbers of GPUs, as a person would say them."""

import math


def gpus_text(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"


def in_time(seconds: float) -> str:
    """As a person would say it: 45s, 12m, 3.4h, 2.1d."""
    if math.isnan(seconds):
        return "-"
    for unit, size in (("d", 2 * 86400.0), ("h", 3600.0), ("m", 60.0)):
        if seconds >= size:
            return f"{seconds / (86400 if unit == 'd' else size):.1f}{unit}"
    return f"{seconds:.0f}s"
