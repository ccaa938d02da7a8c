// SPDX-License-Identifier: MIT
/** @file Features (section 3): what the file says of the machine, and build ids. */
#include "perfdata/perfdata.h"

#include <stdio.h>
#include <string.h>

enum {
    FEATURE_BUILD_ID = 2,
    FEATURE_HOSTNAME = 3,
    FEATURE_OSRELEASE = 4,
    FEATURE_VERSION = 5,
    FEATURE_ARCH = 6,
    FEATURE_NRCPUS = 7,
    FEATURE_CPUDESC = 8,
    FEATURE_CPUID = 9,
    FEATURE_TOTAL_MEM = 10,
    FEATURE_CMDLINE = 11,
    FEATURE_AUXTRACE = 18,
    FEATURE_SAMPLE_TIME = 21,
    FEATURE_SIMPLEPERF = 128,
};

/* ---- build ids ---- */

#define MISC_HAS_SIZE  (1u << 15)
#define ID_WORD        20u
#define ENTRY_HEAD     8u
#define BODY_LEAST     28u /* pid, id, its size */
#define MISC_MODE_BITS 7u

bool pug_perf_take_build_id(struct pug_perf *perf, uint16_t misc, const uint8_t *body, size_t size)
{
    char path[4096];
    if (size <= BODY_LEAST || (misc & MISC_HAS_SIZE && body[4 + ID_WORD] > ID_WORD))
        return false;
    const size_t id_size = misc & MISC_HAS_SIZE ? body[4 + ID_WORD] : ID_WORD;
    size_t length = strnlen((const char *)body + BODY_LEAST, size - BODY_LEAST);
    if (length >= sizeof(path))
        length = sizeof(path) - 1;
    memcpy(path, body + BODY_LEAST, length);
    path[length] = 0;
    pug_perf_tell_build_id(perf, path, body + 4, id_size, misc, (int32_t)pug_bytes_32(body));
    return true;
}

static void take_build_ids(struct pug_perf *perf, struct pug_bytes *bytes)
{
    while (pug_bytes_left(bytes) >= ENTRY_HEAD) {
        const uint16_t misc = pug_bytes_16(bytes->at + 4), size = pug_bytes_16(bytes->at + 6);
        const uint8_t *entry = size < ENTRY_HEAD ? NULL : pug_bytes_take(bytes, size);
        if (!entry) {
            pug_perf_damage_feature(perf, FEATURE_BUILD_ID, "an entry has no possible size");
            return;
        }
        if (!pug_perf_take_build_id(perf, misc, entry + ENTRY_HEAD, size - ENTRY_HEAD))
            pug_perf_damage_feature(perf, FEATURE_BUILD_ID, "an entry holds no build id");
    }
}

/* ---- words ---- */

static size_t take_string(struct pug_bytes *bytes, char *text, size_t room)
{
    const uint32_t size = pug_bytes_take_32(bytes);
    const uint8_t *at = pug_bytes_take(bytes, size);
    size_t length = at ? strnlen((const char *)at, size) : 0;
    if (length >= room)
        length = room - 1;
    if (at)
        memcpy(text, at, length);
    text[length] = 0;
    return length;
}

static void take_word(struct pug_perf *perf, const char *name, struct pug_bytes *bytes)
{
    char text[1024];
    if (take_string(bytes, text, sizeof(text)) > 0)
        pug_capture_add_fact(perf->capture, name, "%s", text);
}

static void take_release(struct pug_perf *perf, struct pug_bytes *bytes)
{
    char text[256];
    if (take_string(bytes, text, sizeof(text)) == 0)
        return;
    perf->release = pug_capture_keep(perf->capture, text, sizeof(text));
    pug_capture_add_fact(perf->capture, "kernel", "%s", text);
}

static void take_command(struct pug_perf *perf, struct pug_bytes *bytes)
{
    char text[1024] = "", word[512];
    const uint32_t count = pug_bytes_take_32(bytes);
    for (uint32_t i = 0; i < count && !bytes->bad; i++) {
        take_string(bytes, word, sizeof(word));
        strncat(text, i > 0 ? " " : "", sizeof(text) - strlen(text) - 1);
        strncat(text, word, sizeof(text) - strlen(text) - 1);
    }
    if (*text)
        pug_capture_add_fact(perf->capture, "command", "%s", text);
}

static void take_processors(struct pug_perf *perf, struct pug_bytes *bytes)
{
    const uint32_t all = pug_bytes_take_32(bytes), online = pug_bytes_take_32(bytes);
    if (!bytes->bad)
        pug_capture_add_fact(perf->capture, "processors", "%u of %u online", online, all);
}

static void take_memory(struct pug_perf *perf, struct pug_bytes *bytes)
{
    const uint64_t size = pug_bytes_take_64(bytes);
    if (!bytes->bad)
        pug_capture_add_fact(perf->capture, "memory", "%llu kB", (unsigned long long)size);
}

void pug_perf_take_feature(struct pug_perf *perf, uint64_t bit, const uint8_t *content, size_t size)
{
    struct pug_bytes bytes = pug_bytes_of(content, size);
    switch (bit) {
    case FEATURE_BUILD_ID: take_build_ids(perf, &bytes); break;
    case FEATURE_HOSTNAME: take_word(perf, "host", &bytes); break;
    case FEATURE_OSRELEASE: take_release(perf, &bytes); break;
    case FEATURE_VERSION: take_word(perf, "recorder", &bytes); break;
    case FEATURE_ARCH: take_word(perf, "arch", &bytes); break;
    case FEATURE_CPUDESC: take_word(perf, "processor", &bytes); break;
    case FEATURE_CPUID: take_word(perf, "cpuid", &bytes); break;
    case FEATURE_CMDLINE: take_command(perf, &bytes); break;
    case FEATURE_NRCPUS: take_processors(perf, &bytes); break;
    case FEATURE_TOTAL_MEM: take_memory(perf, &bytes); break;
    case FEATURE_AUXTRACE: pug_perf_take_index(perf, bytes.at, pug_bytes_left(&bytes)); break;
    case FEATURE_SAMPLE_TIME:
        perf->first_sample = pug_bytes_take_64(&bytes);
        perf->last_sample = pug_bytes_take_64(&bytes);
        break;
    default:
        if (bit >= FEATURE_SIMPLEPERF)
            pug_perf_take_simpleperf(perf, bit, content, size);
    }
    if (bytes.bad)
        pug_perf_damage_feature(perf, bit, "it is too short");
}
