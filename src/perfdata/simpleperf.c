// SPDX-License-Identifier: MIT
/** @file simpleperf's own features (section 16). */
#include "perfdata/perfdata.h"
#include "perfdata/protobuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEATURE_FILE = 128,
    FEATURE_META_INFO = 129,
    FEATURE_FILE2 = 132,
    FEATURE_BRANCH_LIST = 133,
    FEATURE_INIT_MAP = 134,
};

static const char *keep_text(struct pug_perf *perf, const struct pug_bytes *body)
{
    return pug_capture_keep(perf->capture, (const char *)body->at, pug_bytes_left(body));
}

static const char *take_text(struct pug_bytes *bytes)
{
    const size_t left = pug_bytes_left(bytes);
    const char *text = (const char *)bytes->at;
    const size_t length = strnlen(text, left);
    if (length == left) {
        bytes->bad = true;
        return NULL;
    }
    (void)pug_bytes_take(bytes, length + 1);
    return text;
}

/* ---- files ---- */

/* Symbols of one file that are kept. */
#define SYMBOLS_MOST ((size_t)64 << 20)

/** A line for each symbol, as the maps of JIT compilers have them. */
struct symbol_lines {
    char *text;
    size_t count, room;
    bool starved; /* there was no memory for more */
};

static void add_symbol(struct symbol_lines *lines, uint64_t vaddr, uint64_t size, const char *name,
                       size_t length)
{
    if (length > 4096 || length == 0 || lines->count + length + 64 > SYMBOLS_MOST)
        return;
    if (lines->room - lines->count < length + 64) {
        const size_t room = 2 * lines->room + length + 4096;
        char *text = realloc(lines->text, room);
        if (!text) {
            lines->starved = true;
            return;
        }
        lines->text = text;
        lines->room = room;
    }
    lines->count += (size_t)snprintf(lines->text + lines->count, 64, "%llx %llx ",
                                     (unsigned long long)vaddr, (unsigned long long)size);
    for (size_t i = 0; i < length; i++)
        lines->text[lines->count++] = name[i] == '\n' || name[i] == 0 ? ' ' : name[i];
    lines->text[lines->count++] = '\n';
}

static const char *keep_symbols(struct pug_perf *perf, struct symbol_lines *lines)
{
    const char *kept =
        lines->count > 0 ? pug_capture_keep(perf->capture, lines->text, lines->count) : NULL;
    if (lines->starved)
        pug_capture_starve(perf->capture);
    free(lines->text);
    return kept;
}

static void keep_fact(struct pug_perf *perf, const struct pug_perf_file_fact *fact)
{
    struct pug_perf_file_fact *kept =
        *fact->path ? pug_capture_add(perf->capture, &perf->file_facts, sizeof(*kept)) : NULL;
    if (kept)
        *kept = *fact;
}

/** One symbol of a file; false: it is damaged. */
static bool take_symbol_message(struct symbol_lines *lines, struct pug_bytes message)
{
    struct pug_bytes name = {0};
    struct pug_field field;
    uint64_t vaddr = 0, size = 0;
    while (pug_field_take(&message, &field)) {
        switch (field.number) {
        case 1: vaddr = field.value; break;
        case 2: size = field.value; break;
        case 3: name = field.body; break;
        default: break;
        }
    }
    if (name.at)
        add_symbol(lines, vaddr, size, (const char *)name.at, pug_bytes_left(&name));
    return !message.bad;
}

/** What the recorder says of a DSO, for where there is no file of it; false: it is damaged. */
static bool take_file_message(struct pug_perf *perf, struct pug_bytes message)
{
    struct pug_perf_file_fact fact = {.path = ""};
    struct symbol_lines lines = {0};
    struct pug_field field;
    bool good = true;
    while (pug_field_take(&message, &field)) {
        switch (field.number) {
        case 1:
            if (field.body.at)
                fact.path = keep_text(perf, &field.body);
            break;
        case 3: fact.min_vaddr = field.value; break;
        case 4: good &= take_symbol_message(&lines, field.body); break;
        case 6: fact.offset = pug_field_first(field.body); break;
        case 7:
            fact.offset = pug_field_first(field.body);
            fact.in_memory = true;
            break;
        default: break;
        }
    }
    fact.symbols = keep_symbols(perf, &lines);
    keep_fact(perf, &fact);
    return good && !message.bad;
}

static void take_files(struct pug_perf *perf, struct pug_bytes *bytes)
{
    while (pug_bytes_left(bytes) > 0) {
        const uint32_t size = pug_bytes_take_32(bytes);
        const uint8_t *message = pug_bytes_take(bytes, size);
        if (message && !take_file_message(perf, pug_bytes_of(message, size)))
            pug_perf_damage_feature(perf, FEATURE_FILE2, "what it says of a file cannot be read");
    }
}

/** The same, as older versions wrote it: no messages, and no offset of the lowest address. */
static bool take_plain_file(struct pug_perf *perf, struct pug_bytes file)
{
    struct pug_perf_file_fact fact = {.no_offset = true};
    struct symbol_lines lines = {0};
    const char *path = take_text(&file), *name;
    (void)pug_bytes_take_32(&file); /* what kind of file */
    fact.min_vaddr = pug_bytes_take_64(&file);
    uint32_t count = pug_bytes_take_32(&file);
    for (; count > 0 && !file.bad; count--) {
        const uint64_t vaddr = pug_bytes_take_64(&file);
        const uint32_t size = pug_bytes_take_32(&file);
        if ((name = take_text(&file)) != NULL)
            add_symbol(&lines, vaddr, size, name, strlen(name));
    }
    fact.path = path ? pug_capture_keep(perf->capture, path, SIZE_MAX) : "";
    fact.symbols = keep_symbols(perf, &lines);
    keep_fact(perf, &fact);
    return !file.bad;
}

static void take_plain_files(struct pug_perf *perf, struct pug_bytes *bytes)
{
    while (pug_bytes_left(bytes) > 0) {
        const uint32_t size = pug_bytes_take_32(bytes);
        const uint8_t *file = pug_bytes_take(bytes, size);
        if (file && !take_plain_file(perf, pug_bytes_of(file, size)))
            pug_perf_damage_feature(perf, FEATURE_FILE, "what it says of a file cannot be read");
    }
}

/* ---- words ---- */

static void take_meta(struct pug_perf *perf, struct pug_bytes *bytes)
{
    const char *name, *value;
    while (pug_bytes_left(bytes) > 0 && (name = take_text(bytes)) && (value = take_text(bytes))) {
        pug_capture_add_fact(perf->capture, pug_capture_keep(perf->capture, name, 64), "%s", value);
        perf->simpleperf |= strcmp(name, "simpleperf_version") == 0;
        if (strcmp(name, "kernel_version") == 0 && !perf->release)
            perf->release = pug_capture_keep(perf->capture, value, 256);
    }
}

void pug_perf_take_simpleperf(struct pug_perf *perf, uint64_t bit, const uint8_t *content,
                              size_t size)
{
    struct pug_bytes bytes = pug_bytes_of(content, size);
    switch (bit) {
    case FEATURE_META_INFO: take_meta(perf, &bytes); break;
    case FEATURE_FILE: take_plain_files(perf, &bytes); break;
    case FEATURE_FILE2: take_files(perf, &bytes); break;
    case FEATURE_BRANCH_LIST: pug_perf_take_branch_list(perf, content, size); break;
    case FEATURE_INIT_MAP:
        pug_perf_walk_whole(perf, perf->place.file, perf->place.offset, content, size);
        break;
    default: break;
    }
    if (bytes.bad)
        pug_perf_damage_feature(perf, bit, "it ends inside of what it tells");
}
