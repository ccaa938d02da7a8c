#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Python package: bindings/python/tests, under /usr/bin/python3. With PUG_PART=shared what Python gives is
# compared with what the command prints for the captures beside the repository.
set -eu
build=$(cd "$1/.." && pwd)
export PYTHONPATH=$build/python PUGMARK_BIN=$build/bin PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3
if [ ! -e "$build/python/pugmark/_core.abi3.so" ]; then
  echo "the Python package was not built (no headers of Python 3.11, or -DPUG_PYTHON=OFF)"
  exit 77
fi
if ! "$python" -c 'import pytest, numpy' 2>/dev/null; then
  echo "the tests of the Python package need python3-pytest and python3-numpy"
  exit 77
fi
cd "$2/bindings/python/tests"
options=(-q -p no:cacheprovider --no-header)
if [ "${PUG_PART:-own}" = shared ]; then
  if [ ! -d "$2/../shared/captures" ]; then
    echo "no captures beside the repository"
    exit 77
  fi
  exec "$python" -m pytest "${options[@]}" test_same.py test_perf.py test_hostile.py test_itm.py
fi
exec "$python" -m pytest "${options[@]}"
