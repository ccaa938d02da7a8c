// SPDX-License-Identifier: MIT
/**
 * @file What a logic analyser saw of a line, and the bytes that were sent on it.
 *
 * A capture is read as edges, from its begin each time that it is read: nothing of it is kept. Its
 * clock's ticks are what its file counts in.
 */
#ifndef PUG_WAVEFORM_WAVEFORM_H
#define PUG_WAVEFORM_WAVEFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The line has this level from this tick on; first its level at the begin. False: enough. */
typedef bool pug_edge_fn(void *context, uint64_t time, bool level);

/** The input and the results. */
struct pug_waveform {
    const char *path;
    const char *line; /**< its name, or its number from 0 on; NULL: there is one alone */
    double hertz;     /**< ticks of its clock in a second; in: for files that do not say it, or 0 */
    uint64_t end;     /**< out: one past the last tick */
    char why[200];    /**< out: why it cannot be read */

    /** Called now and then with how many bytes were read, of so many; or NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t all);
    void *progress_context;
    unsigned read_before, reads; /**< out: how often the file was read, and will be read in all */
};

/** sigrok's .sr, VCD, or CSV. False: `why`. */
bool pug_waveform_read(struct pug_waveform *waveform, pug_edge_fn *edge, void *context);

/* ---- serial.c ---- */

enum pug_line_coding { PUG_LINE_ANY, PUG_LINE_UART, PUG_LINE_MANCHESTER };

/** Takes bytes as they come; false: enough. */
typedef bool pug_line_fn(void *context, const uint8_t *bytes, size_t size);

struct pug_line {
    enum pug_line_coding coding; /**< in and out: ANY is found out by the level of the idle line */
    double rate;                 /**< in and out: bits in a second; 0: found out */
    double found;                /**< out: what the shortest pulses say that the rate is; 0: none */
    uint64_t bytes, bad; /**< out: that came, and that were none: no stop bit, half a byte */
};

/** The bytes that were sent. False: waveform->why. */
bool pug_line_bytes(struct pug_waveform *waveform, struct pug_line *line, pug_line_fn *give,
                    void *context);

#endif
