import subprocess
import sys

import yaml

from tests.support.configurations import document, enabled


def up(*arguments):
    command = [sys.executable, "-m", "posse", "up", "--port", "0", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_file_that_cannot_be_used_is_refused_with_all_its_problems(tmp_path):
    path = tmp_path / "scheduler.yaml"
    wrong = document({"plugins": {"score": enabled("NodePort")}}, parallelism=0)
    path.write_text(yaml.safe_dump(wrong))
    ended = up("--config", path, "--data-dir", tmp_path / "data")
    assert ended.returncode == 1
    assert ended.stderr == (
        f"Error: --config: {path} cannot be used:\n"
        "  parallelism: must be greater than 0, not 0\n"
        "  profiles[0].plugins.score.enabled[0].name: there is no plugin 'NodePort'; did you mean NodePorts?\n"
    )
    assert not (tmp_path / "data").exists()


def test_a_file_that_is_not_there_is_refused(tmp_path):
    ended = up("--config", tmp_path / "nowhere.yaml", "--data-dir", tmp_path / "data")
    assert ended.returncode == 1
    assert ended.stderr.endswith("nowhere.yaml cannot be used:\n  no such file or directory\n")
