"""Help texts are in plain words, and shells complete commands."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from cli_models import cli
from tilewright.cli.app import app
from tilewright.search.strategies.table import STRATEGIES

COMMANDS = ("tune", "compile", "run", "bench", "show", "report", "records", "export", "ops")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_no_types_of_the_source(command: str) -> None:
    text = cli(command, "--help").output
    assert re.findall(r"<[^>\n]*>|\{[A-Z]+\}", text) == []


def test_flags_of_all_commands_have_no_type() -> None:
    assert "<" not in cli("--help").output


def test_usage_names_models() -> None:
    assert "tune [OPTIONS] MODEL..." in cli("tune", "--help").output
    assert "show [OPTIONS] [DB] [TASK]" in cli("show", "--help").output


def test_every_strategy_is_named() -> None:
    words = re.findall(r"[\w-]+", cli("tune", "--help").output)
    assert set(STRATEGIES) <= set(words)


def test_shells_complete_commands_and_options() -> None:
    def completed(words: str) -> str:
        return (
            CliRunner()
            .invoke(
                app,
                [],
                prog_name="tilewright",
                env={
                    "_TILEWRIGHT_COMPLETE": "complete_bash",
                    "COMP_WORDS": words,
                    "COMP_CWORD": str(len(words.split(" ")) - 1),
                },
            )
            .output
        )

    assert completed("tilewright rec").split() == ["records"]
    assert "--merge" in completed("tilewright records --m").split()
