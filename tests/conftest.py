"""Options and fixtures shared by all tests.

pytest --update-golden          rewrite the golden files, then look at the diff
pytest --rows 1000              candidates an operator, where features are checked
pytest --native-rows 50         compiled candidates an operator
pytest --manifest-rows 64       candidates a workload whose nests the manifest compares
pytest --programs 20000         random programs of the property tests
pytest --thorough               every case, as CI does

Coverage slows this package down by a factor of 2.5 to 3. Tests that put hundreds of programs
through code which other tests cover are marked `no_cover` (of pytest-cov): they check as much as
ever, and what they execute does not count.
"""

from __future__ import annotations

import difflib
import os
import signal
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from tilewright.measure import ceilings
from tilewright.target import MIB, Target

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files")
    parser.addoption("--rows", type=int, default=48, help="candidates an operator (features)")
    parser.addoption("--native-rows", type=int, help="compiled candidates an operator")
    parser.addoption(
        "--manifest-rows", type=int, default=2, help="candidates a workload (manifest)"
    )
    parser.addoption("--programs", type=int, help="random programs (properties)")
    parser.addoption("--thorough", action="store_true", help="cases that take long, too")


USUAL = {"native_rows": (2, 4), "programs": (1280, 2560)}
"""How many, and with --thorough."""


def pytest_configure(config: pytest.Config) -> None:
    for name, numbers in USUAL.items():
        if getattr(config.option, name, 0) is None:
            setattr(config.option, name, numbers[config.option.thorough])
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as of a shell's background jobs
        signal.signal(signal.SIGINT, signal.default_int_handler)


LONG = ("test_onnx_cases", "test_cluster", "test_light_models", "test_end_to_end",
        "test_hostile_models", "test_torch_backend", "test_readme", "test_tuner",
        "test_random_programs")  # fmt: skip
"""Files with cases of many seconds, the longest first: started last, one would be waited for."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long cases first; those that only CI runs not at all, unless asked for by name."""
    named = any("::" in argument for argument in config.args)
    if not (config.option.thorough or named):
        left_out = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
    place = {name: n for n, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONG)))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Name what fails at once: a run that is stopped prints no summary."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        crash = getattr(report.longrepr, "reprcrash", None)
        message = crash.message.splitlines()[0] if crash is not None else ""
        print(f"\nFAILED {report.nodeid} ({report.duration:.0f} s): {message}", flush=True)


@pytest.fixture(autouse=True, scope="session")
def _little_memory() -> Iterator[None]:
    """Every run of a tuner measures how fast memory is: here with a quarter of the bytes, which
    take a quarter of the time and are still more than caches hold.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ceilings, "MEMORY_BYTES", 64 * MIB)
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)`: the text must equal `tests/golden/<name>`."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return
        expected = path.read_text() if path.is_file() else ""
        if text != expected:
            rows = difflib.unified_diff(
                expected.splitlines(), text.splitlines(), f"golden/{name}", "now", lineterm=""
            )
            listed = "\n".join(rows)
            pytest.fail(f"{name} changed; if that is right, run --update-golden\n{listed}")

    return check


@pytest.fixture(scope="session")
def target() -> Target:
    """A fixed target, so that sketches and golden files do not depend on the machine."""
    return Target.parse("cpu:icelake-server cores=2")


@pytest.fixture
def postgresql() -> Iterator[str]:
    """URL of an empty schema on the test server, dropped at the end."""
    server = os.environ.get("TILEWRIGHT_TEST_POSTGRESQL", "")
    if not server:
        pytest.skip("TILEWRIGHT_TEST_POSTGRESQL names no server")
    schema = f"test_{uuid.uuid4().hex}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    yield f"{server}{'&' if '?' in server else '?'}options=-csearch_path%3D{schema}"
    with engine.connect() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    engine.dispose()
