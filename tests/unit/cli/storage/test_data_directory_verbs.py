"""posse backup, restore and check, as a user calls them."""

import os

import pytest

from posse.store.objects import Key
from posse.store.store import ABSENT, Store


@pytest.fixture
def cluster_dir(tmp_path):
    store = Store.open(tmp_path / "share" / "posse" / "default")
    for name in ("a", "b"):
        store.put(Key("pods", "default", name), {"metadata": {"name": name}}, ABSENT)
    store.put(Key("nodes", "", "n"), {"metadata": {"name": "n"}}, ABSENT)
    store.commit_pending()
    store.close()
    return tmp_path / "share" / "posse" / "default"


def test_a_sound_directory_is_said_to_be_sound(posse, cluster_dir):
    result = posse("check")
    assert result.code == 0
    assert f"{cluster_dir} is sound: 3 objects at version" in result.out
    assert "2 pods" in result.out


def test_a_backup_comes_back_in_another_directory(posse, cluster_dir, tmp_path):
    assert posse("backup", tmp_path / "copy").code == 0
    assert oct((tmp_path / "copy").stat().st_mode)[-3:] == "600"
    again = posse("restore", tmp_path / "copy", tmp_path / "again")
    assert again.code == 0
    assert "3 objects" in again.out
    assert posse("check", tmp_path / "again").code == 0


def test_problems_are_one_line_that_names_the_file(posse, cluster_dir, tmp_path):
    assert "there is no objects.sqlite" in posse("check", tmp_path).err
    assert "exists already" in posse("restore", cluster_dir / "objects.sqlite").err
    (cluster_dir / "commit-mark").unlink()
    missing = posse("check")
    assert missing.code == 1
    assert "commit-mark" in missing.err
    assert posse("check", "--accept-loss").code == 0
    assert posse("check").code == 0


def test_damage_is_found(posse, cluster_dir):
    os.truncate(cluster_dir / "objects.sqlite", 5000)
    assert posse("check").code == 1
    assert "is damaged" in posse("backup", cluster_dir / "copy").err
