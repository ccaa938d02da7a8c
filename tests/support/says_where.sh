# SPDX-License-Identifier: MIT
# Bash reads this before a test's script (BASH_ENV): the command that fails is printed, with its
# line.
unset BASH_ENV
set -E
trap 'echo "${BASH_SOURCE[0]}:$LINENO: failed: $BASH_COMMAND" >&2' ERR
