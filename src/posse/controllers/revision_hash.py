"""Short names for contents and names: 32-bit FNV hashes, spelled without vowels and look-alikes."""

import json
from typing import Any

_OFFSET = 2166136261
_PRIME = 16777619
_SAFE = str.maketrans("0123456789", "456789bcdf")


def content_hash(content: Any, collisions: int = 0) -> str:
    """Return at most ten characters; equal contents give equal texts, whatever the order of their members."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    digest = fnv1(text.encode() + (str(collisions).encode() if collisions else b""))
    return str(digest).translate(_SAFE)


def name_hash(text: str) -> str:
    """Return at most ten characters, as Kubernetes appends them to the names of what a Job makes (FNV-1a)."""
    digest = _OFFSET
    for byte in text.encode():
        digest = (digest ^ byte) * _PRIME & 0xFFFFFFFF
    return str(digest).translate(_SAFE)


def fnv1(data: bytes) -> int:
    digest = _OFFSET
    for byte in data:
        digest = (digest * _PRIME & 0xFFFFFFFF) ^ byte
    return digest
