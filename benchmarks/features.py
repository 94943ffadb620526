"""Features: answers a second, language detection against langdetect, and the padding of batches for local models."""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.harness import Row, seconds
from mirage import schema
from mirage.io.sources.nomiracl import read_outputs
from mirage.stages import features
from mirage.stages.features.spec import MeasuredAnswer
from mirage.stages.features.support import MAX_TOKENS, cited_sentences
from mirage.text.answers import compose_answer
from mirage.text.detection import language_probabilities
from mirage.text.segmentation import sentences

DATA = Path(os.environ.get("MIRAGE_TEST_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "nomiracl"
ANSWERS = 10_000
TEXTS = 100
"""Passages a language for language detection."""
PAIRS = 200
"""Pairs for a local model: one of 4 layers, 256 wide, with random weights."""


def run() -> list[Row]:
    """Time each on the published passages."""
    if not DATA.is_dir():
        return [Row("features", "not run", f"the files are not at {DATA}", "", "")]
    tables = read_outputs(DATA)
    passages = tables["passages"].filter(pc.is_valid(tables["passages"]["text"]))
    texts: dict[str, list[str]] = {}
    for code, text in zip(passages["language"].to_pylist(), passages["text"].to_pylist(), strict=True):
        texts.setdefault(code, []).append(text)
    inputs = _answers(texts)
    return [_deterministic(*inputs), *_detection(texts), *_pairs(*inputs[1:])]


def _answers(texts: dict[str, list[str]]) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Answers as long as those of the papers (Table 1 of MIRAGE-Bench: 130 tokens of reason, 30 of answer): a passage
    whose every sentence cites one, then a sentence. Each query has 8 passages and 10 systems.
    """
    rows: dict[str, list[Any]] = {"queries": [], "passages": [], "answers": []}
    for index in range(ANSWERS // 10):
        code = sorted(texts)[index % len(texts)]
        pool = texts[code]
        key = code, f"q{index}"
        ids = [f"{index}#{n}" for n in range(8)]
        rows["queries"].append(schema.Query(*key, "relevant", "What is it?", None))
        rows["passages"] += [
            schema.Passage(*key, passage_id, n, None, pool[(index * 7 + n) % len(pool)], n % 3 == 1)
            for n, passage_id in enumerate(ids, 1)
        ]
        for number in range(10):
            text = pool[(index * 10 + number) % len(pool)]
            statements = [text[start:end] for start, end in sentences(text, code)]
            reason = " ".join(f"{sentence} [{ids[(n + number) % 8]}]" for n, sentence in enumerate(statements))
            answer = f"{statements[-1]} [{ids[number % 8]}]"
            text = compose_answer(reason, answer)
            rows["answers"].append(schema.Answer(*key, f"s{number}", text, "ok", "rag", None, None))
    queries, passages, answers = (schema.from_rows(name, records) for name, records in rows.items())
    return queries, passages, answers


def _timed(program: Callable[[], Any]) -> tuple[Any, float]:
    """What a program returns, and the seconds of a core that it took, however busy the machine is."""
    start = time.process_time()
    result = program()
    return result, time.process_time() - start


def _deterministic(queries: pa.Table, passages: pa.Table, answers: pa.Table) -> Row:
    """All features that need no model, overlap with a reference among them."""
    tools = features.Tools(reference="s0")
    features.compute(queries, passages, answers.slice(0, 100), tools=tools)
    language_probabilities.cache_clear()
    table, seconds = _timed(lambda: features.compute(queries, passages, answers, tools=tools))
    length = pc.mean(pc.utf8_length(answers["text"])).as_py()
    return Row(
        f"{len(features.measurable(tools))} features that need no model, of {len(answers):,} answers of {length:.0f}"
        " characters",
        f"{len(answers) / seconds:,.0f} answers/s a core",
        f"{len(table):,} values in {seconds:.1f} s",
        "",
        "at least 3,000 answers/s a core",
    )


def _detection(texts: dict[str, list[str]]) -> list[Row]:
    """Language detection, ours and langdetect's, speed over all languages and accuracy of each."""
    from langdetect import DetectorFactory, LangDetectException, detect

    DetectorFactory.seed = 0
    sample = {code: pool[:: max(1, len(pool) // TEXTS)][:TEXTS] for code, pool in sorted(texts.items())}

    def ours(text: str) -> str:
        shares = language_probabilities.__wrapped__(text)
        return max(shares, key=shares.__getitem__)

    def theirs(text: str) -> str:
        try:
            return str(detect(text)).split("-")[0]
        except LangDetectException:
            return ""

    def accuracy(program: Callable[[str], str]) -> dict[str, float]:
        return {code: sum(program(text) == code for text in pool) / len(pool) for code, pool in sample.items()}

    flat = [text for pool in sample.values() for text in pool]
    ours(flat[0]), theirs(flat[0])
    our_accuracy, fast = _timed(lambda: accuracy(ours))
    langdetect_accuracy, slow = _timed(lambda: accuracy(theirs))
    lower = [code for code in our_accuracy if our_accuracy[code] < langdetect_accuracy[code]]

    def shown(accuracies: dict[str, float]) -> str:
        return ", ".join(f"{code} {100 * share:.0f}" for code, share in accuracies.items())

    return [
        Row(
            f"language detection of {len(flat):,} passages in {len(sample)} languages",
            f"{len(flat) / fast:,.0f} texts/s a core",
            f"langdetect: {len(flat) / slow:,.0f} texts/s",
            f"{slow / fast:.1f} times as fast",
            "at least 5 times as fast",
        ),
        Row(
            "its accuracy, %",
            shown(our_accuracy),
            f"langdetect (which knows no Yoruba): {shown(langdetect_accuracy)}",
            f"lower in {', '.join(lower)}" if lower else "nowhere lower",
            "nowhere lower",
        ),
    ]


def _pairs(passages: pa.Table, answers: pa.Table) -> list[Row]:
    """A local model over sentence-citation pairs: batches of like length against fixed ones in the order they come."""
    try:
        import torch
        import transformers
    except ImportError:
        return [Row("local models", "not run", "the extra `local` (torch, transformers) is not installed", "", "")]
    pairs = list(itertools.islice(_sentence_pairs(passages, answers), PAIRS))
    with tempfile.TemporaryDirectory() as folder:
        _small_model(folder, [text for pair in pairs for text in pair])
        model = features.PairModel(folder, max_tokens=MAX_TOKENS)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        plain = transformers.AutoModelForSequenceClassification.from_pretrained(folder).to(model.device).eval()
        padding = tokens = 0

        def fixed() -> None:
            nonlocal padding, tokens
            padding = tokens = 0
            for start in range(0, len(pairs), 32):
                first, second = zip(*pairs[start : start + 32], strict=True)
                inputs = tokenizer(first, second, padding=True, truncation=True, max_length=512, return_tensors="pt")
                with torch.inference_mode():
                    plain(**inputs.to(model.device))
                padding += int((inputs["attention_mask"] == 0).sum())
                tokens += inputs["attention_mask"].numel()

        fast, slow = seconds(lambda: model.scores(pairs), fixed, rounds=1)
    return [
        Row(
            f"{len(pairs):,} pairs through a small random model on {model.device}",
            f"{len(pairs) / fast:,.0f} pairs/s, {model.padding / model.tokens:.1%} of the tokens padding",
            f"batches of 32 in order: {len(pairs) / slow:,.0f} pairs/s, {padding / tokens:.1%} padding",
            f"{slow / fast:.1f} times as fast",
            "",
        )
    ]


def _sentence_pairs(passages: pa.Table, answers: pa.Table) -> Iterator[tuple[str, str]]:
    """Passage and citing sentence, of every tenth answer, in the order of the table."""
    text = dict(zip(passages["passage_id"].to_pylist(), passages["text"].to_pylist(), strict=True))
    for answer in answers.to_pylist()[::10]:
        ids = tuple(f"{answer['query_id'][1:]}#{n}" for n in range(8))
        for sentence, cited in cited_sentences(
            MeasuredAnswer(answer["language"], answer["text"], "rag", ids, (None,) * 8)
        ):
            yield from ((text[passage], sentence) for passage in cited)


def _small_model(folder: str, texts: Sequence[str]) -> None:
    """A classifier of 4 layers with random weights, and a tokenizer trained on the texts."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

    special = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]"}
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=8_000, special_tokens=list(special.values()), show_progress=False)
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    config = transformers.XLMRobertaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=256,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=1_024,
        max_position_embeddings=600,
        pad_token_id=tokenizer.token_to_id("[PAD]"),
        num_labels=3,
    )
    transformers.AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
