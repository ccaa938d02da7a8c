// SPDX-License-Identifier: MIT
/**
 * @file Decoding a capture from inside: selection.c says what is chosen, attribute.c where elements
 * belong, decode.c has the scheduler read the segments.
 */
#ifndef PUG_CAPTURE_DECODE_H
#define PUG_CAPTURE_DECODE_H

#include "capture/capture.h"
#include "schedule/segments.h"

/** The part of a capture to decode, and the wanted properties. */
struct pug_capture_decoding {
    struct pug_capture *capture;
    const struct pug_capture_selection *selection; /**< NULL: everything */
    bool times, each_time;                         /**< as consumers want (consumer.h) */
    bool left_out;                                 /**< what is not chosen is given, too */
    bool *tasks;                                   /**< by number: is it chosen? NULL: all are */
    int32_t *tids;                                 /**< of those that are chosen, in order */
    size_t tid_count;
    struct pug_capture_marks *marks; /**< with which all attributions read times; or NULL */
};

/** Number of trace ids that an attribution distinguishes. */
#define PUG_ATTRIBUTION_SOURCES 128u

/**
 * Where a source was last. A *residency* is the time of a task from where it comes to the
 * processor, or tracing begins there, up to where one of them happens again. Elements after its
 * last timestamp are not dated by what others do afterwards.
 */
struct pug_capture_last {
    uint64_t round; /**< of the attribution; of another one it means nothing */
    uint32_t task;
    struct pug_reader_space reader;
    const struct pug_address_space *space;
    uint64_t residency; /**< when its residency began: the timestamp that follows */
};

/** The state with which one worker decodes. */
struct pug_attribution {
    const struct pug_capture_decoding *decoding;
    struct pug_capture_worker *worker;
    struct pug_receiver receiver; /**< of elements as soon as it is known where they belong */
    /* The origin of the last elements. */
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

/**
 * False: no memory; close it then, too. `receiver`: NULL if only pug_attribution_look() is used.
 */
bool pug_attribution_open(struct pug_attribution *attribution,
                          const struct pug_capture_decoding *decoding,
                          const struct pug_receiver *receiver);
void pug_attribution_close(struct pug_attribution *attribution);
/** Go over to a segment. */
enum pug_status pug_attribution_begin(struct pug_attribution *attribution, uint32_t segment,
                                      struct pug_tree *tree);
/** Elements of the attribution's segment go to its receiver, by where they belong. */
void pug_attribution_elements(struct pug_attribution *attribution,
                              const struct pug_element *elements, size_t count);

/** Counts of a segment get the numbers of their spaces, where they have none yet. */
void pug_attribution_counts(struct pug_capture *capture, uint32_t segment,
                            struct pug_counts *counts);

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

/** Are ranges counted with this selection, if a consumer counts? */
bool pug_capture_selection_counts(const struct pug_capture_selection *selection);
/** Chooses the tasks; false: no memory. */
bool pug_capture_choose_tasks(struct pug_capture_decoding *decoding);
void pug_capture_forget_tasks(struct pug_capture_decoding *decoding);
/**
 * Can anything in the segment be of tasks that are chosen? A thread's buffer has its trace alone.
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
/** pug_capture_may_choose() for code that has an origin reader. */
bool pug_origin_reader_may_choose(const struct pug_origin_reader *origin_reader, size_t segment);

/** The consumers of a decoding, as the scheduler takes them. */
static inline struct pug_consumers pug_capture_consumers(const struct pug_capture_decode *config)
{
    return (struct pug_consumers){config->consumers, config->consumer_count};
}

#endif
