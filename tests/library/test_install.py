"""mirage installs like any Python package: a wheel holds the explorer and the bundled arenas, and works anywhere."""

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import browser
import pytest
import waiting
from conftest import ROOT
from installed import PROJECT, closure, wheel  # noqa: F401  # a fixture
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version


@pytest.fixture(scope="module")
def installed(wheel: Path, module_path: Path) -> Path:
    """The Python of an environment with the wheel, read-only; what it depends on is that of this environment."""
    venv.create(module_path, with_pip=False)
    (packages,) = module_path.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    theirs = next(path for path in sys.path if path.endswith("site-packages"))
    (packages / "more.pth").write_text(theirs, "utf-8")
    for path in sorted(packages.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    return module_path / "bin" / "python"


def test_the_wheel_is_small_and_holds_what_the_explorer_needs(wheel: Path) -> None:
    assert wheel.stat().st_size < 8_000_000
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    inside = {name.removeprefix("mirage/_explorer/") for name in names if name.startswith("mirage/_explorer/")}
    pages = {f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py")}
    assert (
        inside
        >= {"app.py", ".streamlit/config.toml", "data/nomiracl/manifest.json", "data/people/manifest.json"} | pages
    )
    assert not any(name.startswith("data/build") for name in inside), "the builders stay outside"
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {"mirage"}


@pytest.mark.browser
def test_the_installed_explorer_opens_in_a_browser(installed: Path, tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MIRAGE_ARENAS")}
    environment["MIRAGE_HOME"] = str(tmp_path / "home")
    with waiting.port() as port:
        command = [str(installed), "-m", "mirage", "app", "--port", str(port)]
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            url = f"http://127.0.0.1:{port}"
            waiting.until(lambda: waiting.answers(f"{url}/_stcore/health"), "the explorer answers", process=process)
            with browser.chromium() as start, start() as opened:
                page = browser.show(opened, f"{url}/?arena=nomiracl")
                assert page.locator("h1").all_inner_texts() == ["Leaderboard"]
        finally:
            process.terminate()
            process.wait()


def test_requirements_are_the_dependencies_the_extras_of_the_pipeline_and_the_tests() -> None:
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    listed = {line for line in lines if line and not line.startswith("#")}
    extras = PROJECT["optional-dependencies"]
    ours = {*PROJECT["dependencies"], *extras["explorer"], *extras["hub"], *extras["models"]}
    assert listed - ours == {line for line in listed if line.startswith("pytest")}
    assert ours <= listed


def test_the_core_install_is_at_most_50_packages_without_streamlit() -> None:
    core = closure(PROJECT["dependencies"])
    assert len(core) + 1 <= 50, sorted(core)
    assert "streamlit" not in core
    assert "streamlit" in closure([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["explorer"]])


@pytest.mark.parametrize(("package", "extra"), [("openai", "models"), ("datasets", "hub")])
def test_what_is_not_installed_is_named_with_its_extra(package: str, extra: str) -> None:
    from mirage.errors import BadInput
    from mirage.store.extras import extra as needed

    with pytest.raises(BadInput, match=f"needs {package}") as caught, needed(extra, "a test"):  # type: ignore[arg-type]
        raise ModuleNotFoundError(name=package)
    assert f"mirage-rag[{extra}]" in caught.value.do


def dependencies() -> dict[str, list[Requirement]]:
    """By where they are listed: every requirement of the project."""
    lists = {"core": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
    lists["requirements.txt"] = [
        line for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines() if line[:1] not in ("", "#")
    ]
    return {name: [Requirement(line) for line in lines] for name, lines in lists.items()}


def test_every_dependency_has_a_lower_and_an_upper_bound() -> None:
    for name, wanted in dependencies().items():
        for requirement in wanted:
            assert {">=", "<"} <= {part.operator for part in requirement.specifier}, f"{name}: {requirement}"


FIXED = {
    "authlib": "1.6.5",  # CVE-2025-59420, CVE-2025-61920
    "filelock": "3.20.3",  # CVE-2025-68146, CVE-2026-22701
    "pyarrow": "23.0.1",  # CVE-2026-25087
    "pytest": "9.0.3",  # CVE-2025-71176
    "ray": "2.52",  # CVE-2025-62593
    "torch": "2.8",  # CVE-2025-32434, CVE-2025-2953, CVE-2025-3730
    "vllm": "0.14.1",  # CVE-2025-62164, CVE-2025-66448, CVE-2026-22778
}
"""The first version without the known holes of earlier ones."""


def test_lower_bounds_leave_out_versions_with_known_holes() -> None:
    for wanted in dependencies().values():
        for requirement in wanted:
            if requirement.name in FIXED:
                (least,) = (part.version for part in requirement.specifier if part.operator == ">=")
                assert Version(least) >= Version(FIXED[requirement.name]), requirement


def test_ci_installs_versions_within_the_bounds() -> None:
    lines = (ROOT / ".ci" / "constraints.txt").read_text("utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    versions = {canonicalize_name(name): version for name, version in pinned.items()}
    # CI installs none of them: the first is for CUDA only, and tests replace the packages of the others.
    for name, wanted in dependencies().items():
        if name not in ("vllm", "documents", "second-opinion"):
            for requirement in wanted:
                assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)]), requirement


FILES = [
    *(path for path in ROOT.rglob("*.md") if ".venv" not in path.parts),
    *(ROOT / "mirage").rglob("*.py"),
    ROOT / "docs" / "deploy" / "Containerfile",
]


def test_no_instruction_installs_another_project_of_the_same_import_name() -> None:
    """`mirage` on the package index is not this project."""
    for line in (line for path in FILES for line in path.read_text("utf-8").splitlines()):
        _, command, words = line.partition("pip install ")
        # In a sentence the command ends with its code mark.
        names = re.split(r"[\s'\",;)]+", words.partition("`")[0]) if command else []
        assert not {"mirage", "mirage-bench", "nomiracl"} & {name.partition("[")[0] for name in names}, line
