"""The kustomizations in deploy/, put together by the kustomize of stock kubectl."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from posse.installation.bundle import objects
from posse.installation.options import InstallOptions
from posse.kinds.discovered import ClusterForm

KUSTOMIZE = Path(__file__).parents[2] / "deploy" / "kustomize"

pytestmark = pytest.mark.kubectl


def in_one_order(items):
    return sorted(items, key=lambda obj: (obj["kind"], obj["metadata"]["name"]))


def kustomized(folder):
    done = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True, check=True)
    return in_one_order(yaml.safe_load_all(done.stdout))


@pytest.mark.parametrize(("folder", "form"), [("base", ClusterForm.NATIVE), ("crd", ClusterForm.CRD)])
def test_kustomizations_are_what_is_installed(folder, form):
    assert kustomized(KUSTOMIZE / folder) == in_one_order(objects(InstallOptions(form=form)))


def test_monitoring_is_added_as_a_component(tmp_path):
    # Kustomize wants paths from where it stands.
    where = {
        "resources": [os.path.relpath(KUSTOMIZE / "crd", tmp_path)],
        "components": [os.path.relpath(KUSTOMIZE / "monitoring", tmp_path)],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(where))
    assert kustomized(tmp_path) == in_one_order(objects(InstallOptions(monitoring=True)))
