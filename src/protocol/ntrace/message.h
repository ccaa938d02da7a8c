// SPDX-License-Identifier: MIT
/** @file The messages' layouts, as the specification's table of messages has them. */
#ifndef PUG_PROTOCOL_NTRACE_MESSAGE_H
#define PUG_PROTOCOL_NTRACE_MESSAGE_H

#include "pugmark/advanced/packet/ntrace.h"
#include "pugmark/status.h"

/** Most variable fields that a message has, TSTAMP not counted. */
#define PUG_NTRACE_VARIABLES 3u

struct pug_ntrace_layout {
    const char *name; /**< NULL: no message that this decoder knows */
    uint8_t fixed_count, variable_count;
    bool conditional; /**< a fixed field says which variable fields there are */
    uint8_t fixed[2], variable[PUG_NTRACE_VARIABLES];
};

/** By TCODE; those that are unknown have no fields. */
extern const struct pug_ntrace_layout pug_ntrace_layouts[64];

static inline const struct pug_ntrace_layout *pug_ntrace_layout(uint8_t tcode)
{
    return &pug_ntrace_layouts[tcode & 63];
}

/**
 * The variable fields of a message whose fixed fields are known: the layout's, but that RCODE says
 * what RDATA is and whether HREPEAT follows, CDF and CKDF whether a last field does. Returns how
 * many.
 */
unsigned pug_ntrace_variables(const struct pug_ntrace_layout *layout,
                              const struct pug_ntrace_packet *packet,
                              uint8_t fields[PUG_NTRACE_VARIABLES]);

/** The bits of a fixed field; of a variable one the most that its value may have. */
extern const uint8_t pug_ntrace_field_bits[PUG_NTRACE_FIELDS];

enum pug_status pug_ntrace_problem_status(enum pug_ntrace_problem problem);

#endif
