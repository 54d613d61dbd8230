"""Build the site: stage the pages, write the settings of the generator, run it. Run by `make docs`."""

import subprocess
import sys
from pathlib import Path

import yaml

from tools.docs_site.search_shim import bring_search
from tools.docs_site.staging import STYLE, stage
from tools.sbom import ROOT

BUILD = ROOT / "build"


def settings(source: Path, site: Path, navigation: list[dict[str, object]]) -> dict[str, object]:
    """Nothing is fetched by a reader's browser: no fonts, and the search works from files."""
    return {
        "site_name": "Posse",
        "site_description": "A workload-aware scheduler for Kubernetes",
        "docs_dir": str(source),
        "site_dir": str(site),
        "use_directory_urls": False,
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.indexes", "navigation.top", "content.code.copy", "search.highlight"],
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default"},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate"},
            ],
        },
        "extra_css": [STYLE],
        "plugins": ["search", "offline"],
        "markdown_extensions": [
            "tables",
            "admonition",
            "pymdownx.highlight",
            "pymdownx.superfences",
            {"toc": {"permalink": True}},
        ],
        "validation": {
            "nav": {"omitted_files": "ignore"},
            "links": {"not_found": "warn", "anchors": "warn", "unrecognized_links": "warn"},
        },
        "nav": navigation,
    }


def main() -> int:
    """The argument is the generator."""
    source, site, file = BUILD / "site-source", BUILD / "site", BUILD / "mkdocs.yml"
    navigation = stage(source)
    file.write_text(yaml.safe_dump(settings(source, site, navigation), sort_keys=False))
    command = [sys.argv[1], "build", "--strict", "--quiet", "--config-file", str(file)]
    done = subprocess.run(command, check=False).returncode
    if done == 0:
        bring_search(site)
        print(f"The site is in {site}; open {site / 'index.html'}")
    return done


if __name__ == "__main__":
    sys.exit(main())
