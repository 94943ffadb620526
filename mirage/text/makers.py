"""Makers of systems and judges, from their names or named by the user."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

BASELINE, OTHER = "baseline", "other"

_ORGANISATIONS = {
    "01-ai": "01.AI",
    "ai21": "AI21",
    "ai21labs": "AI21",
    "alibaba": "Alibaba",
    "alibaba-nlp": "Alibaba",
    "allenai": "AllenAI",
    "amazon": "Amazon",
    "anthropic": "Anthropic",
    "apple": "Apple",
    "baichuan-inc": "Baichuan",
    "baidu": "Baidu",
    "bigscience": "BigScience",
    "bytedance": "ByteDance",
    "bytedance-seed": "ByteDance",
    "cerebras": "Cerebras",
    "cohere": "Cohere",
    "coherelabs": "Cohere",
    "cohereforai": "Cohere",
    "databricks": "Databricks",
    "deepseek": "DeepSeek",
    "deepseek-ai": "DeepSeek",
    "eleutherai": "EleutherAI",
    "facebook": "Meta",
    "google": "Google",
    "huggingfaceh4": "Hugging Face",
    "huggingfacetb": "Hugging Face",
    "ibm": "IBM",
    "ibm-granite": "IBM",
    "internlm": "Shanghai AI Lab",
    "lgai-exaone": "LG",
    "liquidai": "Liquid AI",
    "lmsys": "LMSYS",
    "meituan-longcat": "Meituan",
    "meta": "Meta",
    "meta-llama": "Meta",
    "microsoft": "Microsoft",
    "minimax": "MiniMax",
    "minimaxai": "MiniMax",
    "mistral": "Mistral",
    "mistralai": "Mistral",
    "moonshotai": "Moonshot",
    "mosaicml": "Databricks",
    "naver-hyperclovax": "Naver",
    "nousresearch": "Nous Research",
    "nvidia": "NVIDIA",
    "openai": "OpenAI",
    "perplexity": "Perplexity",
    "qwen": "Alibaba",
    "rekaai": "Reka",
    "snowflake": "Snowflake",
    "stabilityai": "Stability AI",
    "teknium": "Nous Research",
    "tencent": "Tencent",
    "thudm": "Zhipu",
    "tiiuae": "TII",
    "upstage": "Upstage",
    "writer": "Writer",
    "x-ai": "xAI",
    "xai": "xAI",
    "xai-org": "xAI",
    "xiaomimimo": "Xiaomi",
    "z-ai": "Zhipu",
    "zai-org": "Zhipu",
    "zhipuai": "Zhipu",
}
"""Makers by the prefix of a model's name before a slash: organisations on the Hugging Face Hub, and prefixes of
gateways.
"""

_SIZE = r"(?=$|[- ]?v?\d|[- ](?:mini|small|medium|instruct|chat|base|code|vision|mamba|embed)(?![^\W\d_]))"
"""What follows a word of everyday language that is a model's name: `falcon-180b`, but `falcon-rag` names nobody."""

# Words of names, in lower case. Derived models come first: the maker of the last step counts.
_WORDS = (
    (r"deep[- ]?seek", "DeepSeek"),
    (rf"(?:wizard[- ]?(?:lm|coder|math)|(?:orca|phi){_SIZE})", "Microsoft"),
    (r"(?:nemotron|minitron|nvidia|chatqa)", "NVIDIA"),
    (r"(?:vicuna|longchat|fastchat|lmsys)", "LMSYS"),
    (r"(?:tulu|olmoe?|allenai)", "AllenAI"),
    (rf"(?:(?:open|nous)[- ]?hermes|(?:hermes|capybara){_SIZE})", "Nous Research"),
    (rf"(?:zephyr{_SIZE}|smollm|starchat)", "Hugging Face"),
    (r"(?:stablelm|stable[- ](?:lm|beluga|vicuna)|stabilityai)", "Stability AI"),
    (rf"gpt[- ]?(?:neox?|j)|pythia{_SIZE}", "EleutherAI"),
    (r"cerebras", "Cerebras"),
    (r"(?:seallms?)", "Alibaba"),
    (r"(?:claude|anthropic)", "Anthropic"),
    (r"(?:gpt(?=[- ]?\d)|gpt[- ](?:oss|image|audio|realtime)|chat[- ]?gpt|davinci|openai)", "OpenAI"),
    (r"(?:grok|xai)", "xAI"),
    (r"(?:chat|code)?glm|zhipu(?:ai)?|codegeex", "Zhipu"),
    (r"(?:kimi|moonshot(?:ai)?)", "Moonshot"),
    (r"yi(?=[- ](?:\d|large|lightning|medium|spark|vision|coder|vl))", "01.AI"),
    (rf"(?:granite{_SIZE}|ibm)", "IBM"),
    (r"(?:jamba|jurassic|ai21|j2[- ](?:ultra|mid|light|jumbo|grande))", "AI21"),
    (r"(?:nova[- ](?:micro|lite|pro|premier|sonic)|titan[- ]text|amazon)", "Amazon"),
    (r"(?:ernie|wenxin|baidu)", "Baidu"),
    (r"(?:hunyuan|tencent)", "Tencent"),
    (r"(?:doubao|skylark|seed[- ]oss|bytedance)", "ByteDance"),
    (r"(?:minimax|abab(?=\d))", "MiniMax"),
    (rf"(?:dbrx|dolly{_SIZE}|mpt(?=[- ]\d)|databricks)", "Databricks"),
    (rf"(?:arctic{_SIZE}|snowflake)", "Snowflake"),
    (rf"falcon{_SIZE}", "TII"),
    (rf"(?:bloom{_SIZE}|bloomz|mt0)", "BigScience"),
    (r"solar(?=[- ]?(?:\d|pro|mini))", "Upstage"),
    (r"exaone", "LG"),
    (r"(?:hyper)?clova(?:x)?", "Naver"),
    (r"reka", "Reka"),
    (r"palmyra", "Writer"),
    (r"internlm", "Shanghai AI Lab"),
    (r"baichuan", "Baichuan"),
    (r"longcat", "Meituan"),
    (r"mimo(?=[- ]?(?:\d|v\d))", "Xiaomi"),
    (r"(?:pplx|sonar(?=[- ](?:small|medium|large|pro|reasoning)))", "Perplexity"),
    (r"lfm(?=\d)", "Liquid AI"),
    (r"openelm", "Apple"),
    (r"(?:(?:mi|mini|code|math|magi|dev)stral|ministral|[mp]ixtral|voxtral)(?:ai)?", "Mistral"),
    (r"(?:aya|c4ai|cohere|command(?=$|[- ]?(?:r|a|light|nightly|xlarge|medium)(?![a-z])))", "Cohere"),
    (r"(?:code|meta)?[- ]?llama(?![-_. ]?(?:index|cpp|hub|parse|file))|opt(?=[- ]\d)", "Meta"),
    (r"(?:code|pali|med|shield|recurrent)?gemma|gemini|flan|(?:by|um|m)?t5|(?:text|chat)[- ]bison", "Google"),
    (rf"(?:palm|bard){_SIZE}", "Google"),
    (r"(?:qwen|qwq|qvq|tongyi|alibaba)", "Alibaba"),
)
_SUFFIX = r"(?:chat|instruct|instant|coder|math|lm|vl|long|max)?"
_VERSION = r"(?![- ]?\d[\d.]*(?!(?:[a-z]{1,2}|turbo|mini|omni|chat|instruct|vision|base|pro)(?![^\W\d_]))[^\W\d_.])"
"""No longer word after the version: `gpt4o` is GPT-4o, `gpt4all` is not."""
_LIKENESS = re.compile(r"(?<![^\W\d_])(?:like|clone|style|alternative|replica|inspired)(?![^\W\d_])")
_PATTERNS = (
    *((re.compile(rf"(?<![^\W\d_])(?:{word}){_SUFFIX}(?![^\W\d_]){_VERSION}"), name) for word, name in _WORDS),
    # Match the whole name, as these words are too short within a longer one.
    (re.compile(r"^o[1-9](?![^\W\d_])(?=$|[- ](?:mini|pro|preview|high|low|medium|deep|\d))"), "OpenAI"),
    (re.compile(r"^yi$"), "01.AI"),
)
_BASELINE = "baseline/"

MAKERS = tuple(dict.fromkeys((BASELINE, *(name for _, name in _PATTERNS), *sorted(_ORGANISATIONS.values()), OTHER)))
"""Every known maker by name; `baseline` for the built-in systems, `other` for unknown makers."""


@cache
def maker(system: str) -> str:
    """Return the maker of a system or judge by its name; `other` if unknown.

    In `organisation/model` the organisation decides if it is known, else the words of the model's name. A word counts
    only if it is separate or next to a version: `yield` does not match Yi, nor `gpt4all` GPT-4; a likeness of a model
    is not of its maker.
    """
    low = system.lower().strip()
    if low.startswith(_BASELINE):
        return BASELINE
    *prefixes, name = low.split("/")
    for prefix in reversed(prefixes):
        if prefix in _ORGANISATIONS:
            return _ORGANISATIONS[prefix]
    if _LIKENESS.search(name):
        return OTHER
    return next((made_by for pattern, made_by in _PATTERNS if pattern.search(name)), OTHER)


@dataclass(frozen=True)
class Makers:
    """Makers of systems: as named by the user, else by their names."""

    named: tuple[tuple[str, str], ...] = ()
    """System and maker pairs named by the user."""

    @classmethod
    def of_names(cls, pairs: Iterable[tuple[str, str]]) -> Makers:
        """Build from pairs of system and maker, in any order."""
        return cls(tuple(sorted(pairs)))

    @cached_property
    def _by_system(self) -> dict[str, str]:
        return dict(self.named)

    def of(self, system: str) -> str:
        """Return the maker of a system or judge; `other` if unknown. A judge may have its criterion after its name."""
        judge = system.rpartition(": ")[0] or system
        known = self._by_system.get(system) or self._by_system.get(judge) or maker(system)
        return known if known != OTHER or judge == system else maker(judge)


BY_NAME = Makers()
"""Makers by the systems' names only."""
