// SPDX-License-Identifier: MIT
/** @file Descriptions of kernels, read. */
#include "rtos/kernel.h"

#include <stdlib.h>
#include <string.h>

/* The form of a line's words. */
enum shape { NAME, LIST, CHOICES, PREFIX, VALUES };

static const struct {
    const char *word;
    enum shape shape;
    size_t offset;
} lines[] = {
    {"kernel", NAME, offsetof(struct rtos_kernel, name)},
    {"if", LIST, offsetof(struct rtos_kernel, symbols)},
    {"current", CHOICES, offsetof(struct rtos_kernel, current)},
    {"type", CHOICES, offsetof(struct rtos_kernel, types)},
    {"name", CHOICES, offsetof(struct rtos_kernel, names)},
    {"object", PREFIX, offsetof(struct rtos_kernel, object)},
    {"none", VALUES, 0},
    {"switch", LIST, offsetof(struct rtos_kernel, switches)},
    {"idle", LIST, offsetof(struct rtos_kernel, idle)},
    {"ready", CHOICES, offsetof(struct rtos_kernel, ready)},
};

struct reading {
    struct rtos_kernel *kernel;
    struct rtos_mistake *mistake;
    char *line; /* the one that is read */
    unsigned number;
};

static bool refuse(struct reading *reading, const char *at, const char *message)
{
    *reading->mistake = (struct rtos_mistake){.line = reading->number > 0 ? reading->number : 1,
                                              .column = (unsigned)(at - reading->line) + 1,
                                              .message = message};
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static char *skip_blanks(char *at)
{
    while (is_blank(*at))
        at++;
    return at;
}

/** The word at a place, which is ended there; what follows it. */
static char *end_word(char *at)
{
    while (*at && !is_blank(*at))
        at++;
    if (*at)
        *at++ = 0;
    return skip_blanks(at);
}

static bool take_list(struct reading *reading, struct rtos_words *words, char *at)
{
    while (*at) {
        if (words->count == RTOS_WORDS)
            return refuse(reading, at, "there are too many words: 32 are the most");
        words->at[words->count++] = at;
        at = end_word(at);
    }
    return true;
}

/** The text between bars, without the blanks around it. */
static bool take_choices(struct reading *reading, struct rtos_words *words, char *at)
{
    for (;;) {
        char *const begin = skip_blanks(at);
        char *end = begin + strcspn(begin, "|");
        const bool more = *end == '|';
        at = end + 1;
        while (end > begin && is_blank(end[-1]))
            end--;
        if (end == begin)
            return refuse(reading, begin, "expected something before and after each '|'");
        if (words->count == RTOS_WORDS)
            return refuse(reading, begin, "there are too many choices: 32 are the most");
        *end = 0;
        words->at[words->count++] = begin;
        if (!more)
            return true;
    }
}

static bool take_values(struct reading *reading, char *at)
{
    struct rtos_kernel *kernel = reading->kernel;
    while (*at) {
        char *const word = at;
        char *end;
        at = end_word(at);
        const unsigned long long value = strtoull(word, &end, 0);
        if (*end || end == word)
            return refuse(reading, word, "expected numbers, as 0 or 0xffffffff");
        if (kernel->none_count == RTOS_NONES)
            return refuse(reading, word, "there are too many values: 8 are the most");
        kernel->none[kernel->none_count++] = value;
    }
    return true;
}

static bool take_one(struct reading *reading, const char **out, char *at)
{
    if (*out)
        return refuse(reading, at, "this was said before");
    *out = at;
    at = end_word(at);
    return !*at || refuse(reading, at, "expected one word alone");
}

static bool take_line(struct reading *reading)
{
    static const char unknown[] =
        "expected kernel, if, current, type, name, object, none, switch, idle or ready";
    char *const word = skip_blanks(reading->line);
    char *const rest = end_word(word);
    if (!*word)
        return true;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        void *const out = (char *)reading->kernel + lines[i].offset;
        if (strcmp(word, lines[i].word) != 0)
            continue;
        if (!reading->kernel->name && lines[i].shape != NAME)
            return refuse(reading, word, "expected \"kernel NAME\" first");
        if (!*rest)
            return refuse(reading, rest, "expected something after this word");
        switch (lines[i].shape) {
        case NAME:
        case PREFIX: return take_one(reading, out, rest);
        case LIST: return take_list(reading, out, rest);
        case CHOICES: return take_choices(reading, out, rest);
        case VALUES: return take_values(reading, rest);
        }
    }
    return refuse(reading, word, unknown);
}

/** Comments begin with '#', at the beginning of a line or after a blank. */
static void cut_comment(char *line)
{
    for (char *at = line; *at; at++)
        if (*at == '#' && (at == line || is_blank(at[-1]))) {
            *at = 0;
            return;
        }
}

static bool take_text(struct reading *reading)
{
    char *at = reading->kernel->text;
    while (*at) {
        reading->line = at;
        reading->number++;
        at += strcspn(at, "\n");
        if (*at)
            *at++ = 0;
        cut_comment(reading->line);
        if (!take_line(reading))
            return false;
    }
    reading->line = at;
    if (!reading->kernel->name)
        return refuse(reading, at, "expected \"kernel NAME\"");
    if (reading->kernel->symbols.count == 0)
        return refuse(reading, at, "expected a line \"if\": symbols that such a program has");
    if (reading->kernel->current.count == 0)
        return refuse(reading, at, "expected a line \"current\": the object that says who runs");
    return true;
}

enum pug_status pug_rtos_kernel_read(const char *text, size_t size, struct rtos_kernel **out,
                                     struct rtos_mistake *mistake)
{
    *mistake = (struct rtos_mistake){1, 1, "this is too long for a description of a kernel"};
    *out = NULL;
    if (size > RTOS_TEXT_LIMIT)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct rtos_kernel *kernel = calloc(1, sizeof(*kernel));
    char *copy = malloc(size + 1);
    if (!kernel || !copy) {
        free(kernel);
        free(copy);
        return PUG_ERR_MEM;
    }
    memcpy(copy, text, size);
    copy[size] = 0; /* nothing after a NUL is read */
    kernel->text = copy;
    struct reading reading = {.kernel = kernel, .mistake = mistake};
    if (!take_text(&reading)) {
        pug_rtos_kernel_free(kernel);
        return PUG_ERR_INVALID_PARAM_VAL;
    }
    *out = kernel;
    return PUG_OK;
}

void pug_rtos_kernel_free(struct rtos_kernel *kernel)
{
    if (!kernel)
        return;
    free(kernel->text);
    free(kernel);
}

bool pug_rtos_offset_read(const char *word, struct rtos_offset *offset)
{
    const char *plus = strchr(word, '+');
    char *end;
    const size_t length = plus ? (size_t)(plus - word) : 0;
    *offset = (struct rtos_offset){.size = 0};
    if (!plus || length >= sizeof(offset->symbol))
        return false;
    memcpy(offset->symbol, word, length);
    offset->offset = strtoull(plus + 1, &end, 0);
    if (end == plus + 1 || *end != ':')
        return false;
    if (length == 0) {
        offset->is_pointer = strcmp(end + 1, "pointer") == 0;
        return offset->is_pointer || strcmp(end + 1, "string") == 0;
    }
    const char *const size = end + 1;
    offset->size = strtoull(size, &end, 0);
    return end != size && !*end && offset->size > 0 && offset->size <= 8;
}
