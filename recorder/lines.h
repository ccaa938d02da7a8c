// SPDX-License-Identifier: MIT
/**
 * @file Packets in words, one a line, into the RISC-V packet encapsulation or into Open SoC Debug
 * datagrams: for `pugmark encode` and pugmark.advanced.encode().
 *
 *     encapsulation   packet SOURCE TYPE PAYLOAD [flow=F] [time=T]     PAYLOAD: hexadecimal bytes
 *                     idle [COUNT] [flow=F]   alignment [flow=F]   nulls COUNT   sync
 *     osd             ctm MODULE WIDTH TIME NPC PC FLAGS     stm MODULE WIDTH TIME ID VALUE
 *                     overflow MODULE MISSED                 register MODULE NUMBER VALUE
 *
 * Numbers are decimal, or hexadecimal after 0x. A # begins a comment.
 */
#ifndef PUG_RECORDER_LINES_H
#define PUG_RECORDER_LINES_H

#include "recorder/script.h"

struct rec_lines;

/** The settings that there are, up to a NULL; of the encapsulation `type_bits_N`, too. */
const char *const *rec_lines_names(bool osd);
/** The number of the first setting, of the form NAME=VALUE, that is not known; or their count. */
size_t rec_lines_unknown(bool osd, const struct rec_words *settings);

/** NULL: a value is out of range, or no memory. The settings are borrowed. */
struct rec_lines *rec_lines_new(bool osd, const struct rec_words *settings, struct rec_bytes *out);
void rec_lines_free(struct rec_lines *lines); /**< NULL is left alone */

/** One line, which is changed. False: it is no packet, or what it has does not fit. */
bool rec_lines_put(struct rec_lines *lines, char *line);
/** No more lines. */
void rec_lines_end(struct rec_lines *lines);

#endif
