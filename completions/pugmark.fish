# SPDX-License-Identifier: MIT
# fish: completion of pugmark. Everything comes from `pugmark complete`, which reads the command's own tables.
function __pugmark_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program complete -- $words "$current" 2>/dev/null)
        switch $line
            case :file
                __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current")
            case :dir
                __fish_complete_directories (string replace -r '^--[^=]*=' '' -- "$current") ''
            case '*'
                echo -- $line
        end
    end
end
complete -c pugmark -f -a '(__pugmark_complete)'
