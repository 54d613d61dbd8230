"""The page of a cluster on this machine: its port, its token, and the command that serves it."""

from pathlib import Path

from posse.page.process import PageProcess
from posse.runtime.process.options import KUBECONFIG_NAME, ClusterOptions


def page_of(options: ClusterOptions) -> PageProcess:
    """On the port after that of the API server if that is free."""
    folder = options.data_dir
    words = ["ui", "--kubeconfig", str(folder / KUBECONFIG_NAME), "--token-file", str(page_token(options))]
    if options.record is not None:
        words += ["--recording", str(options.record)]
    return PageProcess(words, options.port + 1 if options.port else 0, folder / "page.log")


def page_token(options: ClusterOptions) -> Path:
    """It stays the same, so that an open page finds the cluster again after a restart."""
    return options.data_dir / "page-token"
