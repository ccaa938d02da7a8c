// SPDX-License-Identifier: MIT
#include "input_lists.h"
#include "common/messages.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/** Room for copies of words that are cut in their place. */
static char *words_room(const struct input_options *options)
{
    const struct option_list *const cut[] = {&options->elf, &options->image,
                                             &options->replacements};
    size_t bytes = 1;
    for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++)
        for (size_t n = 0; n < cut[i]->count; n++)
            bytes += strlen(cut[i]->items[n]) + 1;
    return malloc(bytes);
}

static bool make_room(struct input_lists *lists, const struct input_options *options)
{
    const size_t programs = options->elf.count + options->image.count;
    *lists = (struct input_lists){
        .words = words_room(options),
        .programs = calloc(programs + 1, sizeof(*lists->programs)),
        .replacements = calloc(options->replacements.count + 1, sizeof(*lists->replacements)),
        .sources = calloc(options->sources.count + 1, sizeof(*lists->sources)),
        .pids = calloc(options->pids.count + 1, sizeof(*lists->pids)),
        .tids = calloc(options->tids.count + 1, sizeof(*lists->tids)),
        .cpus = calloc(options->cpus.count + 1, sizeof(*lists->cpus)),
        .objects = calloc(options->objects.count + 1, sizeof(*lists->objects)),
    };
    return lists->words && lists->programs && lists->replacements && lists->sources &&
           lists->pids && lists->tids && lists->cpus && lists->objects;
}

static char *copy_word(char **room, const char *word)
{
    const size_t size = strlen(word) + 1;
    char *copy = memcpy(*room, word, size);
    *room += size;
    return copy;
}

/** A copy of a word, cut at the first `mark`; *tail is the rest, or NULL. */
static char *cut_copy(char **room, const char *word, char mark, char **tail)
{
    char *copy = copy_word(room, word);
    char *at = strchr(copy, mark);
    *tail = at ? at + 1 : NULL;
    if (at)
        *at = 0;
    return copy;
}

bool input_program_cut(char *word, struct input_program *program)
{
    static const char mark[] = "SOURCE=";
    uint64_t id;
    *program = (struct input_program){.path = word};
    char *at = strrchr(word, '@');
    if (at && strncasecmp(at + 1, mark, sizeof(mark) - 1) == 0) {
        if (!parse_number(at + sizeof(mark), &id) || id > UINT16_MAX)
            return false;
        program->has_source = true;
        program->source = (uint16_t)id;
        *at = 0;
        at = strrchr(word, '@');
    }
    if (!at)
        return true;
    program->has_address = parse_number(at + 1, &program->address);
    *at = 0;
    return program->has_address;
}

/** The next program, of a word that was found good before. */
static struct pug_capture_program take_program(const char *word, bool plain, char **room)
{
    struct input_program program;
    (void)input_program_cut(copy_word(room, word), &program);
    return (struct pug_capture_program){.path = program.path,
                                        .address = program.address,
                                        .plain = plain,
                                        .has_source = program.has_source,
                                        .source = program.source};
}

static void take_programs(struct input_lists *lists, const struct input_options *options,
                          char **room)
{
    struct pug_capture_program *program = lists->programs;
    for (size_t i = 0; i < options->elf.count; i++)
        *program++ = take_program(options->elf.items[i], false, room);
    for (size_t i = 0; i < options->image.count; i++)
        *program++ = take_program(options->image.items[i], true, room);
}

static void take_numbers(const struct option_list *list, int32_t *numbers)
{
    uint64_t number = 0;
    for (size_t i = 0; i < list->count; i++) {
        (void)parse_number(list->items[i], &number);
        numbers[i] = (int32_t)number;
    }
}

bool input_lists_take(struct input_lists *lists, const struct input_options *options)
{
    uint64_t number = 0;
    char *tail;
    if (!make_room(lists, options))
        return false;
    char *room = lists->words;
    take_programs(lists, options, &room);
    for (size_t i = 0; i < options->replacements.count; i++) {
        lists->replacements[i].path = cut_copy(&room, options->replacements.items[i], '=', &tail);
        lists->replacements[i].file = tail;
    }
    for (size_t i = 0; i < options->sources.count; i++) {
        (void)parse_number(options->sources.items[i], &number);
        lists->sources[i] = (uint16_t)number;
    }
    take_numbers(&options->pids, lists->pids);
    take_numbers(&options->tids, lists->tids);
    take_numbers(&options->cpus, lists->cpus);
    for (size_t i = 0; i < options->objects.count; i++)
        lists->objects[i] = options->objects.items[i];
    lists->selection = (struct pug_capture_selection){
        .pids = lists->pids,
        .pid_count = options->pids.count,
        .tids = lists->tids,
        .tid_count = options->tids.count,
        .cpus = lists->cpus,
        .cpu_count = options->cpus.count,
        .comms = options->comms.items,
        .comm_count = options->comms.count,
        .sources = lists->sources,
        .source_count = options->sources.count,
        .objects = lists->objects,
        .object_count = options->objects.count,
    };
    return true;
}

void input_lists_free(struct input_lists *lists)
{
    free(lists->words);
    free(lists->programs);
    free(lists->replacements);
    free(lists->sources);
    free(lists->pids);
    free(lists->tids);
    free(lists->cpus);
    free(lists->objects);
}

/* ---- times ---- */

#define NANOSECONDS 9u

const char *input_lists_time_words(enum pug_capture_unit unit)
{
    return unit == PUG_CAPTURE_TICKS
               ? "ticks of the trace's timestamps: nothing tells how long these are, unless "
                 "--set timestamp_hz=N does"
               : "seconds.fraction, or nanoseconds";
}

bool input_lists_parse_time(const char *word, size_t length, enum pug_capture_unit unit,
                            uint64_t *time)
{
    char text[64];
    if (length == 0 || length >= sizeof(text))
        return false;
    memcpy(text, word, length);
    text[length] = 0;
    char *point = strchr(text, '.');
    if (!point)
        return parse_number(text, time);
    if (unit == PUG_CAPTURE_TICKS)
        return false;
    *point = 0;
    uint64_t fraction = 0;
    unsigned digits = 0;
    for (const char *at = point + 1; *at; at++) {
        if (!isdigit((unsigned char)*at))
            return false;
        if (digits++ < NANOSECONDS)
            fraction = fraction * 10 + (uint64_t)(*at - '0');
    }
    for (; digits < NANOSECONDS; digits++)
        fraction *= 10;
    if (*text ? !parse_number(text, time) || *time > UINT64_MAX / UINT64_C(1000000000) - 1
              : !(*time = 0, true))
        return false;
    *time = *time * UINT64_C(1000000000) + fraction;
    return true;
}

bool input_lists_one_time(const char *option, const char *words, enum pug_capture_unit unit,
                          uint64_t *time)
{
    const bool good = input_lists_parse_time(words, strlen(words), unit, time);
    if (!good)
        message_say("pugmark: %s %s: expected %s\n", option, words, input_lists_time_words(unit));
    return good;
}

bool input_lists_timestamp(const struct pug_capture *capture, const char *option, const char *words,
                           bool behind, uint64_t *timestamp)
{
    uint64_t time;
    if (!input_lists_one_time(option, words, pug_capture_times(capture).unit, &time))
        return false;
    *timestamp = UINT64_MAX;
    if (behind && time++ == UINT64_MAX)
        return true;
    if (pug_capture_timestamp(capture, time, timestamp))
        return true;
    message_say("pugmark: %s: the trace has no timestamps of such times\n", option);
    return false;
}

bool input_lists_time(struct input_lists *lists, const char *words, enum pug_capture_unit unit)
{
    struct pug_capture_selection *selection = &lists->selection;
    const char *comma = words ? strchr(words, ',') : NULL;
    if (!words)
        return true;
    const size_t first = comma ? (size_t)(comma - words) : strlen(words);
    const char *const rest = comma ? comma + 1 : "";
    selection->has_from = first > 0;
    selection->has_to = *rest != 0;
    const bool good =
        (!selection->has_from || input_lists_parse_time(words, first, unit, &selection->from)) &&
        (!selection->has_to || input_lists_parse_time(rest, strlen(rest), unit, &selection->to)) &&
        (selection->has_from || selection->has_to);
    if (!good)
        message_say("pugmark: --time %s: expected FROM,TO, one of which may be left out, in %s\n",
                    words, input_lists_time_words(unit));
    else if (unit == PUG_CAPTURE_NO_TIME)
        message_say("pugmark: --time: nothing in this input has a time\n");
    else if (selection->has_from && selection->has_to && selection->from >= selection->to)
        message_say("pugmark: --time %s: nothing is between these: TO is not behind FROM\n", words);
    else
        return true;
    return false;
}
