// SPDX-License-Identifier: MIT
/** @file One file of trace from inside: raw.c understands its description, raw_trace.c reads it. */
#ifndef PUG_CAPTURE_RAW_H
#define PUG_CAPTURE_RAW_H

#include "capture/capture.h"

struct pug_params;

struct pug_capture_raw {
    struct pug_params *params;
    const struct pug_protocol *protocol;
    const struct pug_transport *transport;
    struct pug_setting *items; /* of the options, then of the parameter file */
    size_t count;
    struct pug_settings settings;         /* these */
    struct pug_setting *of_sources;       /* the same with what is a source's own in front */
    struct pug_settings *source_settings; /* by source */
    struct pug_capture_bytes bytes;
};

extern const struct pug_capture_way pug_capture_raw_way;

/** Was this source asked for? All are where none was. */
bool pug_capture_raw_wants(const struct pug_capture *capture, uint16_t id);

/** Sources with these ids, that are all as the settings say, but for protocols of their own. */
enum pug_status pug_capture_raw_describe(struct pug_capture *capture, const uint16_t *ids,
                                         const char *const *protocols, size_t count);

/** Describe all wanted sources that are in the trace. */
enum pug_status pug_capture_raw_scan(struct pug_capture *capture);

/** Get hold of the trace. */
enum pug_status pug_capture_raw_bytes(struct pug_capture *capture);

#endif
