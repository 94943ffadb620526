"""Recipe for TRL's `trl sft`, a trainer that reads a YAML file and conversations in JSON Lines, supports LoRA, and
computes the loss on the answers only.
"""

from __future__ import annotations

import json

MODEL = "meta-llama/Meta-Llama-3-8B-Instruct"
"""Default model of the recipe."""
MAX_LENGTH = 6144
"""Maximum conversation length in tokens."""
MODULES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj")
HYPERPARAMETERS: dict[str, object] = {
    "attn_implementation": "flash_attention_2",
    "per_device_train_batch_size": 4,
    "gradient_accumulation_steps": 8,
    "num_train_epochs": 1,
    "learning_rate": 2e-4,
    "max_length": MAX_LENGTH,
    "use_peft": True,
    "lora_r": 16,
    "lora_alpha": 16,
    "lora_dropout": 0.05,
    "lora_target_modules": list(MODULES),
}
"""Table 6 of MIRAGE-Bench by the names of TRL."""


def recipe(data: str, heldout: str | None, *, seed: int = 0) -> str:
    """Return the YAML recipe for a training set.

    Args:
        data: name of the file of training conversations.
        heldout: name of the file of held-out conversations, if there is one.
        seed: the trainer's seed.
    """
    comments = {
        "attn_implementation": "Table 6: Attention, FlashAttention-2. Without its package: sdpa",
        "per_device_train_batch_size": "Table 6: Batch size, 32. It is this times the next times the number of GPUs",
        "lora_target_modules": "Table 6, whose list is cut off here in the print; down_proj often ends it",
    }
    heldout_comment = f"# Held out, by query, to measure with: {heldout}\n" if heldout else ""
    lines = [f"{name}: {_yaml(value)}  # {comments.get(name, 'Table 6')}" for name, value in HYPERPARAMETERS.items()]
    printed = "\n".join(lines)
    return f"""\
# To train on {data}, in its folder: pip install trl peft, then: trl sft --config THIS_FILE
# Hyperparameters: MIRAGE-Bench (arXiv 2410.13716), Table 6; what it does not print is said to be ours.
{heldout_comment}model_name_or_path: {MODEL}  # ours; another: --model_name_or_path NAME
datasets:
  - path: json
    data_files: {_yaml(data)}
    columns: [messages]
output_dir: {_yaml(data.removesuffix(".jsonl") + "-lora")}

{printed}

assistant_only_loss: true  # ours: the loss is on the answers, not on the passages
dtype: bfloat16  # ours
seed: {seed}  # ours
logging_steps: 10
report_to: none
"""


def _yaml(value: object) -> str:
    """Return a value in YAML, of which JSON is a subset."""
    return json.dumps(value, ensure_ascii=False)
