"""Who made a system: by its name, whatever the name is, or by what the user says."""

import string
from pathlib import Path

import pytest
from arena_writer import make_judgment, write_arena
from board_cases import board_of
from commands import mirage
from golden.cases import read_golden
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import Result

from mirage.errors import BadInput, UnknownName
from mirage.publish.charts.palette import family
from mirage.ranking.judges import Judge, PanelJudge, VerdictJudge
from mirage.ranking.settings import RankSettings
from mirage.stages.judge.family import family_preferences
from mirage.store import arena as arenas
from mirage.store.arena import Arena
from mirage.store.makers import makers_of
from mirage.text.makers import MAKERS, OTHER, Makers, maker
from mirage.views.board import families

KNOWN = """
claude-3 Anthropic | Claude 3.5 Sonnet Anthropic | claude-opus-4-20250514 Anthropic | claude_3_haiku Anthropic
anthropic.claude-v2:1 Anthropic | openrouter/anthropic/claude-3.7-sonnet Anthropic | Claude-Instant Anthropic
deepseek-chat DeepSeek | DeepSeek-V3 DeepSeek | deepseek-ai/DeepSeek-R1-Distill-Llama-8B DeepSeek
DeepSeek-R1-Distill-Qwen-7B DeepSeek | deepseekcoder DeepSeek
grok-4 xAI | x-ai/grok-2 xAI | grok xAI | grok3 xAI
glm-4-plus Zhipu | ChatGLM3-6B Zhipu | zai-org/GLM-4.5 Zhipu | THUDM/chatglm2 Zhipu | glm4 Zhipu
kimi-k2-instruct Moonshot | moonshot-v1-8k Moonshot | moonshotai/Kimi-K2 Moonshot
yi-34b-chat 01.AI | Yi-1.5-9B 01.AI | 01-ai/Yi-34B 01.AI | yi-large 01.AI | Yi 01.AI
nemotron-4-340b NVIDIA | Llama-3.1-Nemotron-70B NVIDIA | nvidia/Llama-3.3 NVIDIA | Mistral-NeMo-Minitron-8B NVIDIA
granite-3.1-8b-instruct IBM | ibm/granite-13b IBM | ibm-granite/g IBM
jamba-1.5-large AI21 | j2-ultra AI21 | ai21labs/AI21-Jamba AI21
nova-pro Amazon | amazon.nova-lite-v1:0 Amazon | amazon-nova-micro Amazon | titan-text-express Amazon
vicuna-13b-v1.5 LMSYS | lmsys/fastchat-t5-3b LMSYS | TheBloke/vicuna-7B-GPTQ LMSYS
qwen2.5-72b Alibaba | Qwen/Qwen3-8B Alibaba | QwQ-32B Alibaba | qwen-max Alibaba | QwenLong Alibaba
ernie-4.0 Baidu | hunyuan-large Tencent | doubao-pro ByteDance | seed-oss-36b ByteDance
MiniMax-M1 MiniMax | abab6.5 MiniMax | phi-4 Microsoft | Phi3 Microsoft | WizardLM-2-8x22B Microsoft
dbrx-instruct Databricks | mpt-30b-chat Databricks | snowflake-arctic-instruct Snowflake
falcon-180b TII | tulu-2-dpo-70b AllenAI | OLMo-2 AllenAI | gpt-neox-20b EleutherAI | gpt-j-6b EleutherAI
bloomz-7b1 BigScience | mt0-xxl BigScience | stablelm-2 Stability AI | SOLAR-10.7B-Instruct Upstage
EXAONE-3.5 LG | HyperCLOVA-X Naver | reka-flash Reka | palmyra-x4 Writer
zephyr-7b-beta Hugging Face | SmolLM2-1.7B Hugging Face | OpenHermes-2.5-Mistral-7B Nous Research
NousResearch/Nous-Hermes-2-Mixtral-8x7B Nous Research | Hermes-3-Llama-3.1-70B Nous Research
o1 OpenAI | o3-mini OpenAI | o4-mini-high OpenAI | o1-preview-2024-09-12 OpenAI | gpt-oss-120b OpenAI
openai/o3 OpenAI | gpt-4o OpenAI | GPT4 OpenAI | gpt-35-turbo OpenAI | ChatGPT OpenAI | chatgpt-4o-latest OpenAI
text-davinci-003 OpenAI | gpt-3.5-turbo-azure OpenAI
codestral-22b Mistral | ministral-8b Mistral | Mixtral-8x7B Mistral | mistral-nemo Mistral | Mistral-v0.3 (7B) Mistral
command-r-plus Cohere | Command R+ Cohere | command Cohere | c4ai-command-r7b Cohere | aya-expanse-32b Cohere
meta.llama3-70b Meta | CodeLlama-34b Meta | opt-66b Meta | unsloth/Llama-3.2-1B Meta | llama2 Meta
gemma2 Google | codegemma-7b Google | gemini-2.5-pro Google | mt5-xxl Google | flan-ul2 Google
baseline/gpt-4-like baseline | baseline/first-passage baseline
"""


def cases() -> list[tuple[str, str]]:
    names = sorted(MAKERS, key=len, reverse=True)
    pairs = []
    for case in (part.strip() for line in KNOWN.strip().splitlines() for part in line.split(" | ")):
        name = next(name for name in names if case.endswith(f" {name}"))
        pairs.append((case.removesuffix(f" {name}"), name))
    return pairs


def test_the_makers_of_today_are_known() -> None:
    known = dict(cases())
    assert {system: maker(system) for system in known} == known
    large = {system: name for system, name in known.items() if not system.startswith("baseline/")}
    assert {system: maker(f" {system.upper()} ") for system in large} == large


def test_a_word_within_another_names_nobody() -> None:
    assert [case for case in read_golden("unknown_makers") if maker(case["system"]) != OTHER] == []


@given(st.text())
def test_every_text_has_a_maker(system: str) -> None:
    assert maker(system) in MAKERS
    assert family(system).name in MAKERS


@pytest.mark.parametrize("name", ["claude-3", "qwen2-7b", "grok-4", "kimi-k2", "yi-34b", "nova-pro", "o3-mini"])
def test_a_name_that_a_letter_touches_is_not_that_name(name: str) -> None:
    assert {maker(f"{letter}{name}") for letter in f"{string.ascii_lowercase}éя中"} == {OTHER}


def test_what_the_user_says_comes_before_the_name() -> None:
    makers = Makers.of_names([("gpt-4", "Us"), ("mine", "Us")])
    assert (makers.of("gpt-4"), makers.of("mine"), makers.of("gpt-4o")) == ("Us", "Us", "OpenAI")
    assert makers == Makers.of_names([("mine", "Us"), ("gpt-4", "Us")])


# A file beside the arena


def judged(path: Path) -> Arena:
    """Two judges, three systems, ten queries: `alpha` prefers `ours-1`."""
    rows = []
    for q in range(10):
        for judge, first in (("alpha", "A"), ("gpt-4o", "B")):
            for a, b, verdict in (("ours-1", "llama-3", first), ("llama-3", "ours-1", "A" if first == "B" else "B")):
                rows.append(make_judgment("en", f"q{q}", judge, a, b, verdict))
            for a, b in (("llama-3", "mixtral"), ("mixtral", "ours-1")):
                rows.append(make_judgment("en", f"q{q}", judge, a, b, "A"))
    return write_arena(path, {"judgments": rows}, title="A", label="own")


def rank(arena: Arena, *args: str, code: int = 0) -> Result:
    command = ["rank", str(arena.path), "--draws", "5", "--format", "csv", *args]
    return mirage(*command, code=code)


def test_a_file_beside_the_arena_names_makers_for_commands_and_pages(tmp_path: Path) -> None:
    arena = judged(tmp_path / "a")
    assert "both by" not in rank(arena, "--judge", "alpha", "--no-own-family").stderr
    assert families(arena) == ("OpenAI", "other")
    (arena.path / "makers.csv").write_text("system,maker\nalpha,Our Lab\nours-1,Our Lab\n", "utf-8")
    message = rank(arena, "--judge", "alpha", "--no-own-family").stderr
    assert "alpha and a system are both by Our Lab" in message
    assert "30" in message
    assert families(arena) == ("OpenAI", "Our Lab")
    board = board_of(arena, VerdictJudge("alpha"), ("en",), RankSettings(exclude_own=True))
    assert "both by Our Lab" in " ".join(board.counted)
    (row,) = [
        row
        for row in family_preferences(arena.read("judgments"), makers_of(arena))
        if row.judge == "alpha" and row.language == "en"
    ]
    assert (row.maker, row.share, row.others) == ("Our Lab", 0.5, 0.0)
    assert arenas.check(arena)


def test_judges_of_a_named_maker_are_left_out(tmp_path: Path) -> None:
    arena = judged(tmp_path / "a")
    (arena.path / "makers.csv").write_text("\ufeffsystem,maker\r\nalpha,Our Lab\r\n", "utf-8")
    pooled = PanelJudge(judges=("gpt-4o", "alpha"))

    def rated(judge: Judge, without: str | None = None) -> list[float]:
        settings = RankSettings(without=without)
        rows: list[float] = board_of(arena, judge, ("en",), settings).rows["rating"].to_pylist()
        return rows

    expected = rated(VerdictJudge("gpt-4o"))
    assert rated(pooled, without="Our Lab") == expected != rated(pooled)
    with pytest.raises(UnknownName, match="Our Lab"):
        rated(pooled, without="Our Lap")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name,maker\na,b\n",
        "system,maker\na,\n",
        "system,maker\n,b\n",
        "system,maker\na,b\na,c\n",
        "system,maker\na\n",
    ],
)
def test_a_file_that_names_nothing_is_refused_with_its_place(tmp_path: Path, text: str) -> None:
    arena = judged(tmp_path / "a")
    (arena.path / "makers.csv").write_text(text, "utf-8")
    with pytest.raises(BadInput) as caught:
        makers_of(arena)
    assert "makers.csv" in caught.value.where
