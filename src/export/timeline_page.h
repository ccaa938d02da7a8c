// SPDX-License-Identifier: MIT
/** @file What the files of the page's timeline share: timeline_page.c says what they keep. */
#ifndef PUG_EXPORT_TIMELINE_PAGE_H
#define PUG_EXPORT_TIMELINE_PAGE_H

#include "export/timeline_form.h"

#define PAGE_ITEMS      60000u              /* slices and cells of the finest level */
#define PAGE_DEPTHS     256u                /* deeper slices are counted, not shown */
#define PAGE_GAPS       10000u              /* then neighbours become one */
#define PAGE_DETAILS    ((size_t)256 << 10) /* bytes of the text of instants */
#define PAGE_SUM_CELLS  1024u               /* cells of sums over the whole time */
#define PAGE_WIDE_CELLS 512u                /* of the coarsest level */

/** A slice, or a cell that stands for `count` slices which are shorter than the level's width. */
struct page_item {
    uint64_t start, end;
    uint64_t busy;    /* the sum of what the slices took */
    uint64_t longest; /* what the longest took: the one that has `name` and `offset` */
    uint64_t offset;  /* in the trace, where it was entered */
    uint32_t count, name;
    bool estimated;
};

struct page_lane {
    struct page_item *items; /* by time */
    uint32_t count, room;
};

struct page_open {
    uint64_t start, offset;
    uint32_t name;
    bool estimated;
};

struct page_gap {
    uint64_t from, to, offset;
    uint32_t count;
    const char *why;
};

/** An instant, a line of text or a counter's value; or `count` of them of one name. */
struct page_point {
    uint64_t time, offset;
    int64_t value, low, high; /* of a counter */
    uint32_t count, name;
    bool is_counter;
    char *detail; /* of the first one; or NULL */
};

struct page_track {
    struct page_open *open;
    struct page_lane *lanes; /* by depth */
    struct page_gap *gaps;
    struct page_point *points;
    uint32_t open_count, open_room, lane_count, lane_room, gap_count, gap_room;
    uint32_t point_count, point_room;
    bool ran; /* it says how many instructions ran: it is a task, not a processor */
    uint64_t time, instructions, offset; /* when it said so last */
};

/** A function's own time in a cell. */
struct page_sum {
    uint64_t cell; /* time >> level */
    uint64_t time, instructions, calls;
    uint32_t name; /* number + 1; 0: the slot is free */
};

struct page_sums {
    struct page_sum *table; /* by hash */
    uint32_t room, count, most;
    unsigned level;
    uint64_t first, last; /* times that were seen */
    bool seen;
};

struct page_timeline {
    uint32_t items_most, item_count, points_most, point_count, gap_count;
    unsigned level, point_level;
    size_t detail_bytes;
    uint64_t too_deep; /* slices below PAGE_DEPTHS others */
    struct page_sums sums;
    uint32_t last_sum; /* the slot that was used last */
};

/** Adds a slice or cell to the one before it, if both are short and began in one cell. */
bool pug_page_item_join(struct page_item *item, const struct page_item *next, unsigned level);

/** Doubles the width of cells until there is room again. */
void pug_page_raise_level(struct pug_timeline *timeline);

/** Joins points of one name that lie near each other until there is room again. */
void pug_page_thin_points(struct pug_timeline *timeline);

/** Adds to what a name did at a time. False: no memory. */
bool pug_page_sums_add(struct page_timeline *page, uint64_t time, uint32_t name, uint64_t took,
                       uint64_t instructions, uint64_t calls);

/** Adds a span, in proportion to the time in each cell. */
bool pug_page_sums_spread(struct page_timeline *page, uint64_t from, uint64_t to, uint32_t name,
                          uint64_t instructions);

/** Writes all of it as a JSON object. */
void pug_page_timeline_write(struct pug_timeline *timeline);

#endif
