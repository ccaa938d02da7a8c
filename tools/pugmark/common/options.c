// SPDX-License-Identifier: MIT
#include "options.h"

#include "common/messages.h"
#include "common/suggest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool parse_number(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    if (!text || *text < '0' || *text > '9')
        return false;
    *value = strtoull(text, &end, 0);
    return errno == 0 && *end == 0;
}

bool option_refuse(const struct option *option, const char *argument, const char *why)
{
    char meant[64];
    const char *near = option->argument ? suggest_word(argument, option->argument, meant) : NULL;
    message_say("pugmark: --%s %s: %s%s%s%s\n", option->name, argument, why, near ? "; is " : "",
                near ? near : "", near ? " meant?" : "");
    return false;
}

bool option_flag(const struct option *option, void *target, const char *argument)
{
    (void)option;
    (void)argument;
    *(bool *)target = true;
    return true;
}

bool option_number(const struct option *option, void *target, const char *argument)
{
    return parse_number(argument, target) || option_refuse(option, argument, "not a number");
}

bool option_some(const struct option *option, void *target, const char *argument)
{
    return option_number(option, target, argument) &&
           (*(const uint64_t *)target > 0 || option_refuse(option, argument, "at least 1"));
}

bool option_up_to(const struct option *option, const char *argument, uint64_t most, uint64_t *value)
{
    char why[48];
    if (!option_number(option, value, argument))
        return false;
    snprintf(why, sizeof(why), "more than %" PRIu64, most);
    return *value <= most || option_refuse(option, argument, why);
}

bool option_expansion(const struct option *option, void *target, const char *argument)
{
    uint64_t number;
    if (!option_some(option, &number, argument) ||
        !option_up_to(option, argument, UINT32_MAX, &number))
        return false;
    *(uint32_t *)target = (uint32_t)number;
    return true;
}

bool option_size(const struct option *option, void *target, const char *argument)
{
    return option_up_to(option, argument, SIZE_MAX, target);
}

bool option_jobs(const struct option *option, void *target, const char *argument)
{
    return option_up_to(option, argument, MOST_JOBS, target);
}

bool option_given(const struct option *option, void *target, const char *argument)
{
    struct option_value *value = target;
    value->given = true;
    return option_number(option, &value->value, argument);
}

bool option_some_given(const struct option *option, void *target, const char *argument)
{
    struct option_value *value = target;
    value->given = true;
    return option_some(option, &value->value, argument);
}

bool option_to_list(const struct option *option, void *target, const char *argument)
{
    (void)option;
    return option_list_add(target, argument);
}

bool option_string(const struct option *option, void *target, const char *argument)
{
    (void)option;
    *(const char **)target = argument;
    return true;
}

/* ---- lists ---- */

/* Options are copied freely and have no owner: their lists are kept until the end. */
struct kept {
    struct kept *before;
    const char *items[];
};

static struct kept *last_kept;

/** Memory that stays until the end; NULL, having said so: there is no more. */
static void *keep(size_t size)
{
    struct kept *kept = malloc(sizeof(*kept) + size);
    if (!kept) {
        message_say("pugmark: out of memory\n");
        return NULL;
    }
    kept->before = last_kept;
    last_kept = kept;
    return kept->items;
}

bool option_list_add(struct option_list *list, const char *word)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 16;
        const char **items = keep(room * sizeof(items[0]));
        if (!items)
            return false;
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof(items[0]));
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = word;
    return true;
}

bool option_list_add_copy(struct option_list *list, const char *word)
{
    const size_t size = strlen(word) + 1;
    char *copy = keep(size);
    return copy && option_list_add(list, memcpy(copy, word, size));
}

/* The last command line. */
static struct {
    struct option_word *items;
    size_t count, room;
} words;

static bool add_word(const struct option *option, const char *argument)
{
    if (words.count == words.room) {
        const size_t room = words.room ? 2 * words.room : 16;
        struct option_word *items = keep(room * sizeof(items[0]));
        if (!items)
            return false;
        if (words.count > 0)
            memcpy(items, words.items, words.count * sizeof(items[0]));
        words.items = items;
        words.room = room;
    }
    words.items[words.count++] = (struct option_word){option, argument};
    return true;
}

bool option_word_at(size_t n, struct option_word *word)
{
    if (n >= words.count)
        return false;
    *word = words.items[n];
    return true;
}

void option_lists_free(void)
{
    words.count = words.room = 0;
    while (last_kept) {
        struct kept *before = last_kept->before;
        free(last_kept);
        last_kept = before;
    }
}

/* ---- parsing ---- */

static const struct option *find(const struct option_set *sets, size_t set_count, const char *name,
                                 size_t length, size_t *set)
{
    for (size_t s = 0; s < set_count; s++) {
        for (size_t i = 0; i < sets[s].count; i++) {
            const struct option *option = &sets[s].options[i];
            if (!option->name || strlen(option->name) != length ||
                strncmp(option->name, name, length) != 0)
                continue;
            *set = s;
            return option;
        }
    }
    return NULL;
}

const struct option *option_find(const struct option_set *sets, size_t set_count, const char *name,
                                 size_t length)
{
    size_t set;
    return find(sets, set_count, name, length, &set);
}

const struct option *option_at(const struct option_set *sets, size_t set_count, size_t n,
                               size_t *set)
{
    for (size_t s = 0; s < set_count; s++) {
        for (size_t i = 0; i < sets[s].count; i++) {
            const struct option *option = &sets[s].options[i];
            const char *name = option->name;
            if (name && option_find(sets, set_count, name, strlen(name)) != option)
                continue; /* a command's own one goes before a common one of the name */
            if (n-- > 0)
                continue;
            if (set)
                *set = s;
            return option;
        }
    }
    return NULL;
}

void option_words(const struct option *option, char *text, size_t size)
{
    const bool apart = option->argument && *option->argument != '[';
    snprintf(text, size, "--%s%s%s", option->name, apart ? " " : "",
             option->argument ? option->argument : "");
}

/** Says that no option is called so, and which one is nearly. */
static bool refuse_unknown(const char *word, const struct option_set *sets, size_t set_count)
{
    const char *name = strncmp(word, "--", 2) == 0 ? word + 2 : word + 1;
    struct suggestion suggestion;
    const struct option *option;
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "%.*s", (int)strcspn(name, "="), name);
    suggest_begin(&suggestion, wanted);
    for (size_t n = 0; (option = option_at(sets, set_count, n, NULL)) != NULL; n++)
        if (option->name)
            suggest_offer(&suggestion, option->name);
    if (*suggestion.meant)
        message_say("pugmark: unknown option '%s'; is --%s meant? (--help lists them)\n", word,
                    suggestion.meant);
    else
        message_say("pugmark: unknown option '%s' (--help lists them)\n", word);
    return false;
}

/** One option at argv[*at]; *at is moved to its last word. */
static bool take_option(int argc, char **argv, int *at, const struct option_set *sets,
                        size_t set_count)
{
    const char *name = argv[*at] + 2;
    size_t length = strcspn(name, "="), set = 0;
    const char *argument = name[length] == '=' ? name + length + 1 : NULL;
    const struct option *option = find(sets, set_count, name, length, &set);
    if (!option)
        return refuse_unknown(argv[*at], sets, set_count);
    if (!option->argument && argument) {
        message_say("pugmark: option '--%s' takes no argument\n", option->name);
        return false;
    }
    const bool optional = option->argument && *option->argument == '[';
    if (option->argument && !argument && !optional) {
        if (*at + 1 >= argc) {
            message_say("pugmark: option '--%s' needs %s\n", option->name, option->argument);
            return false;
        }
        argument = argv[++*at];
    }
    void *target = (char *)sets[set].target + option->offset;
    return option->take(option, target, argument) && add_word(option, argument);
}

bool options_parse(int argc, char **argv, const struct option_set *sets, size_t set_count,
                   int *operands)
{
    bool only_operands = false;
    *operands = 0;
    words.count = 0;
    for (int i = 1; i < argc; i++) {
        if (!only_operands && strcmp(argv[i], "--") == 0) {
            only_operands = true;
        } else if (!only_operands && strncmp(argv[i], "--", 2) == 0) {
            if (!take_option(argc, argv, &i, sets, set_count))
                return false;
        } else if (!only_operands && (strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "-c") == 0)) {
            char output[] = "--output", channel[] = "--channel";
            char **const at = argv + i, *const word = *at;
            *at = word[1] == 'c' ? channel : output;
            const bool good = take_option(argc, argv, &i, sets, set_count);
            *at = word;
            if (!good)
                return false;
        } else if (!only_operands && argv[i][0] == '-' && argv[i][1] != 0) {
            return refuse_unknown(argv[i], sets, set_count);
        } else {
            argv[1 + (*operands)++] = argv[i];
        }
    }
    return true;
}
