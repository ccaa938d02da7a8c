// SPDX-License-Identifier: MIT
/**
 * @file Decoding a capture from inside: decode.c goes through the segments, attribute.c says where
 * each element belongs, pool.c decodes many segments at once, by_time.c those of several processors
 * side by side.
 */
#ifndef PUG_CAPTURE_DECODE_H
#define PUG_CAPTURE_DECODE_H

#include "capture/capture.h"

/** One call of pug_capture_decode(). */
struct pug_capture_decoding {
    struct pug_capture *capture;
    const struct pug_capture_decode *config;
    pug_capture_left_out_fn *left_out; /**< NULL: nobody asks */
    struct pug_capture_result *result;
    bool *tasks;   /**< by number: is it chosen? NULL: all are */
    int32_t *tids; /**< of those that are chosen, in order */
    size_t tid_count;
    bool counts;                          /**< ranges are counted, not given */
    struct pug_counts *counted;           /**< of what is decoded as a whole */
    struct pug_attribution *attributions; /**< by worker */
    unsigned threads;
    uint64_t done; /**< bytes of the segments before */
    /* Of a part of it: */
    bool cut;
    uint64_t skipped; /**< bytes of the first segment that are left out */
    uint64_t last;    /**< the last segment ends there */
};

/** Trees that a worker keeps, so that what they know of the program's code stays. */
#define PUG_ATTRIBUTION_TREES 8u

struct pug_attribution_tree {
    struct pug_tree *tree;
    uint32_t kind;
};

/** Trace ids, which an attribution tells apart. */
#define PUG_ATTRIBUTION_SOURCES 128u

/**
 * Where a source was last. A *residency* is what it tells of a task from where that comes to the
 * processor, or tracing begins there, up to where one of them happens again: what is behind its
 * last timestamp is not dated by what others do afterwards.
 */
struct pug_capture_last {
    uint64_t round; /**< of the attribution; of another one it means nothing */
    uint32_t task;
    struct pug_reader_space reader;
    const struct pug_address_space *space;
    uint64_t residency; /**< when its residency began: the timestamp behind that */
};

/** What one worker decodes with. */
struct pug_attribution {
    const struct pug_capture_decoding *decoding;
    struct pug_capture_desk *desk;
    struct pug_attribution_tree trees[PUG_ATTRIBUTION_TREES]; /**< of pool.c */
    struct pug_tree *tree;                                    /**< one of these, at work */
    struct pug_log *log;                                      /**< of pool.c */
    struct pug_counts *counts; /**< of pool.c: of all that the worker's trees count, or NULL */
    /* Where the last elements belonged. */
    struct pug_origin origin;
    struct pug_reader_space reader;
    uint64_t since, until; /**< the origin's time is that of these indices */
    uint32_t segment;      /**< of the origin; UINT32_MAX: there is none yet */
    uint64_t residency;    /**< when its residency began, where there are times */
    uint64_t round;        /**< one for each segment, from 1 on */
    struct pug_capture_last last[PUG_ATTRIBUTION_SOURCES]; /**< by trace id */
    bool chosen;
    bool fine;                             /**< each element's own time counts */
    const struct pug_capture_marks *marks; /**< where the kind has no times itself … */
    uint32_t marked;                       /**< … of this segment; UINT32_MAX: of none */
};

/** May sources come in any order? Who counts never minds. */
static inline bool pug_capture_any_order(const struct pug_capture_decoding *decoding)
{
    return decoding->counts || decoding->config->any_order;
}

bool pug_attribution_open(struct pug_attribution *attribution,
                          const struct pug_capture_decoding *decoding);
void pug_attribution_close(struct pug_attribution *attribution);
/** Go over to a segment. */
enum pug_status pug_attribution_begin(struct pug_attribution *attribution, uint32_t segment,
                                      struct pug_tree *tree);
/** Elements of the attribution's segment go to a consumer's part, by where they belong. */
void pug_attribution_elements(struct pug_attribution *attribution, void *part,
                              const struct pug_element *elements, size_t count);

/** Counts of the attribution's segment get the numbers of their spaces, where they have none yet.
 */
void pug_attribution_counts(const struct pug_attribution *attribution, struct pug_counts *counts);

/** Where an element belongs, and whether it is selected: for pug_origin_reader_look(). */
bool pug_attribution_look(struct pug_attribution *attribution, const struct pug_element *element);
/** Is a number in a list of a selection? One that is empty has all. */
static inline bool pug_capture_is_listed(const int32_t *list, size_t count, int32_t number)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == number)
            return true;
    return count == 0;
}

/** Which tasks are chosen; false: no memory. */
bool pug_capture_choose_tasks(struct pug_capture_decoding *decoding);
void pug_capture_forget_tasks(struct pug_capture_decoding *decoding);
/** Can anything in the segment be of tasks that are chosen? A thread's buffer has its trace alone.
 */
bool pug_capture_may_choose(const struct pug_capture_decoding *decoding, uint32_t segment);

/**
 * Let the segment's tree see what the selection has of sources, and of processors. False: none of
 * them is in it.
 */
bool pug_capture_choose_sources(const struct pug_capture_decoding *decoding, uint32_t segment,
                                struct pug_tree *tree);

/** Another origin reader with the selection of one that outlives it; as pug_origin_reader_new(). */
enum pug_status pug_origin_reader_share(const struct pug_origin_reader *origin_reader,
                                        struct pug_origin_reader **out);
/** pug_capture_may_choose() for who has an origin reader. */
bool pug_origin_reader_may_choose(const struct pug_origin_reader *origin_reader, size_t segment);

/** Bytes [0, size) of a block through a tree; false: it is fatal, *used says where. */
bool pug_capture_feed(struct pug_tree *tree, uint64_t index, const uint8_t *bytes, size_t size,
                      size_t *used);
/** The trace cannot be read from an index on. */
void pug_capture_say_unread(const struct pug_capture *capture, struct pug_log *log, uint64_t index,
                            enum pug_status status);
/** Decoding a segment stops at an index. */
static inline void pug_capture_note_fatal(const struct pug_capture_decoding *decoding, uint64_t at)
{
    decoding->result->stopped++;
    decoding->result->at = at;
}

/**
 * Decode segments [first, end) of chosen buffers, each from reset, on all threads; where it is
 * cut, the first one from `skipped` on and the last one up to `last`. Returns as
 * pug_capture_decode().
 */
enum pug_status pug_capture_pool(struct pug_capture_decoding *decoding, uint32_t first,
                                 uint32_t end);

/**
 * Decode all segments of chosen buffers in the order of time, on this thread. Returns as
 * pug_capture_decode().
 */
enum pug_status pug_capture_by_time(struct pug_capture_decoding *decoding);

/** Empty counts of the kind that the consumer asks for; NULL: no memory. */
struct pug_counts *pug_capture_new_counts(const struct pug_capture_decoding *decoding);

struct pug_log *pug_capture_decode_log(const struct pug_capture_decoding *decoding);

/** May decoding go on? Asks the consumer. */
bool pug_capture_goes_on(const struct pug_capture_decoding *decoding, uint64_t done);

#endif
