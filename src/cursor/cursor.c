// SPDX-License-Identifier: MIT
/** @file A tree that waits after each batch, so that its elements can be asked for. */
#include "pugmark/cursor.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/index.h"
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/tree.h"

#include <stdlib.h>
#include <string.h>

/* A piece of the capture that the tree is given at a time, and the room for what comes of it: a
   batch is never larger. */
#define PIECE    4096u
#define ELEMENTS 512u

/* `anew`: so many bytes are read before the synchronisation point, so that the transport is
 * synchronised there, too. Captures with frames are read from multiples of it. */
#define RUN_UP 512u

struct pug_cursor {
    struct pug_cursor_config config;
    struct pug_index *own_index; /* made when a mark was first asked for */
    struct pug_tree *tree;       /* a copy of the configuration's */
    struct pug_tree *own_tree;   /* of a capture's segment: the configuration's … */
    uint8_t *own_bytes;          /* … and its bytes, if they were not in memory; else NULL */
    uint64_t fed;                /* bytes that it was given */
    uint64_t from;               /* what is before it is left out */
    uint64_t at;
    bool waits, ended, over;
    enum pug_status status, step_status;

    uint32_t next, count;
    struct pug_element elements[ELEMENTS];
    uint8_t *payloads; /* of the elements, one after the other */
    size_t payload_size, payload_room;

    struct pug_walk *walk;
    bool walking;
    struct pug_cursor_step step;
};

/* ---- what the tree gives ---- */

/** Payloads are valid during the call only: keep this one; in its place stands where it is. */
static bool keep_payload(struct pug_cursor *cursor, struct pug_element *element)
{
    const size_t end = cursor->payload_size + element->count;
    if (end > cursor->payload_room) {
        uint8_t *grown = realloc(cursor->payloads, 2 * end);
        if (!grown)
            return false;
        cursor->payloads = grown;
        cursor->payload_room = 2 * end;
    }
    if (element->count > 0)
        memcpy(cursor->payloads + cursor->payload_size, element->payload, element->count);
    element->start = cursor->payload_size;
    cursor->payload_size = end;
    return true;
}

/** Keep what came, and let the tree wait. */
static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct pug_cursor *cursor = context;
    size_t n = 0;
    while (n < count && cursor->count < ELEMENTS) {
        struct pug_element *kept = &cursor->elements[cursor->count++];
        *kept = elements[n++];
        if ((kept->flags & PUG_ELEM_PAYLOAD) && !keep_payload(cursor, kept)) {
            cursor->status = PUG_ERR_MEM;
            return PUG_RESP_FATAL_SYS_ERR;
        }
    }
    *taken = n;
    return PUG_RESP_WAIT;
}

/* ---- feeding ---- */

static enum pug_response feed_data(struct pug_cursor *cursor)
{
    const uint64_t left = cursor->config.size - cursor->fed;
    size_t used = 0;
    enum pug_response response =
        pug_tree_data(cursor->tree, cursor->fed, cursor->config.bytes + cursor->fed,
                      left < PIECE ? (size_t)left : PIECE, &used);
    cursor->fed += used;
    if (used == 0 && PUG_RESP_IS_CONT(response))
        cursor->fed = cursor->config.size; /* less than a frame is left */
    return response;
}

/** One operation. */
static void feed(struct pug_cursor *cursor)
{
    enum pug_response response = PUG_RESP_CONT;
    if (cursor->waits) {
        response = pug_tree_flush(cursor->tree);
    } else if (cursor->fed < cursor->config.size) {
        response = feed_data(cursor);
    } else if (!cursor->ended) {
        cursor->ended = true;
        response = pug_tree_end(cursor->tree);
    } else {
        cursor->over = true;
    }
    cursor->waits = PUG_RESP_IS_WAIT(response);
    if (PUG_RESP_IS_FATAL(response) && cursor->status == PUG_OK)
        cursor->status = PUG_ERR_DATA_DECODE_FATAL;
}

/** The next element that is not left out; NULL: `over`, or `status`. */
static struct pug_element *pull(struct pug_cursor *cursor)
{
    for (;;) {
        while (cursor->next < cursor->count) {
            struct pug_element *element = &cursor->elements[cursor->next++];
            if (element->index >= cursor->from)
                return element;
        }
        cursor->next = cursor->count = 0;
        cursor->payload_size = 0;
        if (cursor->over || cursor->status != PUG_OK)
            return NULL;
        feed(cursor);
    }
}

const struct pug_element *pug_cursor_next(struct pug_cursor *cursor)
{
    struct pug_element *element = pull(cursor);
    cursor->walking = false;
    cursor->step_status = PUG_OK;
    if (!element)
        return NULL;
    cursor->at = element->index;
    if (element->flags & PUG_ELEM_PAYLOAD)
        element->payload = cursor->payloads + element->start;
    return element;
}

const struct pug_cursor_step *pug_cursor_step(struct pug_cursor *cursor)
{
    struct pug_cursor_step *step = &cursor->step;
    cursor->step_status = PUG_OK;
    if (!cursor->walking) {
        step->element = pug_cursor_next(cursor);
        step->step = NULL;
        if (!step->element)
            return NULL;
        cursor->walking = cursor->walk && pug_walk_begin(cursor->walk, step->element) == PUG_OK;
        if (!cursor->walking)
            return step;
    }
    step->step = pug_walk_next(cursor->walk);
    if (!step->step || step->step->last)
        cursor->walking = false;
    cursor->step_status = pug_walk_status(cursor->walk);
    return step;
}

enum pug_status pug_cursor_status(const struct pug_cursor *cursor)
{
    if (!cursor)
        return PUG_ERR_INVALID_PARAM_VAL;
    return cursor->status != PUG_OK ? cursor->status : cursor->step_status;
}

uint64_t pug_cursor_at(const struct pug_cursor *cursor)
{
    return cursor->at;
}

/* ---- seeking ---- */

static const struct pug_index *index_of(const struct pug_cursor *cursor)
{
    return cursor->config.index ? cursor->config.index : cursor->own_index;
}

/** A tree that begins at *at, or at the beginning, as the configuration says. */
static enum pug_status start(const struct pug_cursor *cursor, uint64_t offset,
                             struct pug_tree **tree, uint64_t *at)
{
    const struct pug_cursor_config *config = &cursor->config;
    const struct pug_index *index = index_of(cursor);
    *at = 0;
    if (index && offset > 0 && !config->anew &&
        pug_index_reach(index, config->tree, config->bytes, config->size, true, offset, tree, at))
        return PUG_OK;
    *at = 0;
    if (config->anew && index && offset > 0) {
        *at = pug_index_sync_before(index, PUG_INDEX_ANY, offset);
        *at = *at > RUN_UP ? (*at - RUN_UP) & ~(uint64_t)(RUN_UP - 1) : 0;
    }
    return pug_tree_clone(config->tree, NULL, tree);
}

/** Make the index in which marks are searched, if it is absent. */
static enum pug_status need_index(struct pug_cursor *cursor)
{
    const struct pug_cursor_config *config = &cursor->config;
    struct pug_tree *tree = NULL;
    if (index_of(cursor))
        return PUG_OK;
    enum pug_status status = pug_tree_clone(config->tree, NULL, &tree);
    if (status == PUG_OK)
        status = pug_index_build(tree, config->bytes, config->size, &(struct pug_index_options){0},
                                 &cursor->own_index);
    pug_tree_free(tree);
    return status;
}

enum pug_status pug_cursor_seek(struct pug_cursor *cursor, uint64_t offset)
{
    if (!cursor)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_tree *tree = NULL;
    uint64_t at;
    enum pug_status status =
        cursor->config.anew && offset > 0 ? need_index(cursor) : PUG_OK; /* of where to start */
    if (status == PUG_OK)
        status = start(cursor, offset, &tree, &at);
    if (status != PUG_OK)
        return status;
    pug_tree_free(cursor->tree);
    pug_tree_on_elements(tree, take, cursor);
    cursor->tree = tree;
    cursor->fed = at;
    cursor->from = cursor->at = offset;
    cursor->waits = cursor->ended = cursor->over = cursor->walking = false;
    cursor->status = cursor->step_status = PUG_OK;
    cursor->next = cursor->count = 0;
    cursor->payload_size = 0;
    return PUG_OK;
}

static enum pug_status find(struct pug_cursor *cursor, const struct pug_index_query *query,
                            struct pug_index_mark *mark)
{
    struct pug_tree *tree = NULL;
    enum pug_status status = need_index(cursor);
    if (status == PUG_OK)
        status = pug_tree_clone(cursor->config.tree, NULL, &tree);
    if (status == PUG_OK)
        status = pug_index_find(index_of(cursor), tree, cursor->config.bytes, cursor->config.size,
                                query, mark);
    pug_tree_free(tree);
    return status;
}

enum pug_status pug_cursor_seek_mark(struct pug_cursor *cursor, const struct pug_index_query *query,
                                     struct pug_index_mark *mark)
{
    struct pug_index_mark found;
    if (!cursor || !query)
        return PUG_ERR_INVALID_PARAM_VAL;
    enum pug_status status = find(cursor, query, &found);
    if (status == PUG_OK)
        status = pug_cursor_seek(cursor, found.at);
    if (status == PUG_OK && mark)
        *mark = found;
    return status;
}

enum pug_status pug_cursor_forward(struct pug_cursor *cursor, uint32_t source)
{
    if (!cursor)
        return PUG_ERR_INVALID_PARAM_VAL;
    const struct pug_index_query query = {
        .kind = PUG_MARK_SYNC, .source = source, .from = cursor->at + 1, .greatest = UINT64_MAX};
    return pug_cursor_seek_mark(cursor, &query, NULL);
}

enum pug_status pug_cursor_back(struct pug_cursor *cursor, uint32_t source)
{
    if (!cursor)
        return PUG_ERR_INVALID_PARAM_VAL;
    const struct pug_index_query query = {.kind = PUG_MARK_SYNC,
                                          .source = source,
                                          .from = cursor->at,
                                          .backwards = true,
                                          .greatest = UINT64_MAX};
    return pug_cursor_seek_mark(cursor, &query, NULL);
}

/* ---- times ---- */

/** Does one source have times that are differences? An index does not know their sums. */
static bool has_steps(const struct pug_index *index, uint32_t wanted)
{
    struct pug_index_source source;
    for (size_t n = 0; pug_index_source_at(index, n, &source); n++)
        if ((wanted == PUG_INDEX_ANY || wanted == source.id) &&
            source.counts[PUG_MARK_TIME_STEP] > 0)
            return true;
    return false;
}

/**
 * A place before the first element with `time` or a later one: no mark before `mark` has such a
 * time. That element may begin before its mark, but after the source's last one.
 */
static uint64_t place_before(struct pug_cursor *cursor, uint32_t source, uint64_t time)
{
    const struct pug_index *index = index_of(cursor);
    struct pug_index_info info;
    struct pug_index_mark mark;
    if (!index)
        return 0;
    pug_index_info(index, &info);
    if (info.from > 0 || info.indexed < cursor->config.size || has_steps(index, source))
        return 0;
    struct pug_index_query query = {
        .kind = PUG_MARK_TIMESTAMP, .source = source, .least = time, .greatest = UINT64_MAX};
    const enum pug_status status = find(cursor, &query, &mark);
    if (status != PUG_OK)
        return status == PUG_ERR_NOT_FOUND ? info.indexed : 0;
    query.source = mark.source;
    query.from = mark.at;
    query.backwards = true;
    query.least = 0;
    return find(cursor, &query, &mark) == PUG_OK ? mark.at : 0;
}

static bool tells_time(const struct pug_element *element, uint32_t source, uint64_t time)
{
    bool stamped = element->type == PUG_ELEM_TIMESTAMP ||
                   ((element->type == PUG_ELEM_SWTRACE || element->type == PUG_ELEM_BUS_TRANSFER) &&
                    (element->flags & PUG_ELEM_HAS_TS)) ||
                   (element->type == PUG_ELEM_ITMTRACE && element->reason >= PUG_ITM_TS_SYNC);
    return stamped && element->timestamp >= time &&
           (source == PUG_INDEX_ANY || source == element->source);
}

enum pug_status pug_cursor_seek_time(struct pug_cursor *cursor, uint32_t source, uint64_t time)
{
    if (!cursor)
        return PUG_ERR_INVALID_PARAM_VAL;
    enum pug_status status = pug_cursor_seek(cursor, place_before(cursor, source, time));
    const struct pug_element *element;
    while (status == PUG_OK && (element = pug_cursor_next(cursor)))
        if (tells_time(element, source, time))
            return pug_cursor_seek(cursor, element->index);
    if (status == PUG_OK)
        status = cursor->status != PUG_OK ? cursor->status : PUG_ERR_NOT_FOUND;
    return status;
}

/* ---- back to an address ---- */

#define FIRST_PIECE UINT64_C(65536)
#define SOURCES     65536u

/** The last result of a search in a piece. */
struct sought {
    uint64_t address;
    pug_cursor_accept_fn *accept;
    void *context;
    uint64_t *times; /* the last timestamp of each source */
    bool found;
    uint64_t index, nth; /* the nth element of that index */
};

static bool is_sought(const struct sought *sought, const struct pug_element *element)
{
    return element->type == PUG_ELEM_INSTR_RANGE && sought->address >= element->start &&
           sought->address < element->end &&
           (!sought->accept ||
            sought->accept(sought->context, element, sought->times[element->source]));
}

/** Looks through [from, to). */
static enum pug_status look_between(struct pug_cursor *cursor, struct sought *sought, uint64_t from,
                                    uint64_t to)
{
    const struct pug_element *element;
    uint64_t index = UINT64_MAX, nth = 0;
    enum pug_status status = pug_cursor_seek(cursor, from);
    if (status != PUG_OK)
        return status;
    memset(sought->times, 0, SOURCES * sizeof(*sought->times));
    while ((element = pug_cursor_next(cursor)) && element->index < to) {
        nth = element->index == index ? nth + 1 : 0;
        index = element->index;
        if (element->type == PUG_ELEM_TIMESTAMP)
            sought->times[element->source] = element->timestamp;
        if (!is_sought(sought, element))
            continue;
        sought->found = true;
        sought->index = index;
        sought->nth = nth;
    }
    return cursor->status;
}

enum pug_status pug_cursor_back_to(struct pug_cursor *cursor, uint64_t address,
                                   pug_cursor_accept_fn *accept, void *context)
{
    if (!cursor)
        return PUG_ERR_INVALID_PARAM_VAL;
    const uint64_t begin = cursor->at;
    struct sought sought = {.address = address, .accept = accept, .context = context};
    enum pug_status status = PUG_OK;
    sought.times = calloc(SOURCES, sizeof(*sought.times));
    if (!sought.times)
        return PUG_ERR_MEM;
    for (uint64_t piece = FIRST_PIECE, to = begin; status == PUG_OK && !sought.found && to > 0;) {
        const uint64_t from = to > piece ? to - piece : 0;
        status = look_between(cursor, &sought, from, to);
        to = from;
        piece = piece < UINT64_MAX / 2 ? piece * 2 : piece;
    }
    free(sought.times);
    const enum pug_status moved = pug_cursor_seek(cursor, sought.found ? sought.index : begin);
    for (uint64_t n = 0; sought.found && moved == PUG_OK && n < sought.nth; n++)
        (void)pug_cursor_next(cursor);
    if (status == PUG_OK && !sought.found)
        status = PUG_ERR_NOT_FOUND;
    return status == PUG_OK ? moved : status;
}

/* ---- making and freeing ---- */

static bool is_usable(const struct pug_cursor_config *config)
{
    return config && config->tree && (config->bytes || config->size == 0);
}

/** The steps of instructions; without program memory there are none. */
static enum pug_status make_walk(struct pug_cursor *cursor)
{
    const struct pug_image *image = pug_tree_image(cursor->config.tree);
    return image ? pug_walk_new(&(struct pug_walk_config){.image = image}, &cursor->walk) : PUG_OK;
}

enum pug_status pug_cursor_new(const struct pug_cursor_config *config, struct pug_cursor **cursor)
{
    if (!cursor)
        return PUG_ERR_INVALID_PARAM_VAL;
    *cursor = NULL;
    if (!is_usable(config))
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_cursor *made = calloc(1, sizeof(*made));
    if (!made)
        return PUG_ERR_MEM;
    made->config = *config;
    enum pug_status status = make_walk(made);
    if (status == PUG_OK)
        status = pug_cursor_seek(made, 0);
    if (status == PUG_OK)
        *cursor = made;
    else
        pug_cursor_free(made);
    return status;
}

/** Reads a segment into memory, if it is not there anyhow. *copy: for the caller to free. */
static enum pug_status read_segment(const struct pug_capture *capture, size_t segment,
                                    struct pug_cursor_config *config, uint8_t **copy)
{
    const uint64_t size = pug_capture_segment_at(capture, segment)->size;
    enum pug_status status = PUG_OK;
    config->bytes = pug_capture_memory(capture, segment);
    config->size = size;
    if (config->bytes || size == 0)
        return PUG_OK;
    *copy = size < SIZE_MAX ? malloc((size_t)size) : NULL;
    if (!*copy)
        return PUG_ERR_MEM;
    config->size = pug_capture_bytes(capture, segment, 0, *copy, (size_t)size, &status);
    config->bytes = *copy;
    return status;
}

enum pug_status pug_capture_cursor(struct pug_capture *capture, size_t segment,
                                   struct pug_cursor **cursor)
{
    struct pug_cursor_config config = {.tree = NULL};
    struct pug_tree *tree = NULL;
    uint8_t *copy = NULL;
    if (cursor)
        *cursor = NULL;
    if (!capture || !cursor || pug_capture_is_live(capture))
        return PUG_ERR_INVALID_PARAM_VAL;
    if (!pug_capture_segment_at(capture, segment))
        return PUG_ERR_NOT_FOUND;
    enum pug_status status = read_segment(capture, segment, &config, &copy);
    if (status == PUG_OK)
        status = pug_capture_tree(capture, segment, true, NULL, &tree);
    config.tree = tree;
    if (status == PUG_OK)
        status = pug_cursor_new(&config, cursor);
    if (status == PUG_OK) {
        (*cursor)->own_tree = tree;
        (*cursor)->own_bytes = copy;
        return PUG_OK;
    }
    pug_tree_free(tree);
    free(copy);
    return status;
}

enum pug_status pug_capture_walk(const struct pug_origin *origin, struct pug_walk **walk)
{
    if (walk)
        *walk = NULL;
    if (!origin || !walk)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (!origin->space)
        return PUG_ERR_NOT_FOUND;
    return pug_walk_new(&(struct pug_walk_config){.image = pug_address_space_image(origin->space)},
                        walk);
}

void pug_cursor_free(struct pug_cursor *cursor)
{
    if (!cursor)
        return;
    pug_tree_free(cursor->tree);
    pug_walk_free(cursor->walk);
    pug_index_free(cursor->own_index);
    pug_tree_free(cursor->own_tree);
    free(cursor->own_bytes);
    free(cursor->payloads);
    free(cursor);
}
