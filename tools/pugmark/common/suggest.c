// SPDX-License-Identifier: MIT
#include "suggest.h"

#include "base/edit_distance.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void suggest_begin(struct suggestion *suggestion, const char *wanted)
{
    *suggestion = (struct suggestion){.wanted = wanted, .least = PUG_NAME_FAR};
}

void suggest_offer(struct suggestion *suggestion, const char *known)
{
    const unsigned distance = pug_name_distance(suggestion->wanted, known);
    if (distance >= suggestion->least)
        return;
    suggestion->least = distance;
    snprintf(suggestion->meant, sizeof(suggestion->meant), "%s", known);
    snprintf(suggestion->question, sizeof(suggestion->question), "; is %s meant?",
             suggestion->meant);
}

const char *suggest_word(const char *wanted, const char *values, char meant[64])
{
    struct suggestion suggestion;
    char word[64];
    if (!strchr(values, '|'))
        return NULL;
    suggest_begin(&suggestion, wanted);
    for (const char *at = values; *at;) {
        const size_t length = strcspn(at, "|[]=");
        if (length > 0 && length < sizeof(word) && !isupper((unsigned char)*at)) {
            memcpy(word, at, length);
            word[length] = 0;
            suggest_offer(&suggestion, word);
        }
        at += length + (at[length] != 0);
    }
    if (!*suggestion.meant)
        return NULL;
    memcpy(meant, suggestion.meant, sizeof(suggestion.meant));
    return meant;
}
