#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Recursion, an array, a signal to itself, children.
fibonacci() {
  if (($1 < 2)); then
    r=$1
  else
    fibonacci $(($1 - 1))
    local a=$r
    fibonacci $(($1 - 2))
    r=$((a + r))
  fi
}
trap 'echo signalled' USR1
fibonacci 9
echo "$r"
kill -USR1 $$
for i in {1..200}; do items[i * 37 % 101]=x$i; done
echo "${#items[@]} ${items[*]:3:4}"
x=$(echo sub | while read -r line; do echo "${line^^}"; done)
echo "$x"
