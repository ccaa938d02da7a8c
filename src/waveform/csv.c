// SPDX-License-Identifier: MIT
/**
 * @file Comma-separated samples, as sigrok writes them: comments after `;`, a header, no times.
 */
#include "waveform/internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LINE 4096u

/** The next line that has anything; false: there is none. *length: LINE where it is longer. */
static bool next_line(struct wave_bytes *bytes, char *line, size_t *length)
{
    int byte;
    do {
        *length = 0;
        while ((byte = pug_wave_byte(bytes)) >= 0 && byte != '\n')
            if (byte != '\r' && *length < LINE)
                line[(*length)++] = (char)byte;
    } while (*length == 0 && byte >= 0);
    line[*length < LINE ? *length : LINE - 1] = 0;
    return *length > 0;
}

static void take_comment(struct pug_waveform *waveform, const char *line)
{
    static const char samplerate[] = "Samplerate:";
    const char *found = strstr(line, samplerate);
    double hertz;
    if (found && pug_wave_hertz(found + sizeof(samplerate) - 1, &hertz))
        waveform->hertz = hertz;
}

/** Are all columns numbers: no header? */
static bool is_samples(const char *line)
{
    return strspn(line, "01, \t") == strlen(line);
}

static void take_columns(struct wave_lines *lines, const struct pug_waveform *waveform,
                         const char *line, bool named)
{
    for (const char *at = line; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char name[64] = "";
        if (named)
            snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ","), at);
        else
            snprintf(name, sizeof(name), "%u", lines->count);
        (void)pug_wave_line_add(lines, waveform, name);
    }
}

/** The sample of a column: 0, 1, or -1 where it is none. */
static int sample_of(const char *line, unsigned column)
{
    for (; column > 0 && line; column--) {
        line = strchr(line, ',');
        line += line != NULL;
    }
    while (line && (*line == ' ' || *line == '\t'))
        line++;
    return line && (*line == '0' || *line == '1') && !isdigit((unsigned char)line[1]) ? *line - '0'
                                                                                      : -1;
}

bool pug_wave_read_csv(struct pug_waveform *waveform, struct wave_bytes *bytes,
                       struct wave_edges *edges)
{
    struct wave_lines lines = {0};
    char line[LINE];
    size_t length;
    uint64_t time = 0;
    while (!edges->stopped && next_line(bytes, line, &length)) {
        if (length >= LINE || memchr(line, 0, length))
            return pug_wave_fail(waveform,
                                 "this is no capture of a logic analyser: .sr, VCD or CSV");
        if (line[0] == ';') {
            take_comment(waveform, line);
            continue;
        }
        const bool header = lines.count == 0 && !is_samples(line);
        if (lines.count == 0) {
            take_columns(&lines, waveform, line, header);
            if (!pug_wave_line_known(&lines, waveform))
                return false;
        }
        if (header)
            continue;
        const int sample = sample_of(line, lines.chosen);
        if (sample < 0)
            return pug_wave_fail(waveform, "sample %llu is neither 0 nor 1: '%.40s'",
                                 (unsigned long long)time, line);
        pug_wave_level(edges, time++, sample);
    }
    waveform->end = time;
    if (lines.count == 0)
        return pug_wave_fail(waveform, "there is no sample in it");
    if (!(waveform->hertz > 0))
        return pug_wave_fail(waveform, "it does not say its sample rate: --samplerate does");
    return true;
}
