// SPDX-License-Identifier: MIT
/** @file What the files of `pugmark list` share: options, and what is listed of which place. */
#ifndef PUGMARK_TOOL_LIST_H
#define PUGMARK_TOOL_LIST_H

#include "common/handlers.h"
#include "index/window.h"
#include "input/input.h"
#include "pugmark/author/protocol.h"

enum list_format { LIST_TEXT, LIST_JSONL, LIST_CSV };

struct list_options {
    struct input_options input;
    bool packets, elements, by_time, events;
    const char *match; /* of events: words that their lines have; or NULL */
    enum list_format format;
    bool cmsis;               /* in place of that: rows of the CMSIS-Toolbox */
    struct option_list ports; /* of these, numbers; none: all */
    uint64_t from, to;
    struct window_options window;
    uint32_t types; /* bit set of enum pug_element_type; 0: all */
};

struct list_watch;

struct list_state {
    struct pug_origin_reader
        *origin_reader; /* what is selected by more than buffer and source; or NULL */
    uint8_t shown[(UINT16_MAX + 1) / 8]; /* bits by source: what comes of it now is selected */
    bool elements;                       /* they are listed, not only looked at */
    const struct list_options *options;
    struct input *input;
    struct dwt_sources *dwt;
    struct handlers handlers;
    struct list_watch *watches; /* of packets, by worker; NULL: none are listed */
    unsigned watch_count;
    uint64_t until;       /* a window's elements have come when this was read */
    bool dated;           /* a buffer has the time from which on a window is wanted */
    bool counts;          /* what is listed is counted; then by one thread */
    bool looking;         /* count only */
    uint64_t seen;        /* what was listed, or would have been */
    uint64_t first, last; /* of what was seen, [first, last) is listed */
    uint64_t pivot_at;    /* looking: which is the first at this offset or after it … */
    uint64_t pivot;       /* … if it was found */
    bool found;
    uint64_t look_to; /* what is before the pivot has come when this was read */
    uint64_t unsure;  /* of what was seen, so much may be wrong */
};

/** A packet monitor's context: which source it belongs to. */
struct list_packets {
    struct list_watch *watch;
    const struct pug_protocol *protocol;
    uint16_t id;
    bool past; /* nothing more comes from before the window's end */
};

/** The things watched in one tree. */
struct list_watch {
    struct list_state *list;
    struct list_packets *packets;
    size_t count;
    struct output_text_buffer *text; /* NULL: standard output */
};

#define LIST_PACKET_CSV_HEADER "index,source,kind,packet,bytes\n"

/** Have what the tree at hand gives listed; and not any more. */
void list_attach(struct list_state *state, bool elements);
void list_detach(struct list_state *state);

/** Prints the segment of the lines that follow, where there are several. */
void list_head(const struct list_state *state, size_t segment);

/** A whole segment through the tree. */
int list_segment(struct list_state *state, bool elements);

/** The whole trace. Packets, and events in words, are made of trees, one after the other. */
int list_all(struct list_state *state, bool elements);

/** What is to be listed of which part of each buffer; decodes no more than it must. */
int list_window(struct list_state *state, struct list_options *options, bool elements);

/** Prints ITM and DWT packets in the CMSIS-Toolbox's form of CSV. */
int list_cmsis(const struct list_options *options, const char *operand);

/** Elements of all buffers in the order of time. */
int list_by_time(const struct list_options *options, const char *operand);

/** Prints the events of ITMs and DWTs in the program's words. */
int list_events(const struct list_options *options, const char *operand);

#endif
