"""Semantic versions: which texts are versions, and their order."""

from itertools import pairwise

import pytest

from posse.cel import parse_semver

ASCENDING = [
    "0.0.1", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
    "1.0.0-rc.1", "1.0.0", "1.9.0", "1.10.0", "2.0.0",
]  # fmt: skip


def test_versions_have_the_order_of_the_standard() -> None:
    versions = [parse_semver(text) for text in ASCENDING]
    assert None not in versions
    for one, other in pairwise(versions):
        assert one is not None
        assert other is not None
        assert one < other
        assert other > one
        assert one != other


def test_build_metadata_does_not_count() -> None:
    assert parse_semver("1.0.0+linux") == parse_semver("1.0.0+windows")


@pytest.mark.parametrize(
    "text", ["", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3 ", "1.2.3.4", "1" * 2000]
)
def test_other_texts_are_no_versions(text: str) -> None:
    assert parse_semver(text) is None


@pytest.mark.parametrize(
    ("text", "same_as"), [("v1.2", "1.2.0"), ("1", "1.0.0"), ("01.02.03-rc.1", "1.2.3-rc.1")]
)
def test_normalizing_fills_in_what_is_missing(text: str, same_as: str) -> None:
    assert parse_semver(text, normalize=True) == parse_semver(same_as)
