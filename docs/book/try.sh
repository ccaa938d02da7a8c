# SPDX-License-Identifier: MIT
# . docs/book/try.sh, in the top folder of Pugmark's source: finds what was built, and goes to a new, empty folder in
# which the book's commands can be tried. In it `examples`, `captures` and `source` lead to what they read.
if [ ! -f docs/book/try.sh ]; then
  echo "first: cd to the top folder of Pugmark's source, where docs/ is" >&2
elif [ ! -x build/demo/bin/pugmark ] && [ ! -x build/release/bin/pugmark ] && [ -z "${PUGMARK_BUILD:-}" ]; then
  echo "first: make demo" >&2
else
  if [ -z "${PUGMARK_BUILD:-}" ]; then
    PUGMARK_BUILD=$PWD/build/demo
    [ ! -x build/release/bin/pugmark ] || PUGMARK_BUILD=$PWD/build/release
  fi
  export PUGMARK_BUILD PATH="$PUGMARK_BUILD/bin:$PATH"
  pugmark_source=$PWD
  : "${PUGMARK_TRY:=$(mktemp -d)}"
  cd "$PUGMARK_TRY" || return
  ln -sfn "$pugmark_source/examples" examples
  ln -sfn "$pugmark_source/tests/captures" captures
  ln -sfn "$pugmark_source" source
  unset pugmark_source PUGMARK_TRY
fi
