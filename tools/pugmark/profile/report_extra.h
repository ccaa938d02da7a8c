// SPDX-License-Identifier: MIT
/** @file What `pugmark report` gathers beside the profile: facts, sentences, stories, timelines. */
#ifndef PUGMARK_TOOL_REPORT_EXTRA_H
#define PUGMARK_TOOL_REPORT_EXTRA_H

#include "common/said.h"
#include "input/input.h"
#include "pugmark/export.h"
#include "text/sink.h"

#define REPORT_FACTS  200u
#define REPORT_POINTS 200u

/** A text that lives as long as the report. */
struct report_text {
    struct report_text *before;
    char text[];
};

struct report_extra {
    struct pug_report is;
    struct pug_report_withheld withheld;
    struct pug_report_fact facts[REPORT_FACTS];
    struct pug_report_point points[REPORT_POINTS];
    uint64_t unheard; /* sentences for which there was no room */
    struct report_text *texts;
    struct pug_memory timelines, stories, times; /* JSON arrays, a value of each capture */
    struct pug_memory what;                      /* what was traced, in words */
    const char *input;                           /* the one at hand */
    struct said_listener listener;
    uint32_t room;    /* for slices of each timeline; 0: as usual */
    const char *rtos; /* the kernel whose threads are followed, as --rtos says it; or NULL */
    bool failed;      /* no memory */
};

/** The extra listens to what standard error says, until report_extra_end(). */
void report_extra_begin(struct report_extra *extra);
void report_extra_end(struct report_extra *extra);

/** A copy of a text; NULL: no memory. */
const char *report_extra_text(struct report_extra *extra, const char *text);
void report_extra_fact(struct report_extra *extra, const char *name, const char *value);

/** Facts, story and timeline of a capture whose profile is there. An exit code. */
int report_extra_look(struct report_extra *extra, struct input *input, struct pug_names *names,
                      const struct pug_profile *profile);

/** All inputs were added: extra->is is whole. False: no memory. */
bool report_extra_close(struct report_extra *extra);

#endif
