#!/usr/bin/env bash
# Does training run on this GPU, and how quickly? One command, under eight minutes once everything is installed.
#
#   scripts/gpu_smoke.sh                      makes an environment in .venv-gpu, plays and trains a few steps, prints a table
#   SMOKE_PYTHON=/path/to/python scripts/gpu_smoke.sh     with an environment that has torch for this GPU already
#   SMOKE_MODEL=Qwen/Qwen3-0.6B               another model than one of that shape with random weights
#
# Random weights need no download and cost the same time and memory; the rewards then say nothing.
set -euo pipefail

cd "$(dirname "$0")/.."
python="${SMOKE_PYTHON:-}"
if [ -z "$python" ]; then
  folder="${SMOKE_FOLDER:-.venv-gpu}"
  python="$folder/bin/python"
  if [ ! -f "$folder/.ready" ]; then
    "${PYTHON:-python3.11}" -m venv "$folder"
    # The default index's torch 2.13.0 for Linux comes with CUDA.
    "$python" -m pip install --quiet --disable-pip-version-check torch==2.13.0
    "$python" -m pip install --quiet --disable-pip-version-check -r requirements.txt
    touch "$folder/.ready"
  fi
fi
exec "$python" scripts/gpu_smoke.py "$@"
