// SPDX-License-Identifier: MIT
/** @file One block through a tree: its elements into a part, its messages kept. */
#include "jobs/decode.h"
#include "tree/tree_internal.h"

#include <stdlib.h>
#include <string.h>

/** What a lane has beside its tree. */
struct desk {
    struct pug_log *log;
    const struct pug_parts *parts;
    struct jobs_decoded *product; /* being made */
};

/* ---- messages ---- */

static char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

/** A message for which there is no memory is lost. */
static void keep_record(void *context, const struct pug_log_record *record)
{
    const struct desk *desk = context;
    if (!desk->product)
        return;
    struct jobs_records *records = &desk->product->records;
    if (records->count == records->room) {
        size_t room = records->room * 2 + 4;
        struct pug_log_record *grown = realloc(records->items, room * sizeof(*grown));
        if (!grown)
            return;
        records->items = grown;
        records->room = room;
    }
    struct pug_log_record *copy = &records->items[records->count++];
    *copy = *record;
    copy->component = copy_text(record->component);
    copy->text = copy_text(record->text);
}

static void free_records(struct jobs_records *records)
{
    for (size_t i = 0; i < records->count; i++) {
        free((void *)(uintptr_t)records->items[i].component);
        free((void *)(uintptr_t)records->items[i].text);
    }
    free(records->items);
}

/* ---- lanes ---- */

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    const struct desk *desk = context;
    *taken = count;
    if (desk->product)
        desk->parts->elements(desk->product->part, elements, count);
    return PUG_RESP_CONT;
}

static bool open_lane(void *context, struct jobs_lane *lane)
{
    const struct jobs_decoding *decoding = context;
    struct desk *desk = lane->desk = calloc(1, sizeof(*desk));
    if (!desk || !(desk->log = pug_log_new(PUG_SEV_INFO)) ||
        pug_tree_clone(decoding->tree, desk->log, &lane->tree) != PUG_OK)
        return false;
    desk->parts = decoding->parts;
    pug_log_set_sink(desk->log, keep_record, desk);
    pug_tree_on_elements(lane->tree, on_elements, desk);
    return true;
}

static void close_lane(void *context, struct jobs_lane *lane)
{
    struct desk *desk = lane->desk;
    (void)context;
    pug_tree_free(lane->tree);
    if (desk)
        pug_log_free(desk->log);
    free(desk);
}

/* ---- blocks ---- */

static void drop_decoded(void *context, void *product)
{
    const struct jobs_decoding *decoding = context;
    struct jobs_decoded *decoded = product;
    if (decoded->part)
        decoding->parts->drop(decoded->part);
    free_records(&decoded->records);
    free(decoded);
}

static struct jobs_decoded *new_decoded(const struct jobs_decoding *decoding, unsigned worker)
{
    struct jobs_decoded *decoded = calloc(1, sizeof(*decoded));
    if (decoded && !(decoded->part = decoding->parts->begin(decoding->parts->context, worker))) {
        free(decoded);
        return NULL;
    }
    return decoded;
}

static void read_block(void *context, struct jobs_lane *lane, uint64_t end,
                       struct jobs_block *block)
{
    const struct jobs_decoding *decoding = context;
    struct desk *desk = lane->desk;
    block->product = desk->product = new_decoded(decoding, lane->number);
    jobs_feed(lane, decoding->bytes, end, block);
    if (end == decoding->size && PUG_RESP_IS_CONT(block->response))
        block->response = pug_tree_end(lane->tree);
    desk->product = NULL;
}

static bool take_block(void *context, struct jobs_block *block)
{
    struct jobs_decoding *decoding = context;
    const struct pug_parts *parts = decoding->parts;
    const struct pug_jobs *config = decoding->config;
    struct jobs_decoded *decoded = block->product;
    struct pug_jobs_result *result = decoding->result;
    for (size_t i = 0; i < decoded->records.count; i++)
        pug_log_put(decoding->tree->log, &decoded->records.items[i]);
    result->at = block->at;
    result->response = block->response;
    result->stopped = !parts->take(parts->context, decoded->part) ||
                      (config->progress && !config->progress(config->progress_context, block->at));
    decoded->part = NULL;
    drop_decoded(decoding, decoded);
    return !result->stopped;
}

struct jobs_client jobs_decoder(struct jobs_decoding *decoding)
{
    return (struct jobs_client){.context = decoding,
                                .open = open_lane,
                                .close = close_lane,
                                .read = read_block,
                                .take = take_block,
                                .drop = drop_decoded};
}
