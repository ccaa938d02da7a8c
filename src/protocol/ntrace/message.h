// SPDX-License-Identifier: MIT
/** @file The messages' layouts, as the specification's table of messages has them. */
#ifndef PUG_PROTOCOL_NTRACE_MESSAGE_H
#define PUG_PROTOCOL_NTRACE_MESSAGE_H

#include "pugmark/packet/ntrace.h"
#include "pugmark/status.h"

/** Most variable fields that a message has, TSTAMP not counted. */
#define NTRACE_VARIABLES 3u

struct ntrace_layout {
    const char *name; /**< NULL: no message that this decoder knows */
    uint8_t fixed_count, variable_count;
    uint8_t fixed[2], variable[NTRACE_VARIABLES];
};

/** The layout of a TCODE; one without fields where the TCODE is unknown. */
const struct ntrace_layout *ntrace_layout(uint8_t tcode);

/**
 * The variable fields of a message whose fixed fields are known: the layout's, but that RCODE says
 * what RDATA is and CDF and CKDF whether a last field follows. Returns how many.
 */
unsigned ntrace_variables(const struct ntrace_layout *layout,
                          const struct pug_ntrace_packet *packet, uint8_t fields[NTRACE_VARIABLES]);

unsigned ntrace_fixed_bits(unsigned field);
/** The most bits that a variable field's value may have. */
unsigned ntrace_variable_bits(unsigned field);

const char *ntrace_problem_text(enum pug_ntrace_problem problem);
enum pug_status ntrace_problem_status(enum pug_ntrace_problem problem);

#endif
