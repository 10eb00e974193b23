# Two commands do everything on a fresh machine:   make play   and   make test
# Both make their own virtual environment in .venv; nothing else needs to be installed by hand but Python 3.11.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python
WORKERS ?= 2

.PHONY: play test lint certify axes bench bench-scale clean

play: $(VENV)/.play
	$(RUN) app.py

test: $(VENV)/.dev chromium lint
	$(RUN) -m pytest -n $(WORKERS) --dist loadfile

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

certify: $(VENV)/.play
	$(RUN) -m ecomrlve certify --envs C8 --difficulty 0:13 --seeds 0:20

axes: $(VENV)/.play
	$(RUN) -m ecomrlve axes

bench: $(VENV)/.play
	$(RUN) -m ecomrlve bench

# About forty minutes and 4 GB of disk on two cores: four catalogs up to two million products, then their laws.
SCALE ?= .scale
bench-scale: $(VENV)/.play
	$(RUN) -m ecomrlve bench-scale --folder $(SCALE)
	$(RUN) -m ecomrlve certify --catalog $(SCALE)/generated-2000000 --difficulty 0,3,6,9,12 --seeds 0:20 --slip-seeds 60

# torch goes first and alone: a plain dependency on it would pull a build for other hardware, ten times the size.
$(VENV)/.play: requirements.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 is needed: install it, or name it with make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || echo "warning: tested with Python 3.11 only"
	test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(RUN) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/.dev: $(VENV)/.play requirements-dev.txt
	$(RUN) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

# The browser tests need a Chromium; where it cannot be installed they are skipped and say so.
.PHONY: chromium
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; }; } || \
	  echo "note: no Chromium here and none could be installed; the browser tests will be skipped"

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
