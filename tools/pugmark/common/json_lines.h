// SPDX-License-Identifier: MIT
/** @file Elements, packets and DWT events as JSON lines on standard output. */
#ifndef PUGMARK_TOOL_JSON_LINES_H
#define PUGMARK_TOOL_JSON_LINES_H

#include "input/input.h"
#include "pugmark/advanced/encapsulation.h"
#include "text/json.h"

/** The fields that an element's type defines, in an object that is open. */
void json_element(struct pug_json *json, const struct pug_element *element);

/** `handler`: the function that handles an exception; or NULL. */
void json_element_line(const struct pug_element *element, const char *handler);

/** An event, of one packet or of several; `words`: what it is. */
void json_dwt_line(const struct pug_dwt_event *event, const char *words);

/** Prints the segment of the lines that follow, where there are several. */
void json_head_line(const struct input *input, size_t segment);

/** A packet: `text` says what it is. `wrapping` has more to tell, or is NULL. */
void json_packet_line(uint64_t index, uint16_t source, const char *text,
                      const struct pug_encapsulation_packet *wrapping, const uint8_t *raw,
                      uint32_t size);

#endif
