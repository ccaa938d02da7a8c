// SPDX-License-Identifier: MIT
/** @file The ITM sources of a capture, each with what makes events with times of its elements. */
#ifndef PUG_EVENTS_SOURCES_H
#define PUG_EVENTS_SOURCES_H

#include "pugmark/capture.h"
#include "swo/handlers.h"
#include "swo/swo.h"

/** One source of one buffer. */
struct swo_source {
    uint32_t buffer, number; /**< `number`: of the sources, in the order in which they spoke */
    uint16_t id;
    struct pug_swo_stream stream;
    struct pug_tree *tree; /**< of its buffer, whose image is its program; the first one's own */
    struct pug_vectors vectors;
    bool has_tree, has_vectors;
    void *user; /**< the caller's; freed with free() */
    struct swo_sources *all;
};

/** Takes an event of a source. Its time is the capture's: nanoseconds where rates are known. */
typedef void swo_event_fn(struct swo_source *source, const struct pug_dwt_event *event);

struct swo_sources {
    struct pug_capture *capture;
    swo_event_fn *give;
    void *context; /**< for `give` */
    struct swo_source **items;
    size_t count;
    bool failed;
};

void pug_swo_sources_init(struct swo_sources *sources, struct pug_capture *capture,
                          swo_event_fn *give, void *context);
void pug_swo_sources_free(struct swo_sources *sources);

/** Is it an element of an ITM, or the end of what a source of one says? */
static inline bool pug_swo_sources_is(const struct pug_element *element)
{
    return element->type == PUG_ELEM_ITMTRACE;
}

/** Take an element: of sources that are no ITM it does nothing. */
void pug_swo_sources_take(struct swo_sources *sources, const struct pug_origin *where,
                          const struct pug_element *element);
/** All has come: what waits is given. */
void pug_swo_sources_end(struct swo_sources *sources);

/** What the program of a source's core calls its exception handlers; it has the image, too. */
const struct pug_vectors *pug_swo_source_vectors(struct swo_source *source);
/** The same by the source's id; of none that spoke there is no image. */
const struct pug_vectors *pug_swo_sources_vectors(struct swo_sources *sources, uint16_t id);

/** "ns", "cycles" or "ticks": what times of events are counted in. */
const char *pug_swo_sources_unit(const struct swo_sources *sources);

#endif
