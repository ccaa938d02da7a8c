#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every public function that can fail, given nothing (NULL, 0, structs of zeros), says so; every function that
# makes or frees an object lives. Each call is a child of its own. And structs that clients fill can grow.
set -eu
bin=$(readlink -f "$1") source=$2
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
if [[ ! -f $bin/../lib/libpugmark.so ]] || nm -D "$bin/../lib/libpugmark.so" | grep -q -e __asan -e __tsan; then
  echo "skipped: no shared library that a plain program can use"
  exit 77
fi
cd "$source/include"
mapfile -t headers < <(find pugmark -name '*.h' ! -path '*/author/*' | sort)

{
  echo '#include <signal.h>'
  echo '#include <stdio.h>'
  echo '#include <sys/wait.h>'
  echo '#include <unistd.h>'
  printf '#include "%s"\n' "${headers[@]}"
  perl -0777 -ne '
    s{/\*.*?\*/}{}gs;
    s/^\s*#.*$//gm;
    while (/^((?!static|typedef)[a-z][\w\s*]*?)\b(pug_\w+)\s*\(([^;{}]*?)\)\s*(?:__attribute__\(\([^;]*\)\))?;/gm) {
      my ($type, $name, $arguments) = ($1, $2, $3);
      my $fails = $type =~ /enum pug_status/;
      next unless $fails || $name =~ /_(free|close|new|begin)$/;
      next if $name eq "pug_names_status"; # of no names all is known
      1 while $arguments =~ s/\(([^()]*)\)\s*\([^()]*\)/*$1/; # a pointer to a function is a pointer
      my @values = map { /^\s*void\s*$|\.\.\.|^\s*$/ ? () : /[*\[]/ ? "NULL" : /(struct \w+)/ ? "($1){0}" : "0" }
        split /,/, $arguments;
      my $call = "$name(" . join(", ", @values) . ")";
      print "static int call_$name(void) { ", $fails ? "return $call != PUG_OK" : "(void)($call); return 1", "; }\n";
      print "/*ALL*/ {\"$name\", call_$name},\n";
    }' "${headers[@]}"
} >"$work/calls"
{
  grep -v '^/\*ALL' "$work/calls"
  echo 'static const struct { const char *name; int (*call)(void); } all[] = {'
  sed -n 's|^/\*ALL\*/||p' "$work/calls"
  cat <<'END'
};
int main(void)
{
    int bad = 0, status;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(10);
            _exit(all[i].call() ? 0 : 1);
        }
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 2;
        if (status == 0)
            continue;
        printf("%s: %s\n", all[i].name, WIFEXITED(status) ? "is PUG_OK with nothing" : "dies");
        bad++;
    }
    printf("%zu functions\n", sizeof(all) / sizeof(all[0]));
    return bad > 0;
}
END
} >"$work/nulls.c"
cc -std=c17 -D_POSIX_C_SOURCE=200809L -w -I. -o "$work/nulls" "$work/nulls.c" -L"$bin/../lib" -lpugmark
LD_LIBRARY_PATH=$bin/../lib "$work/nulls" 2>/dev/null >"$work/said" || { cat "$work/said"; exit 1; }
(($(sed -n 's/ functions$//p' "$work/said") > 100))

# Options and what describes something are filled by name, and have room.
perl -0777 -ne '
  while (/^struct\s(pug_\w+_(?:options|config|wanted|limits|replacement|roots|program|selection|decode|choice|input)|
                     pug_(?:correlate_source|correlate_stream|travel|peers|dwt|description|jobs|parts|report|profile_object))\s\{(.*?)^\};/gmsx) {
    print "$ARGV: struct $1 has no spare room\n" unless $2 =~ /\bspare\b/;
  }' $(find pugmark -name '*.h' ! -path '*/packet/*') >"$work/full"
[[ ! -s $work/full ]] || { cat "$work/full"; exit 1; }
