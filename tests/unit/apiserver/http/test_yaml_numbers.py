"""Numbers in YAML that take long to read."""

import pytest
import yaml

from posse.apiserver.http.yaml_values import load_documents

COLONS = ":".join(["59"] * 200)


@pytest.mark.parametrize("number", [COLONS, f"{COLONS}.5", "9" * 401])
def test_a_long_number_is_refused(number):
    with pytest.raises(yaml.YAMLError, match=r"this cannot be read as (int|float)"):
        load_documents(f"a: {number}", aliases=False)


def test_a_number_with_colons_is_read_and_a_long_text_too():
    assert load_documents(f"a: 1:30\nb: {'x' * 500}", aliases=False) == [{"a": 90, "b": "x" * 500}]
