// SPDX-License-Identifier: MIT
/** @file Value change dumps: words between blanks. */
#include "waveform/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct vcd {
    struct pug_waveform *waveform;
    struct wave_bytes *bytes;
    struct wave_edges *edges;
    struct wave_lines lines;
    char word[128];
    char id[64]; /* of the wanted line */
    uint64_t time;
};

/** The next word, cut where it is too long; false: there is none. */
static bool next_word(struct vcd *vcd)
{
    size_t length = 0;
    int byte = pug_wave_byte(vcd->bytes);
    while (byte >= 0 && byte <= ' ')
        byte = pug_wave_byte(vcd->bytes);
    for (; byte > ' '; byte = pug_wave_byte(vcd->bytes))
        if (length < sizeof(vcd->word) - 1)
            vcd->word[length++] = (char)byte;
    vcd->word[length] = 0;
    return length > 0;
}

static bool is_end(const struct vcd *vcd)
{
    return strcmp(vcd->word, "$end") == 0;
}

static void skip_to_end(struct vcd *vcd)
{
    while (!is_end(vcd) && next_word(vcd))
        continue;
}

/** `$timescale 100 ps $end`, in one word or two. */
static bool take_timescale(struct vcd *vcd)
{
    static const struct {
        const char *unit;
        double hertz;
    } units[] = {{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}, {"ps", 1e12}, {"fs", 1e15}};
    char *unit;
    if (!next_word(vcd))
        return false;
    const unsigned long count = strtoul(vcd->word, &unit, 10);
    if (count == 0 || count > 1000 || (*unit == 0 && !next_word(vcd)))
        return false;
    if (*unit == 0)
        unit = vcd->word;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(unit, units[i].unit) == 0) {
            vcd->waveform->hertz = units[i].hertz / (double)count;
            skip_to_end(vcd);
            return true;
        }
    return false;
}

/** `$var wire 1 ! NAME $end`. */
static void take_variable(struct vcd *vcd)
{
    char width[128], id[128];
    if (!next_word(vcd) || is_end(vcd) || !next_word(vcd) || is_end(vcd))
        return;
    memcpy(width, vcd->word, strlen(vcd->word) + 1);
    if (!next_word(vcd) || is_end(vcd))
        return;
    memcpy(id, vcd->word, strlen(vcd->word) + 1);
    if (!next_word(vcd) || is_end(vcd))
        return;
    if (strcmp(width, "1") == 0 && strlen(id) < sizeof(vcd->id) &&
        pug_wave_line_add(&vcd->lines, vcd->waveform, vcd->word))
        memcpy(vcd->id, id, strlen(id) + 1);
    skip_to_end(vcd);
}

static bool take_header(struct vcd *vcd)
{
    while (next_word(vcd)) {
        if (strcmp(vcd->word, "$enddefinitions") == 0) {
            skip_to_end(vcd);
            return true;
        }
        if (strcmp(vcd->word, "$timescale") == 0) {
            if (!take_timescale(vcd))
                return pug_wave_fail(vcd->waveform, "its $timescale makes no sense");
        } else if (strcmp(vcd->word, "$var") == 0) {
            take_variable(vcd);
        } else {
            skip_to_end(vcd);
        }
    }
    return pug_wave_fail(vcd->waveform, "it ends before $enddefinitions: is it whole?");
}

/** A time, or a value of one bit; others are of no interest. */
static bool take_change(struct vcd *vcd)
{
    char *end;
    const char first = vcd->word[0];
    if (first == '#') {
        errno = 0;
        const uint64_t time = strtoull(vcd->word + 1, &end, 10);
        if (errno || *end || end == vcd->word + 1 || time < vcd->time)
            return pug_wave_fail(vcd->waveform, "'%.40s' is no time behind %llu", vcd->word,
                                 (unsigned long long)vcd->time);
        vcd->time = time;
    } else if (first == 'b' || first == 'B' || first == 'r' || first == 'R') {
        (void)next_word(vcd);
    } else if (strcmp(vcd->word, "$comment") == 0) {
        skip_to_end(vcd);
    } else if ((first == '0' || first == '1') && strcmp(vcd->word + 1, vcd->id) == 0) {
        pug_wave_level(vcd->edges, vcd->time, first == '1');
    }
    return true;
}

bool pug_wave_read_vcd(struct pug_waveform *waveform, struct wave_bytes *bytes,
                       struct wave_edges *edges)
{
    struct vcd vcd = {.waveform = waveform, .bytes = bytes, .edges = edges};
    waveform->hertz = 0;
    if (!take_header(&vcd) || !pug_wave_line_known(&vcd.lines, waveform))
        return false;
    if (!(waveform->hertz > 0))
        return pug_wave_fail(waveform, "it has no $timescale");
    while (!edges->stopped && next_word(&vcd))
        if (!take_change(&vcd))
            return false;
    waveform->end = vcd.time;
    return true;
}
