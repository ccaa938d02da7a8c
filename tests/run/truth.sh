#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Real programs under QEMU: in every protocol what is decoded is what ran. A share of `make truth`.
set -eu
bin=$1 source=$2
command -v qemu-aarch64 >/dev/null || { echo "there is no qemu-user here"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
# Each width of RISC-V once, and with compressed instructions or without; record_forms.sh has seeds.
"$source/tests/truth/truth.sh" "$bin" "$work" 1 0 a64 a32 t32 rv64 rv32i
