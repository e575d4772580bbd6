# SPDX-License-Identifier: BSD-3-Clause
"""Debian packages as data: resolve names to versions, download them, read their files. No root, nothing installed.

Everything goes through the user's own apt (mirrors, proxies, keys), with a package state of its own in a folder of ours and only
those of the user's sources that are Debian's own suites: third-party sources never reach the image.
"""

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from common.outcome import bad_input
from common.progress import run_logged

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_INSTALLED = re.compile(r"^Inst (\S+) \((\S+) ", re.MULTILINE)


@dataclass(frozen=True)
class Package:
    """A package in one version, e.g. make 4.3-4.1."""

    name: str
    version: str


def source_lines(targets: str, suite: str, component: str) -> list[str]:
    """One-line sources of ``suite`` (and its -updates, -security) from the output of ``apt-get indextargets`` in our format.

    ``targets`` has lines "site|release|component|origin|created by".
    """
    found = []
    signed = f" [signed-by={_KEYRING}]" if _KEYRING.is_file() else ""
    for line in targets.splitlines():
        fields = line.split("|")
        if len(fields) != 5:
            continue
        site, release, its_component, origin, created_by = fields
        ours = re.fullmatch(re.escape(suite) + r"(-updates|-security|/updates)?", release)
        if created_by == "Packages" and its_component == component and ours and origin in ("Debian", "", "$(ORIGIN)"):
            found.append(f"deb{signed} {site} {release} {component}")
    return sorted(set(found))


class Apt:
    """apt-get with its state in ``folder``; created by ``open_apt``."""

    def __init__(
        self, folder: Path, suite: str, component: str, architecture: str, log: Path, *, source_packages: bool = False
    ) -> None:
        self._folder = folder
        self._log = log
        if shutil.which("apt-get") is None:
            raise bad_input(
                "apt-get is not there, and the image is made of Debian packages.", "Use a Debian 12 machine or container."
            )
        asked = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(SITE)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)|$(CREATED_BY)"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        sources = source_lines(asked.stdout, suite, component)
        if not sources:
            raise bad_input(
                f"apt has no source of Debian's {suite} {component} on this machine.",
                f"Add {suite} {component} to /etc/apt/sources.list.d and run apt-get update.",
            )
        for name in ("state/lists/partial", "cache/archives/partial", "debs"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        if source_packages:
            # Those of the release alone: a mirror may have the packages of a security update without their sources.
            sources = [line.replace("deb", "deb-src", 1) for line in sources if line.split()[-2] == suite]
        (folder / "sources.list").write_text("\n".join(sources) + "\n")
        settings = {
            "Dir::State": folder / "state",
            "Dir::State::status": folder / "status",
            "Dir::Cache": folder / "cache",
            "Dir::Etc::sourcelist": folder / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferences": "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
            "APT::Architecture": architecture,
            "APT::Architectures": architecture,
            "APT::Install-Recommends": "false",
            # apt would hand downloads to its own user, who may not read our folder.
            "APT::Sandbox::User": "root",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
            "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled": "false",
        }
        self._options = [part for key, value in settings.items() for part in ("-o", f"{key}={value}")]

    def update(self) -> None:
        """Fetch the package lists."""
        cure = f"Check that `apt-get update` works on this machine; see {self._log}."
        run_logged("Package lists", ["apt-get", *self._options, "update"], self._log, cure=cure)

    def resolve(self, names: Sequence[str]) -> list[Package]:
        """``names`` and all they depend on, sorted by name.

        Raises:
            Failure: bad-input when apt knows no such package or cannot satisfy a dependency.
        """
        done = subprocess.run(
            ["apt-get", *self._options, "--simulate", "install", *names], capture_output=True, text=True, check=False,
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        if done.returncode:
            reason = next((line for line in done.stderr.splitlines() if line.startswith("E:")), done.stderr.strip())
            raise bad_input(
                f"apt cannot resolve the image's packages ({reason.removeprefix('E:').strip().rstrip('.')}).",
                "Check the names in packages.txt and image.toml.",
            )
        return sorted((Package(*found) for found in _INSTALLED.findall(done.stdout)), key=lambda package: package.name)

    def download_source(self, name: str, folder: Path) -> None:
        """The files of the newest source package ``name`` into ``folder``, verified by apt."""
        cure = f"Check the network and the mirror; see {self._log}."
        command = ["apt-get", *self._options, "source", "--download-only", name]
        run_logged(f"Source package {name}", command, self._log, cwd=folder, cure=cure)

    def download(self, packages: Sequence[Package]) -> list[Path]:
        """The .deb files of ``packages``, verified by apt, in their order."""
        debs = self._folder / "debs"
        wanted = [f"{package.name}={package.version}" for package in packages]
        cure = f"Check the network and the mirror; see {self._log}."
        run_logged(f"{len(wanted)} packages", ["apt-get", *self._options, "download", *wanted], self._log, cwd=debs, cure=cure)
        return [_deb_file(debs, package) for package in packages]


def _deb_file(folder: Path, package: Package) -> Path:
    version = package.version.replace(":", "%3a")
    for architecture in ("amd64", "all"):
        path = folder / f"{package.name}_{version}_{architecture}.deb"
        if path.is_file():
            return path
    raise bad_input(f"apt did not download {package.name} {package.version}.", "Run it again.")


def unpack_source(folder: Path, tree: Path, log: Path) -> str:
    """Unpack the source package in ``folder`` into the new folder ``tree``, patches applied; its version.

    Raises:
        Failure: bad-input, when one of its files is not what its description (.dsc) says.
    """
    description = next(folder.glob("*.dsc"))
    cure = f"Remove {folder.parent} and run it again; see {log}."
    run_logged("Unpacking the source", ["dpkg-source", "--extract", description, tree], log, cure=cure)
    asked = ["dpkg-parsechangelog", "--file", str(tree / "debian" / "changelog"), "--show-field", "Version"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


@contextmanager
def deb_contents(deb: Path) -> Iterator[tarfile.TarFile]:
    """The files of a .deb as a tar stream, to be read in order."""
    if shutil.which("dpkg-deb") is None:
        raise bad_input("dpkg-deb is not there.", "Install the package dpkg.")
    process = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE)
    stream: IO[bytes] | None = process.stdout
    assert stream is not None
    try:
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            yield tar
        while stream.read(1 << 20):
            pass
    finally:
        stream.close()
        status = process.wait()
    if status:
        raise bad_input(f"{deb.name} is not a readable Debian package (dpkg-deb exited with status {status}).", "Run it again.")
