"""The documentation is true: what it shows runs, what exists is told, what it links to is there."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

from staticfire import cli, engine
from staticfire.bdd import fixtures
from staticfire.bdd.steps import MODULES
from staticfire.engine import Script, phrases
from staticfire.engine.faults import as_fault, base
from staticfire.engine.phases import PHASES
from staticfire.engine.toml import parse_script
from staticfire.router import errors

for module in (*MODULES, "staticfire.stand.routers.bundled", "staticfire.stand.lanes.mock"):
    importlib.import_module(module)  # pytester forgets what its runs import first

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
FILE = re.compile(r"# ([\w./-]+\.(?:py|toml|feature))\n")
TUTORIAL = DOCS / "tutorial/first-scenario.md"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, what stands behind that, its text."""

    language: str
    note: str
    text: str

    @property
    def feature(self) -> bool:
        """Whether it is a whole feature, and not a few steps."""
        return (
            self.language == "gherkin"
            and re.search(r"^Feature: ", self.text, re.MULTILINE) is not None
        )


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(text: str) -> list[Block]:
    return [Block(found[1], found[2].strip(), found[3]) for found in BLOCK.finditer(text)]


def files(page: Path) -> dict[str, str]:
    """The files that a page shows: blocks that begin with `# name`, and whole features."""
    shown = {}
    for number, block in enumerate(blocks(page.read_text(encoding="utf-8"))):
        name = FILE.match(block.text)
        if name is not None:
            shown[name[1]] = block.text
        elif block.feature and not block.note:
            shown[f"page{number}.feature"] = block.text
    return shown


Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Writes files into an empty folder and runs pytest there, in this process."""
    monkeypatch.setattr(base, "_BY_NAME", dict(base._BY_NAME))
    monkeypatch.setattr(base, "_NAMES", dict(base._NAMES))

    def write_and_run(shown: dict[str, str], *args: str) -> pytest.RunResult:
        for name, text in shown.items():
            path = pytester.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return pytester.runpytest_inprocess(
            "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:hypothesispytest",
            "-o", "asyncio_default_fixture_loop_scope=function",
            "--mock-engines", "--engine-seed", "7", *args,
        )  # fmt: skip

    return write_and_run


# --- what it shows runs


@pytest.mark.parametrize(
    ("page", "args", "outcomes"),
    [
        ("../README.md", [], {"passed": 2}),
        ("tutorial/first-scenario.md", [], {"passed": 1}),
        ("how-to/write-a-fault.md", [], {"passed": 3}),
        ("how-to/known-bugs.md", [], {"xfailed": 1}),
        ("how-to/run-on-a-real-engine.md", [], {"passed": 1}),
        ("how-to/test-your-own-router.md", ["--router", "mine"], {"passed": 2}),
        ("reference/pytest.md", [], {"passed": 1}),
    ],
)
def test_the_files_of_a_page_run(
    run: Run, page: str, args: list[str], outcomes: dict[str, int]
) -> None:
    """Who copies a page's features, tests and settings into a folder sees what the page says."""
    run(files(DOCS / page), *args).assert_outcomes(**outcomes)


def test_the_tutorials_failure_is_the_one_that_comes(run: Run) -> None:
    """Each line of output that the tutorial shows is one that its reader gets."""
    shown = blocks(TUTORIAL.read_text(encoding="utf-8"))
    fails = next(block for block in shown if block.note == "fails")
    output, mistake = (block for block in shown if block.language == "text")
    result = run({"first.feature": fails.text})
    result.assert_outcomes(failed=1)
    missing = not_said(output.text, str(result.stdout))
    passes = next(block for block in shown if block.feature and not block.note)
    wrong = passes.text.replace("the router is ready", "the routre is ready")
    again = run({"again/first.feature": wrong}, "again")  # pytest-bdd reads a path only once
    missing += not_said(mistake.text, str(again.stdout))
    assert not missing


def not_said(expected: str, output: str) -> list[str]:
    """The lines that an output lacks; `…` stands for lines left out, seeds differ."""
    said = re.sub(r"--engine-seed \d+", "--engine-seed N", output)
    lines = re.sub(r"--engine-seed \d+", "--engine-seed N", expected).splitlines()
    return [line for line in lines if line.strip() not in said and line.strip() != "…"]


# --- three spellings


def section(text: str, heading: str) -> str:
    """A section with its heading, up to the next of that depth or above."""
    depth = heading.count("#", 0, heading.index(" "))
    start = text.index(f"\n{heading}\n") + 1
    end = re.search(rf"^#{{1,{depth}}} ", text[start + len(heading) :], re.MULTILINE)
    return text[start : start + len(heading) + end.start()] if end else text[start:]


def spellings(heading: str) -> Iterator[tuple[str, str, str]]:
    """Python, TOML and Gherkin of a section of scripts.md, line by line."""
    python, toml, gherkin = (
        next(b for b in blocks(section(read("reference/scripts.md"), heading)) if b.language == kind)
        .text.splitlines()
        for kind in ("python", "toml", "gherkin")
    )  # fmt: skip
    yield from zip(python, toml, gherkin, strict=True)


def value(python: str) -> Any:
    return eval(python, dict(vars(engine)))


SPELLED_OUT = ("answers", "combines", "dribbles", "truncates")
"""The faults that scripts.md shows in three spellings; vocabulary.md lists them all."""


@pytest.mark.parametrize("name", SPELLED_OUT)
def test_a_fault_has_one_meaning_in_three_spellings(name: str) -> None:
    """In scripts.md Python, TOML and Gherkin give equal values."""
    for python, toml, gherkin in spellings(f"### {name}"):
        meant = as_fault(value(python))
        assert base.fault_class(name) is type(meant), python
        assert parse_script(f'[[rule]]\non = "chat"\ndo = {toml}').rules[0].do == meant, toml
        assert phrases.rule(gherkin).do == meant, gherkin


def test_a_phase_has_one_meaning_in_three_spellings() -> None:
    """Every phase is in scripts.md, where Python, TOML and Gherkin give equal values."""
    told = set()
    for python, toml, gherkin in spellings("## Phases"):
        meant = value(python)
        told.add(meant.name)
        assert parse_script(f"life = [{toml}]").life == (meant,), toml
        assert phrases.life(gherkin) == (meant,), gherkin
    assert told == set(PHASES)


def test_a_rule_has_one_meaning_in_three_spellings() -> None:
    """The rules of scripts.md are equal values in Python, TOML and Gherkin."""
    for python, toml, gherkin in spellings("## Rules"):
        assert parse_script(f"rule = [{toml}]").rules == (value(python),), toml
        assert phrases.rule(gherkin) == value(python), gherkin


def test_the_readmes_script_has_one_meaning_in_three_spellings() -> None:
    """A reader may take any of the three scripts on the first page for the others."""
    shown = blocks(section((ROOT / "README.md").read_text(), "## One script, three spellings"))
    python, toml, gherkin = (block.text for block in shown)
    names: dict[str, Any] = {}
    exec(python, names)
    lives, does = re.findall(r'engine "late" (.*)', gherkin)
    said = Script(
        "qwen", life=phrases.life(lives.removeprefix("that ")), rules=[phrases.rule(does)]
    )
    assert names["script"] == parse_script(toml) == said


# --- what exists is told


def options(command: str) -> list[str]:
    """The options of a command."""
    made = importlib.import_module(f"staticfire.cli.{command}").command
    return [name for p in made.params if isinstance(p, click.Option) for name in p.opts]


def untold(names: list[str], page: str) -> list[str]:
    """The names that a page does not tell, each as a word of code."""
    text = read(page)
    return [name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]


def test_every_flag_of_the_router_is_told() -> None:
    """router.md is complete: nobody has to read the source for a flag."""
    assert untold(options("router"), "reference/router.md") == []


def test_everything_the_router_says_is_told() -> None:
    """Every error code and every metric of the router is in router.md."""
    source = "".join(path.read_text() for path in (ROOT / "src/staticfire/router").glob("*.py"))
    codes = set(re.findall(r'Failure\(\s*\d+,\s*"(\w+)"', source)) | set(errors._CODES.values())
    metrics = re.findall(r'^ +"(staticfire_\w+)"', source, re.MULTILINE)
    assert len(codes) > 10
    assert len(metrics) >= 5
    counted = {name + "_total" if f"{name}_total" in read("reference/router.md") else name
               for name in metrics}  # fmt: skip
    assert untold(sorted(codes | counted), "reference/router.md") == []


def test_every_command_is_told_with_its_options() -> None:
    """command-line.md has a section for each command, with each option of those it does not link."""
    page = "reference/command-line.md"
    headings = re.findall(r"^## staticfire (\w+)$", read(page), re.MULTILINE)
    assert sorted(headings) == sorted(cli.COMMANDS)
    for command in set(cli.COMMANDS) - {"router"}:
        text = section(read(page), f"## staticfire {command}")
        assert [name for name in options(command) if name not in text] == [], command


def test_everything_the_plugin_adds_to_pytest_is_told(pytestconfig: pytest.Config) -> None:
    """Every option, ini name and fixture of the plugin is in pytest.md."""
    parser = pytestconfig._parser
    group = parser.getgroup("staticfire")
    flags = [name for option in group.options for name in option.names()]
    inis = [name for name in parser._inidict if name.startswith(("engine_", "staticfire_"))]
    source = Path(fixtures.__file__).read_text(encoding="utf-8")
    made = re.findall(r"^@pytest\.fixture\ndef (\w+)", source, re.MULTILINE)
    assert [len(flags) > 5, len(inis) > 5, len(made) > 5] == [True] * 3
    assert untold([*flags, *inis, *made], "reference/pytest.md") == []


def test_arrows_point_down_as_drawn() -> None:
    """A room imports only what architecture.md lets it, and no row imports one below it."""
    drawn = re.findall(r"^\| `(\w+)` \| (.*?)\|$", read("architecture.md"), re.MULTILINE)
    allowed = {room: set(re.findall(r"\w+", rooms)) for room, rooms in drawn}
    above: set[str] = set()
    for room, rooms in allowed.items():
        assert rooms <= above, f"{room} is drawn with an arrow up"
        above.add(room)
    imports = re.compile(r"^ *(?:from|import) staticfire(?:\.(\w+)| import (.+))", re.MULTILINE)
    src = ROOT / "src/staticfire"
    for path in src.rglob("*.py"):
        room = path.relative_to(src).parts[0].removesuffix(".py")
        text = path.read_text(encoding="utf-8")
        found = {n for f in imports.findall(text) for n in re.findall(r"\w+", f[0] or f[1])}
        found -= {room, "as", "__version__"}
        wrong = found - allowed.get(room, {"cli"})
        assert not wrong, f"{path.relative_to(src)} imports {wrong}"


# --- what it links to is there


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """A relative link names a file of the repository, and an anchor a heading of it."""
    dead = []
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text()):
        if re.match(r"\w+:", target):
            continue
        found = (page.parent / target).resolve() if target else page
        if not found.exists() or (anchor and anchor not in anchors(found)):
            dead.append(f"{target}#{anchor}")
    assert not dead
