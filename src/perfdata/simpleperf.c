// SPDX-License-Identifier: MIT
/** @file simpleperf's own features (section 16). */
#include "perfdata/perfdata.h"
#include "perfdata/protobuf.h"

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

/* ---- files ---- */

/** What the recorder says of a DSO, for where there is no file of it; false: it is damaged. */
static bool take_file_message(struct pug_perf *perf, struct pug_bytes message)
{
    struct pug_perf_file_fact fact = {.path = ""};
    struct pug_field field;
    while (pug_field_take(&message, &field)) {
        switch (field.number) {
        case 1:
            if (field.body.at)
                fact.path = keep_text(perf, &field.body);
            break;
        case 3: fact.min_vaddr = field.value; break;
        case 6: fact.offset = pug_field_first(field.body); break;
        case 7:
            fact.offset = pug_field_first(field.body);
            fact.in_memory = true;
            break;
        default: break;
        }
    }
    struct pug_perf_file_fact *kept =
        *fact.path ? pug_list_add(&perf->file_facts, sizeof(*kept)) : NULL;
    if (kept)
        *kept = fact;
    return !message.bad;
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

/* ---- words ---- */

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
