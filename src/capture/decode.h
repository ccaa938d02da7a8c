// SPDX-License-Identifier: MIT
/**
 * @file Decoding a capture from inside: decode.c goes through the stretches, lane.c says where each
 * element belongs, pool.c decodes many stretches at once, by_time.c those of several processors
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
    bool counts;                    /**< ranges are counted, not given */
    struct pug_counts *counted;     /**< of what is decoded as a whole */
    struct pug_capture_lane *lanes; /**< by worker */
    unsigned threads;
    uint64_t done; /**< bytes of the stretches before */
    /* Of a part of it: */
    bool cut;
    uint64_t skipped; /**< bytes of the first stretch that are left out */
    uint64_t last;    /**< the last stretch ends there */
};

/** Trees that a worker keeps, so that what they know of the program's code stays. */
#define PUG_CAPTURE_LANE_TREES 8u

struct pug_capture_lane_tree {
    struct pug_tree *tree;
    uint32_t kind;
};

/** Trace ids, which a lane tells apart. */
#define PUG_CAPTURE_LANE_SOURCES 128u

/**
 * Where a source was last. A *stay* is what it tells of a task from where that comes to the
 * processor, or tracing begins there, up to where one of them happens again: what is behind its
 * last timestamp is not dated by what others do afterwards.
 */
struct pug_capture_last {
    uint64_t round; /**< of the lane; of another one it means nothing */
    uint32_t task;
    struct pug_reader_space reader;
    const struct pug_address_space *space;
    uint64_t stay; /**< when its stay began: the timestamp behind that */
};

/** What one worker decodes with. */
struct pug_capture_lane {
    const struct pug_capture_decoding *decoding;
    struct pug_capture_desk *desk;
    struct pug_capture_lane_tree trees[PUG_CAPTURE_LANE_TREES]; /**< of pool.c */
    struct pug_tree *tree;                                      /**< one of these, at work */
    struct pug_log *log;                                        /**< of pool.c */
    struct pug_counts *counts; /**< of pool.c: of all that the worker's trees count, or NULL */
    /* Where the last elements belonged. */
    struct pug_situation situation;
    struct pug_reader_space reader;
    uint64_t since, until; /**< the situation's time is that of these indices */
    uint32_t stretch;      /**< of the situation; UINT32_MAX: there is none yet */
    uint64_t stay;         /**< when its stay began, where there are times */
    uint64_t round;        /**< one for each stretch, from 1 on */
    struct pug_capture_last last[PUG_CAPTURE_LANE_SOURCES]; /**< by trace id */
    bool chosen;
    bool fine;                             /**< each element's own time counts */
    const struct pug_capture_marks *marks; /**< where the kind has no times itself … */
    uint32_t marked;                       /**< … of this stretch; UINT32_MAX: of none */
};

/** May sources come in any order? Who counts never minds. */
static inline bool pug_capture_any_order(const struct pug_capture_decoding *decoding)
{
    return decoding->counts || decoding->config->any_order;
}

bool pug_capture_lane_open(struct pug_capture_lane *lane,
                           const struct pug_capture_decoding *decoding);
void pug_capture_lane_close(struct pug_capture_lane *lane);
/** Go over to a stretch. */
enum pug_status pug_capture_lane_begin(struct pug_capture_lane *lane, uint32_t stretch,
                                       struct pug_tree *tree);
/** Elements of the lane's stretch go to a consumer's part, by where they belong. */
void pug_capture_lane_elements(struct pug_capture_lane *lane, void *part,
                               const struct pug_element *elements, size_t count);

/** Counts of the lane's stretch get the numbers of their spaces, where they have none yet. */
void pug_capture_lane_counts(const struct pug_capture_lane *lane, struct pug_counts *counts);

/** Where an element belongs, and whether it is selected: for pug_capture_lens_look(). */
bool pug_capture_lane_look(struct pug_capture_lane *lane, const struct pug_element *element);
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
/** Can anything in the stretch be of tasks that are chosen? A thread's buffer has its trace alone.
 */
bool pug_capture_may_choose(const struct pug_capture_decoding *decoding, uint32_t stretch);

/**
 * Let the stretch's tree see what the selection has of sources, and of processors. False: none of
 * them is in it.
 */
bool pug_capture_choose_sources(const struct pug_capture_decoding *decoding, uint32_t stretch,
                                struct pug_tree *tree);

/** Another lens with the selection of one that outlives it; as pug_capture_lens_new(). */
enum pug_status pug_capture_lens_share(const struct pug_capture_lens *lens,
                                       struct pug_capture_lens **out);
/** pug_capture_may_choose() for who has a lens. */
bool pug_capture_lens_may_choose(const struct pug_capture_lens *lens, size_t stretch);

/** Bytes [0, size) of a block through a tree; false: it is fatal, *used says where. */
bool pug_capture_feed(struct pug_tree *tree, uint64_t index, const uint8_t *bytes, size_t size,
                      size_t *used);
/** The trace cannot be read from an index on. */
void pug_capture_say_unread(const struct pug_capture *capture, struct pug_log *log, uint64_t index,
                            enum pug_status status);
/** Decoding a stretch stops at an index. */
static inline void pug_capture_note_fatal(const struct pug_capture_decoding *decoding, uint64_t at)
{
    decoding->result->stopped++;
    decoding->result->at = at;
}

/**
 * Decode stretches [first, end) of chosen buffers, each from reset, on all threads; where it is
 * cut, the first one from `skipped` on and the last one up to `last`. Returns as
 * pug_capture_decode().
 */
enum pug_status pug_capture_pool(struct pug_capture_decoding *decoding, uint32_t first,
                                 uint32_t end);

/**
 * Decode all stretches of chosen buffers in the order of time, on this thread. Returns as
 * pug_capture_decode().
 */
enum pug_status pug_capture_by_time(struct pug_capture_decoding *decoding);

/** Empty counts of the kind that the consumer asks for; NULL: no memory. */
struct pug_counts *pug_capture_new_counts(const struct pug_capture_decoding *decoding);

struct pug_log *pug_capture_decode_log(const struct pug_capture_decoding *decoding);

/** May decoding go on? Asks the consumer. */
bool pug_capture_goes_on(const struct pug_capture_decoding *decoding, uint64_t done);

#endif
