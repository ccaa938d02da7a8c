// SPDX-License-Identifier: MIT
/**
 * @file sigrok's .sr, version 2: a zip with `metadata` and the samples, `logic-1-1`, `logic-1-2` …
 * or all in `logic-1`. It is read by libzip, which is loaded when the first one is opened; the few
 * prototypes, which are the same in all versions, are declared here.
 */
#include "waveform/internal.h"

#ifdef PUG_WITH_ZIP

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define METADATA 65536u

/** No zip's members are together larger than so many times the zip, but if they overlap. */
#define MOST_EXPANSION 1100u

struct libzip {
    void *library;
    void *(*fdopen)(int descriptor, int flags, int *error);
    void *(*fopen)(void *zip, const char *name, uint32_t flags);
    int64_t (*fread)(void *member, void *bytes, uint64_t size);
    int (*fclose)(void *member);
    void (*discard)(void *zip);
};

static bool load(struct libzip *zip)
{
    static const char *const names[] = {"libzip.so.5", "libzip.so.4", "libzip.so"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !zip->library; i++)
        zip->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!zip->library)
        return false;
    *(void **)&zip->fdopen = dlsym(zip->library, "zip_fdopen");
    *(void **)&zip->fopen = dlsym(zip->library, "zip_fopen");
    *(void **)&zip->fread = dlsym(zip->library, "zip_fread");
    *(void **)&zip->fclose = dlsym(zip->library, "zip_fclose");
    *(void **)&zip->discard = dlsym(zip->library, "zip_discard");
    return zip->fdopen && zip->fopen && zip->fread && zip->fclose && zip->discard;
}

struct sigrok {
    struct pug_waveform *waveform;
    struct wave_edges *edges;
    struct libzip zip;
    void *archive;
    const struct wave_bytes *bytes;
    struct wave_lines lines;
    char capturefile[64];
    unsigned unitsize, bit;
    uint64_t time, most; /* samples read, and bytes that may come at most */
    size_t held;         /* bytes of a sample that was cut */
    uint8_t block[1 << 15];
};

/* ---- metadata ---- */

/** A line of [device 1]: NAME=VALUE. */
static void take_setting(struct sigrok *sigrok, const char *name, const char *value)
{
    unsigned probe, end = 0;
    if (strcmp(name, "capturefile") == 0)
        snprintf(sigrok->capturefile, sizeof(sigrok->capturefile), "%.50s", value);
    else if (strcmp(name, "samplerate") == 0)
        (void)pug_wave_hertz(value, &sigrok->waveform->hertz);
    else if (strcmp(name, "unitsize") == 0)
        sigrok->unitsize = (unsigned)strtoul(value, NULL, 10);
    else if (sscanf(name, "probe%u%n", &probe, &end) == 1 && name[end] == 0 && probe > 0 &&
             pug_wave_line_add(&sigrok->lines, sigrok->waveform, value))
        sigrok->bit = probe - 1;
}

static void take_metadata(struct sigrok *sigrok, char *text)
{
    char *rest = text;
    bool device = false;
    for (char *line; (line = strtok_r(rest, "\r\n", &rest)) != NULL;) {
        char *equals = strchr(line, '=');
        if (line[0] == '[')
            device = strcmp(line, "[device 1]") == 0;
        if (!device || !equals)
            continue;
        *equals = 0;
        take_setting(sigrok, line, equals + 1);
    }
}

static bool read_metadata(struct sigrok *sigrok)
{
    void *member = sigrok->zip.fopen(sigrok->archive, "metadata", 0);
    char *text = calloc(1, METADATA + 1);
    const int64_t size = member && text ? sigrok->zip.fread(member, text, METADATA) : -1;
    if (size >= 0)
        take_metadata(sigrok, text);
    if (member)
        sigrok->zip.fclose(member);
    free(text);
    if (size < 0 || !sigrok->capturefile[0])
        return pug_wave_fail(sigrok->waveform,
                             "this zip is no session of sigrok's: its metadata names "
                             "no capturefile");
    if (sigrok->unitsize == 0 || sigrok->unitsize > 64)
        return pug_wave_fail(sigrok->waveform, "its metadata has no unitsize of 1 to 64");
    if (!pug_wave_line_known(&sigrok->lines, sigrok->waveform))
        return false;
    if (sigrok->bit >= 8 * sigrok->unitsize)
        return pug_wave_fail(sigrok->waveform, "a sample has no bit for this line");
    return sigrok->waveform->hertz > 0 ||
           pug_wave_fail(sigrok->waveform, "it does not say its sample rate: --samplerate does");
}

/* ---- samples ---- */

static void take_samples(struct sigrok *sigrok, const uint8_t *bytes, size_t size)
{
    const size_t place = sigrok->bit / 8;
    for (size_t i = 0; i + sigrok->unitsize <= size && !sigrok->edges->stopped;
         i += sigrok->unitsize)
        pug_wave_level(sigrok->edges, sigrok->time++, bytes[i + place] >> sigrok->bit % 8 & 1);
}

/** libzip reads members in their order, by a descriptor that has its place in common with ours. */
static void report(const struct sigrok *sigrok)
{
    const off_t at = lseek(pug_infile_descriptor(sigrok->bytes->file), 0, SEEK_CUR);
    if (at >= 0)
        pug_wave_progress(sigrok->waveform, sigrok->bytes, (uint64_t)at);
}

/** All of a member; *there: there is one of that name. */
static bool read_member(struct sigrok *sigrok, const char *name, bool *there)
{
    void *member = sigrok->zip.fopen(sigrok->archive, name, 0);
    int64_t got = 1;
    *there = member != NULL;
    while (member && got > 0 && !sigrok->edges->stopped) {
        uint8_t *block = sigrok->block;
        got = sigrok->zip.fread(member, block + sigrok->held, sizeof(sigrok->block) - sigrok->held);
        if (got < 0 || (uint64_t)got > sigrok->most) {
            sigrok->zip.fclose(member);
            return pug_wave_fail(sigrok->waveform, "%s in it is damaged", name);
        }
        sigrok->most -= (uint64_t)got;
        report(sigrok);
        const size_t size = sigrok->held + (size_t)got;
        take_samples(sigrok, block, size);
        sigrok->held = size % sigrok->unitsize;
        memmove(block, block + size - sigrok->held, sigrok->held);
    }
    if (member)
        sigrok->zip.fclose(member);
    return true;
}

static bool read_samples(struct sigrok *sigrok)
{
    char name[80];
    bool there;
    if (!read_member(sigrok, sigrok->capturefile, &there))
        return false;
    bool any = there;
    for (unsigned n = 1; (there || n == 1) && !sigrok->edges->stopped; n++) {
        snprintf(name, sizeof(name), "%s-%u", sigrok->capturefile, n);
        if (!read_member(sigrok, name, &there))
            return false;
        any |= there;
    }
    sigrok->waveform->end = sigrok->time;
    return any || pug_wave_fail(sigrok->waveform, "it has no samples: %s-1", sigrok->capturefile);
}

static bool read_session(struct sigrok *sigrok, const struct wave_bytes *bytes)
{
    const int descriptor = dup(pug_infile_descriptor(bytes->file));
    int error = 0;
    if (descriptor >= 0)
        sigrok->archive = sigrok->zip.fdopen(descriptor, 0, &error);
    if (!sigrok->archive && descriptor >= 0)
        close(descriptor);
    if (!sigrok->archive)
        return pug_wave_fail(sigrok->waveform, "the zip is damaged");
    sigrok->most = (bytes->size + 1024) * MOST_EXPANSION;
    const bool good = read_metadata(sigrok) && read_samples(sigrok);
    sigrok->zip.discard(sigrok->archive);
    return good;
}

bool pug_wave_read_sigrok(struct pug_waveform *waveform, struct wave_bytes *bytes,
                          struct wave_edges *edges)
{
    struct sigrok sigrok = {.waveform = waveform, .edges = edges, .bytes = bytes, .unitsize = 1};
    const bool good =
        load(&sigrok.zip)
            ? read_session(&sigrok, bytes)
            : pug_wave_fail(waveform, "it is a zip, and libzip is not on this machine");
    if (sigrok.zip.library)
        dlclose(sigrok.zip.library);
    return good;
}

#else

bool pug_wave_read_sigrok(struct pug_waveform *waveform, struct wave_bytes *bytes,
                          struct wave_edges *edges)
{
    (void)bytes;
    (void)edges;
    return pug_wave_fail(waveform,
                         "it is a zip, which this build cannot read (PUG_ZIP); sigrok-cli -O "
                         "vcd makes a VCD of it");
}

#endif
