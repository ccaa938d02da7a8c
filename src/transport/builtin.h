// SPDX-License-Identifier: MIT
/** @file The transports, each from its own file. */
#ifndef PUG_TRANSPORT_BUILTIN_H
#define PUG_TRANSPORT_BUILTIN_H

#include "pugmark/author/transport.h"

/** Log what is wrong with the trace at `index`. */
static inline void pug_transport_complain(const struct pug_transport_sink *sink,
                                          const char *component, enum pug_status code,
                                          uint64_t index, const char *text)
{
    pug_log_put(sink->log, &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                                    .code = code,
                                                    .index = index,
                                                    .source = PUG_NO_SOURCE,
                                                    .component = component,
                                                    .text = text});
}

/** Log what is wrong with a transport's settings. */
static inline enum pug_status pug_transport_refuse(const struct pug_transport_sink *sink,
                                                   const char *component, const char *text)
{
    pug_transport_complain(sink, component, PUG_ERR_INVALID_PARAM_VAL, PUG_NO_INDEX, text);
    return PUG_ERR_INVALID_PARAM_VAL;
}

extern const struct pug_transport pug_transport_plain;
extern const struct pug_transport pug_transport_coresight;
extern const struct pug_transport pug_transport_encapsulation;
extern const struct pug_transport pug_transport_nexus;
extern const struct pug_transport pug_transport_smi;
extern const struct pug_transport pug_transport_esp32;
extern const struct pug_transport pug_transport_pulp;
extern const struct pug_transport pug_transport_raw;
extern const struct pug_transport pug_transport_osd;
extern const struct pug_transport pug_transport_orbflow;

#endif
