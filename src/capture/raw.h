// SPDX-License-Identifier: MIT
/** @file One file of trace from inside: raw.c understands its description, raw_trace.c reads it. */
#ifndef PUG_CAPTURE_RAW_H
#define PUG_CAPTURE_RAW_H

#include "capture/capture.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"

struct pug_params;
struct pug_ctrace;
struct pug_ctrace_processor;

struct pug_capture_raw {
    struct pug_params *params;
    struct pug_ctrace *ctrace; /* where a trace folder describes it; or NULL */
    const char *channel;       /* of that */
    const char *file;          /* the trace; NULL: the capture's path */
    size_t usual;              /* so many settings at the end of what was given are the core's */
    size_t usual_at;           /* the first of these */
    const struct pug_protocol *protocol;
    const struct pug_transport *transport;
    struct pug_setting *items; /* of the options, then of the parameter file */
    size_t count;
    struct pug_settings settings;         /* these */
    struct pug_setting *of_sources;       /* the same with what is a source's own in front */
    struct pug_settings *source_settings; /* by source */
    struct pug_capture_bytes bytes;
    /* Of a stream that is read as it arrives: `bytes` are those that are not used yet. */
    bool open;                      /* more may come */
    bool rated;                     /* a look was taken at the rate of a serial line */
    bool doubted;                   /* its first bytes were looked at */
    uint64_t room;                  /* for these */
    uint64_t used;                  /* bytes before these */
    uint64_t asked;                 /* from where on somebody asked last */
    bool begun;                     /* somebody did */
    uint64_t kept;                  /* so many first bytes of it stay … */
    struct pug_capture_bytes begin; /* … and are these, as far as they came */
};

extern const struct pug_capture_ops pug_capture_raw_ops;

/** Was this source asked for? All are where none was. */
bool pug_capture_raw_wants(const struct pug_capture *capture, uint16_t id);

/** Sources with these ids, that are all as the settings say, but for protocols of their own. */
enum pug_status pug_capture_raw_describe(struct pug_capture *capture, const uint16_t *ids,
                                         const char *const *protocols, size_t count);

/** Describe all wanted sources that are in the trace. */
enum pug_status pug_capture_raw_scan(struct pug_capture *capture);

/** Describe the sources in the first bytes of a live input, up to a pause after some. */
enum pug_status pug_capture_raw_scan_live(struct pug_capture *capture);

/** Get hold of the trace; of a stream, of so much as has to be known before. */
enum pug_status pug_capture_raw_bytes(struct pug_capture *capture);
/** Is the form of frames to be guessed from the first PUG_CORESIGHT_SAMPLE bytes? */
bool pug_capture_raw_guesses(const struct pug_capture *capture);
/** Is the source known without a look at the trace? */
bool pug_capture_raw_names_source(const struct pug_capture *capture, uint16_t *id);

/* ---- raw_registers.c: what the options do not say of the trace unit ---- */

/** Usual registers are no more than so many. */
#define PUG_CAPTURE_USUAL 8u

/** Add the usual values for the core that the settings name, of registers that were not given. */
void pug_capture_raw_add_usual(struct pug_capture_raw *raw);
/** Is there a register, or another setting, with the source's trace id? */
bool pug_capture_raw_has_id(const struct pug_capture_raw *raw, const struct pug_settings *settings);
/**
 * Report the registers that matter and were not given, and those taken from the core or from the
 * trace. False: it does not go without them.
 */
bool pug_capture_raw_registers(const struct pug_capture *capture,
                               const struct pug_settings *settings);

/** What a capture of this kind has for itself, empty; NULL: no memory. */
struct pug_capture_raw *pug_capture_raw_new(struct pug_capture *capture);

static inline const char *pug_capture_raw_file(const struct pug_capture *capture)
{
    const struct pug_capture_raw *raw = capture->own;
    return raw->file ? raw->file : capture->path;
}

/* ---- ctrace.c: trace folders of the CMSIS-Toolbox ---- */

/** Settings that such a folder has of a source, at most. */
#define PUG_CAPTURE_CTRACE_SETTINGS 5u

/** The settings of a source, which is the n-th; how many there are. */
size_t pug_capture_ctrace_settings(const struct pug_capture_raw *raw, uint16_t id, size_t n,
                                   struct pug_setting items[PUG_CAPTURE_CTRACE_SETTINGS]);
/** Is that id one of the ITMs that it lists? All are if it lists none. */
bool pug_capture_ctrace_wants(const struct pug_ctrace *ctrace, uint16_t id);
const struct pug_ctrace_processor *pug_capture_ctrace_first(const struct pug_ctrace *ctrace);

/* live.c: as in struct pug_capture_ops */
enum pug_status pug_capture_live_open(struct pug_capture *capture);
/**
 * Read until the bytes show something (NULL: never), the first pause after more of them, the end,
 * or so many.
 */
enum pug_status pug_capture_live_ahead(struct pug_capture *capture,
                                       bool (*shows)(const uint8_t *bytes, size_t size),
                                       uint64_t most);
size_t pug_capture_live_read(struct pug_capture *capture, uint64_t from, uint8_t *bytes,
                             size_t size, enum pug_status *status);
void pug_capture_live_settle(struct pug_capture *capture);

#endif
