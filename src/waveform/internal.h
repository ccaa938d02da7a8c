// SPDX-License-Identifier: MIT
/** @file The readers of the formats, and what they share. */
#ifndef PUG_WAVEFORM_INTERNAL_H
#define PUG_WAVEFORM_INTERNAL_H

#include "files/infile.h"
#include "waveform/waveform.h"

/** A file's bytes, one at a time. */
struct wave_bytes {
    const struct pug_waveform *waveform;
    struct pug_infile *file;
    uint64_t at, size;
    size_t next, count; /* in the block */
    bool failed;
    uint8_t block[1 << 16];
};

/** Reports how far the file is read; `at`: up to this offset. */
void pug_wave_progress(const struct pug_waveform *waveform, const struct wave_bytes *bytes,
                       uint64_t at);

/** The next byte, or -1 at the end, or where reading fails. */
int pug_wave_byte(struct wave_bytes *bytes);

/** Edges of levels: only what changes is given. */
struct wave_edges {
    pug_edge_fn *edge;
    void *context;
    bool begun, level, stopped;
};

void pug_wave_level(struct wave_edges *edges, uint64_t time, bool level);

/** Say why it cannot be read; false. */
bool pug_wave_fail(struct pug_waveform *waveform, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Lines of a capture, of which one is wanted. */
struct wave_lines {
    unsigned count, chosen;
    bool found;
    char names[160]; /* for a message */
};

/** Another line of this name. True: it is the wanted one. */
bool pug_wave_line_add(struct wave_lines *lines, const struct pug_waveform *waveform,
                       const char *name);
/** Is it known which one? Else false, having said why. */
bool pug_wave_line_known(const struct wave_lines *lines, struct pug_waveform *waveform);

/** "24 MHz", "24000000". */
bool pug_wave_hertz(const char *text, double *hertz);

bool pug_wave_read_vcd(struct pug_waveform *waveform, struct wave_bytes *bytes,
                       struct wave_edges *edges);
bool pug_wave_read_csv(struct pug_waveform *waveform, struct wave_bytes *bytes,
                       struct wave_edges *edges);
bool pug_wave_read_sigrok(struct pug_waveform *waveform, struct wave_bytes *bytes,
                          struct wave_edges *edges);

#endif
