// SPDX-License-Identifier: MIT
/** @file simpleperf's own features (section 16). */
#include "perfdata/perfdata.h"

#include <string.h>

enum {
    FEATURE_FILE = 128,
    FEATURE_META_INFO = 129,
    FEATURE_FILE2 = 132,
    FEATURE_BRANCH_LIST = 133,
    FEATURE_INIT_MAP = 134,
};

/* ---- protobuf ---- */

struct field {
    uint32_t number;
    uint64_t value;        /* of a number */
    struct pug_bytes body; /* of bytes */
};

static uint64_t take_varint(struct pug_bytes *bytes)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t *at = pug_bytes_take(bytes, 1);
        if (!at)
            return 0;
        value |= (uint64_t)(*at & 0x7f) << shift;
        if (!(*at & 0x80))
            return value;
    }
    bytes->bad = true;
    return 0;
}

/** The next field of a message; false: there is none, or the message is damaged. */
static bool take_field(struct pug_bytes *bytes, struct field *field)
{
    if (pug_bytes_left(bytes) == 0)
        return false;
    const uint64_t key = take_varint(bytes);
    *field = (struct field){.number = (uint32_t)(key >> 3)};
    uint64_t size = 0;
    switch (key & 7) {
    case 0: field->value = take_varint(bytes); break;
    case 1: field->value = pug_bytes_take_64(bytes); break;
    case 2:
        size = take_varint(bytes);
        if (size > pug_bytes_left(bytes))
            bytes->bad = true;
        else
            field->body = pug_bytes_of(pug_bytes_take(bytes, (size_t)size), (size_t)size);
        break;
    case 5: field->value = pug_bytes_take_32(bytes); break;
    default: bytes->bad = true;
    }
    return !bytes->bad;
}

static const char *keep_text(struct pug_perf *perf, const struct pug_bytes *body)
{
    return pug_capture_keep(perf->capture, (const char *)body->at, pug_bytes_left(body));
}

static uint64_t first_number(struct pug_bytes body)
{
    struct field field;
    while (take_field(&body, &field))
        if (field.number == 1)
            return field.value;
    return 0;
}

/* ---- files ---- */

/** What the recorder says of a DSO, for where there is no file of it. */
static void take_file_message(struct pug_perf *perf, struct pug_bytes message)
{
    struct pug_perf_file_fact fact = {.path = ""};
    struct field field;
    while (take_field(&message, &field)) {
        switch (field.number) {
        case 1:
            if (field.body.at)
                fact.path = keep_text(perf, &field.body);
            break;
        case 3: fact.min_vaddr = field.value; break;
        case 6: fact.offset = first_number(field.body); break;
        case 7:
            fact.offset = first_number(field.body);
            fact.in_memory = true;
            break;
        default: break;
        }
    }
    struct pug_perf_file_fact *kept =
        *fact.path ? pug_list_add(&perf->file_facts, sizeof(*kept)) : NULL;
    if (kept)
        *kept = fact;
}

static void take_files(struct pug_perf *perf, struct pug_bytes *bytes)
{
    while (pug_bytes_left(bytes) > 0) {
        const uint32_t size = pug_bytes_take_32(bytes);
        const uint8_t *message = pug_bytes_take(bytes, size);
        if (message)
            take_file_message(perf, pug_bytes_of(message, size));
    }
}

/* ---- words ---- */

static const char *take_text(struct pug_bytes *bytes)
{
    const size_t left = pug_bytes_left(bytes);
    const char *text = (const char *)bytes->at;
    const size_t length = strnlen(text, left);
    if (length == left)
        return NULL;
    (void)pug_bytes_take(bytes, length + 1);
    return text;
}

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

/** Trace that was turned into branch lists on the device: there is nothing left to decode. */
static void tell_branch_list(struct pug_perf *perf, struct pug_bytes message)
{
    struct field field;
    unsigned programs = 0;
    while (take_field(&message, &field))
        programs += field.number == 2;
    pug_capture_add_fact(perf->capture, "branch lists", "of %u programs", programs);
    pug_capture_say(perf->capture, PUG_SEV_WARN, PUG_OK,
                    "%s: it holds branch lists of %u programs in place of trace; these are not "
                    "counted",
                    perf->capture->path, programs);
}

void pug_perf_take_simpleperf(struct pug_perf *perf, uint64_t bit, const uint8_t *content,
                              size_t size)
{
    struct pug_bytes bytes = pug_bytes_of(content, size);
    bool damaged = false;
    switch (bit) {
    case FEATURE_META_INFO: take_meta(perf, &bytes); break;
    case FEATURE_FILE2: take_files(perf, &bytes); break;
    case FEATURE_BRANCH_LIST: tell_branch_list(perf, bytes); break;
    case FEATURE_INIT_MAP: pug_perf_walk_memory(perf, 0, 0, content, size, &damaged); break;
    default: break;
    }
}
