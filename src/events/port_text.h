// SPDX-License-Identifier: MIT
/** @file What software writes to a stimulus port, as lines where it is text. */
#ifndef PUG_EVENTS_PORT_TEXT_H
#define PUG_EVENTS_PORT_TEXT_H

#include "pugmark/dwt.h"

/** Bytes of a line; a longer one goes in pieces. */
#define PORT_LINE 240u
/** Stimulus ports of an ITM. */
#define PORTS 256u

struct port_text {
    uint64_t time, index; /**< of the line's first byte */
    bool has_time;
    bool number; /**< something came that is no text: what follows counts as numbers */
    uint16_t size;
    char line[PORT_LINE + 1];
};

/** Are all bytes of a write text? Zeros fill up wide ones. */
bool pug_port_text_is(const struct pug_dwt_event *event);

/**
 * Take a byte of a write. True: the line is complete, and is to be used and then emptied
 * (`size` = 0), before the next byte is taken. A line end is no part of it.
 */
bool pug_port_text_take(struct port_text *text, const struct pug_dwt_event *event, unsigned byte);

#endif
