// SPDX-License-Identifier: MIT
/** @file Which format it is, and what the readers share. */
#include "waveform/internal.h"

#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pug_wave_progress(const struct pug_waveform *waveform, const struct wave_bytes *bytes,
                       uint64_t at)
{
    const uint64_t before = waveform->read_before * bytes->size;
    const unsigned reads = waveform->reads > 0 ? waveform->reads : 1;
    if (waveform->progress)
        waveform->progress(waveform->progress_context, before + at, reads * bytes->size);
}

int pug_wave_byte(struct wave_bytes *bytes)
{
    if (bytes->next < bytes->count)
        return bytes->block[bytes->next++];
    const uint64_t left = bytes->size - bytes->at;
    const size_t count = left < sizeof(bytes->block) ? (size_t)left : sizeof(bytes->block);
    if (count == 0 || bytes->failed)
        return -1;
    if (pug_infile_read(bytes->file, bytes->at, bytes->block, count) != PUG_OK) {
        bytes->failed = true;
        return -1;
    }
    pug_wave_progress(bytes->waveform, bytes, bytes->at);
    bytes->at += count;
    bytes->count = count;
    bytes->next = 1;
    return bytes->block[0];
}

void pug_wave_level(struct wave_edges *edges, uint64_t time, bool level)
{
    if (edges->stopped || (edges->begun && edges->level == level))
        return;
    edges->begun = true;
    edges->level = level;
    edges->stopped = !edges->edge(edges->context, time, level);
}

bool pug_wave_fail(struct pug_waveform *waveform, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(waveform->why, sizeof(waveform->why), format, arguments);
    va_end(arguments);
    return false;
}

bool pug_wave_line_add(struct wave_lines *lines, const struct pug_waveform *waveform,
                       const char *name)
{
    char number[16];
    const size_t length = strlen(lines->names);
    snprintf(number, sizeof(number), "%u", lines->count);
    const bool wanted =
        !waveform->line || strcmp(waveform->line, name) == 0 || strcmp(waveform->line, number) == 0;
    const bool first = wanted && !lines->found;
    snprintf(lines->names + length, sizeof(lines->names) - length, " %s", name);
    if (first) {
        lines->found = true;
        lines->chosen = lines->count;
    }
    lines->count++;
    return first;
}

bool pug_wave_line_known(const struct wave_lines *lines, struct pug_waveform *waveform)
{
    if (lines->count == 0)
        return pug_wave_fail(waveform, "there is no line in it");
    if (!lines->found)
        return pug_wave_fail(waveform, "no line '%.30s' in it; there are%s", waveform->line,
                             lines->names);
    if (!waveform->line && lines->count > 1)
        return pug_wave_fail(waveform, "there are several lines (--line chooses one):%s",
                             lines->names);
    return true;
}

bool pug_wave_hertz(const char *text, double *hertz)
{
    char *end;
    double value = strtod(text, &end);
    while (*end == ' ')
        end++;
    if (*end == 'k' || *end == 'K')
        value *= 1e3;
    else if (*end == 'M')
        value *= 1e6;
    else if (*end == 'G')
        value *= 1e9;
    if (end == text || !(value >= 1 && value <= 1e15))
        return false;
    *hertz = value;
    return true;
}

static bool read_format(struct pug_waveform *waveform, struct wave_bytes *bytes,
                        struct wave_edges *edges)
{
    const int first = pug_wave_byte(bytes);
    const bool zip = first == 'P' && bytes->count > 1 && bytes->block[1] == 'K';
    bytes->next = 0;
    if (first < 0)
        return bytes->failed || pug_wave_fail(waveform, "it is empty");
    if (zip)
        return pug_wave_read_sigrok(waveform, bytes, edges);
    return first == '$' ? pug_wave_read_vcd(waveform, bytes, edges)
                        : pug_wave_read_csv(waveform, bytes, edges);
}

bool pug_waveform_read(struct pug_waveform *waveform, pug_edge_fn *edge, void *context)
{
    struct wave_edges edges = {.edge = edge, .context = context};
    struct wave_bytes *bytes = calloc(1, sizeof(*bytes));
    if (!bytes)
        return pug_wave_fail(waveform, "%s", strerror(ENOMEM));
    bytes->waveform = waveform;
    bool good = pug_infile_open(waveform->path, &bytes->file) == PUG_OK;
    if (good) {
        bytes->size = pug_infile_size(bytes->file);
        good = read_format(waveform, bytes, &edges);
        if (bytes->failed)
            good = pug_wave_fail(waveform, "it cannot be read: %s", strerror(errno));
        pug_infile_close(bytes->file);
    } else {
        pug_wave_fail(waveform, "%s", strerror(errno));
    }
    free(bytes);
    return good;
}
