// SPDX-License-Identifier: MIT
#include "messages.h"

#include "base/text.h"
#include "common/said.h"
#include "common/terminal.h"
#include "help/explanations.h"
#include "text/sink.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most messages of one kind that are printed. */
#define LIKE_MOST 5u

/**
 * Behind the number that is at `at`: 0x and its digits, or hexadecimal digits with a decimal one
 * among them. `at`: there is none.
 */
static const char *behind_number(const char *at)
{
    const char *digits = strncmp(at, "0x", 2) == 0 ? at + 2 : at;
    const size_t size = strspn(digits, "0123456789abcdefABCDEF");
    return digits > at || strcspn(digits, "0123456789") < size ? digits + size : at;
}

/** Messages are alike that differ in numbers alone, and the same that do not. */
static uint64_t key_of(const struct pug_log_record *record, bool alike)
{
    uint64_t key =
        UINT64_C(0xcbf29ce484222325) ^ (uint64_t)record->code ^ (uint64_t)record->severity << 32;
    for (const char *at = record->text; *at;) {
        const char *behind = alike ? behind_number(at) : at;
        if (behind == at)
            key = (key ^ (unsigned char)*behind++) * UINT64_C(0x100000001b3);
        at = behind;
    }
    return key;
}

/**
 * How often the like of a message came before; of messages of too many kinds the last ones are
 * alike.
 */
static uint64_t count_like(struct messages *messages, const struct pug_log_record *record)
{
    const uint64_t key = key_of(record, true);
    size_t at = 0;
    while (at < messages->kind_count && messages->kinds[at].key != key)
        at++;
    if (at == MESSAGE_KINDS) {
        at--;
    } else if (at == messages->kind_count) {
        messages->kinds[at].key = key;
        messages->kinds[messages->kind_count++].count = 0;
    }
    return messages->kinds[at].count++;
}

bool messages_said(struct messages *messages, const struct pug_log_record *record)
{
    if (record->index != PUG_NO_INDEX || record->source != PUG_NO_SOURCE)
        return false;
    const uint64_t key = key_of(record, false);
    for (size_t i = 0; i < messages->said_count; i++)
        if (messages->said[i] == key)
            return true;
    if (messages->said_count < MESSAGE_KINDS)
        messages->said[messages->said_count++] = key;
    return false;
}

static void put_error(void *context, const void *bytes, size_t size)
{
    (void)context;
    (void)fwrite(bytes, 1, size, stderr);
}

/* The codes of printed messages, which `pugmark explain` has. */
static struct {
    const char *codes[MESSAGE_CODES];
    size_t count;
} explained;

/** Keeps the code of a message that was just said, unless nothing is to be done about it. */
static void note_code(const char *text)
{
    struct explanation explanation;
    if (explained.count == MESSAGE_CODES || !terminal_is(stderr) ||
        !explanation_match(text, &explanation) || !explanation_is_announced(&explanation))
        return;
    for (size_t i = 0; i < explained.count; i++)
        if (strcmp(explained.codes[i], explanation.code) == 0)
            return;
    explained.codes[explained.count++] = explanation.code;
}

void messages_more(void)
{
    const size_t count = explained.count;
    explained.count = MESSAGE_CODES; /* these lines are explained by nothing */
    for (size_t i = 0; i < count; i++)
        message_say("pugmark: more: pugmark explain %s\n", explained.codes[i]);
}

void message_say(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    char *whole = length >= (int)sizeof(line) ? malloc((size_t)length + 1) : NULL;
    if (whole) {
        va_start(arguments, format);
        length = vsnprintf(whole, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    char *text = whole && length >= 0 ? whole : line; /* else what there is room for */
    const size_t size = strlen(text);
    const bool ended = size > 0 && text[size - 1] == '\n';
    if (ended)
        text[size - 1] = 0;
    note_code(text);
    pug_sink_printable(&(struct pug_sink){.put = put_error}, text);
    if (ended)
        put_error(NULL, "\n", 1);
    free(whole);
}

/** Print the place in the trace, what is wrong, and with what. */
static void print_record(const struct pug_log_record *record, bool quiet)
{
    char words[8192];
    struct pug_text text = PUG_TEXT(words, sizeof(words));
    static const char *const severities[] = {[PUG_SEV_NONE] = "",
                                             [PUG_SEV_ERROR] = "error: ",
                                             [PUG_SEV_WARN] = "warning: ",
                                             [PUG_SEV_INFO] = ""};
    const bool coded = record->code != PUG_OK;
    pug_text_put(&text, severities[record->severity]);
    if (record->source != PUG_NO_SOURCE)
        pug_text_format(&text, "source 0x%02x%s", record->source,
                        record->index != PUG_NO_INDEX ? ", " : ": ");
    if (record->index != PUG_NO_INDEX)
        pug_text_format(&text, "offset %" PRIu64 ": ", record->index);
    const size_t length = strlen(record->text);
    const bool ended = length > 0 && record->text[length - 1] == '\n';
    pug_text_put(&text, coded ? pug_status_text(record->code) : "");
    pug_text_put(&text, coded && length > 0 ? ": " : "");
    pug_text_put_n(&text, record->text, length - ended);
    pug_text_end(&text);
    if (record->severity == PUG_SEV_ERROR || record->severity == PUG_SEV_WARN)
        said(SAID_WRONG, "%s", words);
    if (!quiet)
        message_say("pugmark: %s\n", words);
}

void messages_take(struct messages *messages, const struct pug_log_record *record, bool quiet,
                   bool again)
{
    pug_signs_take(&messages->signs, record);
    if (again || (quiet && !said_heard()) || messages_said(messages, record))
        return;
    if (count_like(messages, record) >= LIKE_MOST)
        messages->unprinted++;
    else
        print_record(record, quiet);
}

void messages_end(struct messages *messages, bool quiet)
{
    if (messages->unprinted > 0)
        said(SAID_WRONG, "and %" PRIu64 " more messages like these", messages->unprinted);
    if (messages->unprinted > 0 && !quiet)
        message_say("pugmark: and %" PRIu64 " more messages like these\n", messages->unprinted);
    messages->unprinted = 0;
    messages->kind_count = 0;
}

void messages_forget(struct messages *messages)
{
    messages->signs = (struct pug_signs){0};
}
