"""A chat model made on the spot, random weights and a real tokenizer, and `transformers serve` with it on this machine.

    with Server(make(folder / "tiny-chat"), folder) as server:
        endpoint = resolve(base_url=server.url)     # the model's name: server.model

It writes random tokens of the sample's 18 languages: nothing it says can be read as an answer, a grade or a verdict,
except by chance.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from conftest import ROOT

SAMPLE = ROOT / "data" / "sample" / "source"
NEEDS = ("torch", "transformers", "tokenizers", "fastapi", "uvicorn")
START = 300.0
"""Seconds the server gets to load the model."""
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ("<|end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>")


def needed() -> None:
    """Skip where the extra `local` is not installed."""
    for name in NEEDS:
        pytest.importorskip(name, reason=f"{name} is not installed; install the extra: pip install -e '.[local]'")


def make(folder: Path, **config: int) -> Path:
    """Write a model of two layers, 32 wide, whose tokenizer is trained on the sample's texts.

    Args:
        folder: where it goes.
        config: further fields of its configuration: vLLM needs a `head_dim` of 32 on a CPU.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    texts = [
        text
        for file in sorted(SAMPLE.glob("*.json"))
        for query in json.loads(file.read_text(encoding="utf-8"))["questions"]
        for text in (query["question"], query["answer"], *(p["text"] for p in query["passages"]))
    ]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=2_000,
            special_tokens=list(SPECIAL),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    chat = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>", pad_token="<|pad|>")
    chat.chat_template = TEMPLATE
    chat.save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(chat),
                hidden_size=32,
                intermediate_size=64,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                max_position_embeddings=16_384,
                bos_token_id=None,
                eos_token_id=chat.eos_token_id,
                pad_token_id=chat.pad_token_id,
                **config,
            )
        )
    model.save_pretrained(folder)
    return folder


class Server:
    """`transformers serve` on a free port of this machine, without a network; a context manager.

    Args:
        model: the model's folder.
        folder: where its log and an empty model cache go.
    """

    def __init__(self, model: Path, folder: Path) -> None:
        self.model = str(model)
        self.log = folder / "serve.log"
        cache = folder / "hub"
        cache.mkdir(parents=True, exist_ok=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        program = Path(sys.executable).with_name("transformers")
        self.command = [str(program), "serve", self.model, "--host", "127.0.0.1", "--port", str(self.port)]
        self._environment = os.environ | {
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": str(folder),
            "HF_HUB_CACHE": str(cache),
            "OMP_NUM_THREADS": "1",
            "PYTHONWARNINGS": "default",
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Address of the API."""
        return f"http://127.0.0.1:{self.port}/v1"

    def requests(self) -> int:
        """Chat completions it was asked for."""
        return self.log.read_text(encoding="utf-8", errors="replace").count("POST /v1/chat/completions")

    def __enter__(self) -> Server:
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [*self.command, "--device", "cpu"], env=self._environment, stdout=log, stderr=subprocess.STDOUT
            )
        end = time.monotonic() + START
        while not self._healthy():
            if self._process.poll() is not None or time.monotonic() > end:
                self.__exit__()
                output = self.log.read_text(encoding="utf-8", errors="replace")[-3000:]
                raise RuntimeError(f"transformers serve did not start:\n{output}")
            time.sleep(0.2)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False
