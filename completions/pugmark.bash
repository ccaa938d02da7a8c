# SPDX-License-Identifier: MIT
# bash: completion of pugmark. Everything comes from `pugmark complete`, which reads the command's own tables.
_pugmark() {
  local words=() word line candidate i cur
  # Bash cuts words at = and :, which belong to them here.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((i > 1)) && [[ $word == [=:]* || ${COMP_WORDS[i - 1]} == [=:] ]] && ((${#words[@]})); then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  cur=${words[${#words[@]} - 1]-}
  # What is in front of the part that bash replaces.
  local front=
  if [[ $cur == *[=:]* && $COMP_WORDBREAKS == *[=:]* ]]; then front=${cur%"${cur##*[=:]}"}; fi
  COMPREPLY=()
  while IFS= read -r line; do
    candidate=${line%%$'\t'*}
    case $candidate in
      :file)
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "${cur#"$front"}")
        ;;
      :dir)
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "${cur#"$front"}")
        ;;
      *)
        [[ $candidate == *= ]] && compopt -o nospace 2>/dev/null
        candidate=${candidate#"$front"}
        [[ $candidate == *[!A-Za-z0-9_.,:=/+@%-]* ]] && printf -v candidate %q "$candidate"
        COMPREPLY+=("$candidate")
        ;;
    esac
  done < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
}
complete -F _pugmark pugmark
