// SPDX-License-Identifier: MIT
/** @file From elements to what `pugmark trace` keeps, on the threads that decode. */
#ifndef PUG_ITEMS_PARTS_H
#define PUG_ITEMS_PARTS_H

#include "items/window.h"

#include "pugmark/advanced/consumer.h"

/** A place that words mean. One of `object` and `absolute` is known at least. */
struct address_place {
    uint32_t object; /**< the program; PUG_NO_OBJECT: not known */
    uint64_t vaddr;  /**< of the object: as its file has it */
    bool is_absolute;
    uint64_t absolute; /**< where it ran, if that is the same for all */
};

#define ADDRESS_PLACES 64u

struct address_places {
    struct address_place items[ADDRESS_PLACES];
    size_t count;
};

/** The unit of --last and similar options. */
enum trace_unit { TRACE_INSTRUCTIONS, TRACE_BRANCHES, TRACE_CALLS };

/** The events that a window may end with. */
enum trace_end {
    TRACE_END_OF_TRACE,
    TRACE_END_EXCEPTION,
    TRACE_END_EVENT,
    TRACE_END_ADDRESS, /**< an instruction at one of `addresses` was executed */
    TRACE_END_OFFSET,  /**< the trace has come to this offset */
};

struct trace_wanted {
    enum trace_unit unit;
    enum trace_end end;
    uint64_t value; /**< of an offset */
    struct address_places addresses;
    struct trace_window_limits limits;
    bool no_code; /**< the instructions of ranges are not needed */
};

/** The place where a source was first understood in a segment. */
struct trace_begin {
    uint32_t segment;
    uint16_t source;
    uint64_t index; /**< UINT64_MAX: it has spoken, and is not understood yet */
};

struct trace_begins {
    struct trace_begin *items;
    size_t count, room;
};

struct trace_parts {
    struct pug_capture *capture;
    const struct trace_wanted *wanted;
    /** Takes each item of a part that has to be printed now: of a window without limits. */
    bool (*print)(void *context, const struct trace_item *item);
    void *print_context;
    uint32_t wants; /**< as in struct pug_consumer: times, or their order */
    /**
     * Elements that the selection leaves out become items of `others`, as far as they have times,
     * or are unknown; at least one of each that comes to a processor. Of a window without limits
     * alone.
     */
    bool others;
    struct trace_window window;   /**< of the whole capture, where it has limits */
    struct trace_begins begins;   /**< of all sources, where there is such a window */
    bool failed;                  /**< no memory: some of it is missing */
    struct pug_consumer consumer; /**< private: what pug_trace_parts_decode() gives */
};

/** Forget all that came. */
void pug_trace_parts_clear(struct trace_parts *parts);

/** For pug_capture_decode(); the parts must outlive it. */
void pug_trace_parts_decode(struct trace_parts *parts, struct pug_capture_decode *decode);

#endif
