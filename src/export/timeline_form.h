// SPDX-License-Identifier: MIT
/** @file What a timeline's format does, and what all of them share. */
#ifndef PUG_EXPORT_TIMELINE_FORM_H
#define PUG_EXPORT_TIMELINE_FORM_H

#include "export/timeline.h"

struct pug_timeline_track {
    int32_t pid, tid;
    char *name;     /* NULL: the number is not in use */
    uint64_t time;  /* the last one */
    uint32_t depth; /* slices that are open */
    bool started;   /* something was written of it */
    void *form;     /* the format's own */
};

struct pug_timeline_name {
    char *text, *file; /* text NULL: the number is not in use */
    uint32_t line;
    bool written; /* the format has written it */
};

enum pug_timeline_kind {
    PUG_TIMELINE_ENTER,
    PUG_TIMELINE_LEAVE,
    PUG_TIMELINE_INSTANT,
    PUG_TIMELINE_COUNTER,
    PUG_TIMELINE_GAP,
};

/** One thing that is written. */
struct pug_timeline_event {
    enum pug_timeline_kind kind;
    uint64_t time;
    uint64_t value; /* COUNTER; GAP: where it ends */
    uint32_t track, name;
    const char *detail; /* GAP: why */
    bool estimated;
};

struct pug_timeline {
    const struct pug_timeline_functions *functions;
    struct pug_timeline_output options;
    struct pug_timeline_track *tracks;
    struct pug_timeline_name *names;
    uint32_t track_count, name_count;
    enum pug_status status; /* the first thing that went wrong */
    void *form;             /* the format's own; freed with free() */
};

struct pug_timeline_functions {
    bool (*begin)(struct pug_timeline *timeline); /* false: no memory */
    void (*track)(struct pug_timeline *timeline, uint32_t number);
    void (*event)(struct pug_timeline *timeline, const struct pug_timeline_event *event);
    void (*end)(struct pug_timeline *timeline);
    /** Optional: pug_timeline_ran(). */
    void (*ran)(struct pug_timeline *timeline, uint32_t track, uint64_t time, uint64_t instructions,
                uint64_t offset);
};

extern const struct pug_timeline_functions pug_timeline_perfetto, pug_timeline_chrome,
    pug_timeline_speedscope, pug_timeline_ctf, pug_timeline_slices, pug_timeline_page;

#endif
