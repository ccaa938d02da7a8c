# SPDX-License-Identifier: MIT
# For scripts that make a long trace of a short one.
repeat() { # FILE TIMES: what it has so many times, by one process
    local files=() n
    for ((n = 0; n < $2; n++)); do files+=("$1"); done
    cat "${files[@]}"
}
