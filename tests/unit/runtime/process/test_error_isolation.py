from pathlib import Path

import pytest

from posse.engine.state.invariants import InvariantBroken
from posse.runtime.process.error_isolation import skipping
from posse.store.errors import CommitFailed


def test_a_failure_is_told_with_its_traceback_and_passed_over(caplog):
    with skipping("Pod", "default", "p"):
        raise KeyError("type")
    (record,) = caplog.records
    assert record.getMessage() == "Pod default/p could not be handled and is left out"
    assert isinstance(record.exc_info[1], KeyError)


def test_what_has_no_namespace_is_named_without(caplog):
    with skipping("Node", "", "n"):
        raise KeyError
    assert caplog.records[0].getMessage().startswith("Node n could")


@pytest.mark.parametrize("fatal", [InvariantBroken("a law"), CommitFailed(Path("db"), "disk full")])
def test_what_must_end_the_process_gets_through(fatal):
    with pytest.raises(type(fatal)), skipping("Pod", "p"):
        raise fatal
