// SPDX-License-Identifier: MIT
/** @file One block through a tree: its elements into a part, its messages kept. */
#include "jobs/jobs.h"

#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

static char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

/** A message for which there is no memory is lost. */
static void keep_record(void *context, const struct pug_log_record *record)
{
    struct jobs_lane *lane = context;
    if (!lane->block)
        return;
    struct jobs_records *records = &lane->block->records;
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

void jobs_records_free(struct jobs_records *records)
{
    for (size_t i = 0; i < records->count; i++) {
        free((void *)(uintptr_t)records->items[i].component);
        free((void *)(uintptr_t)records->items[i].text);
    }
    free(records->items);
    *records = (struct jobs_records){0};
}

/* ---- a lane ---- */

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    const struct jobs_lane *lane = context;
    *taken = count;
    if (lane->block && lane->block->part)
        lane->parts->elements(lane->block->part, elements, count);
    return PUG_RESP_CONT;
}

bool jobs_lane_open(struct jobs_lane *lane, const struct pug_tree *tree,
                    const struct pug_parts *parts, unsigned number)
{
    *lane = (struct jobs_lane){.number = number, .parts = parts};
    lane->log = pug_log_new(PUG_SEV_INFO);
    if (!lane->log || pug_tree_clone(tree, lane->log, &lane->tree) != PUG_OK)
        return false;
    pug_log_set_sink(lane->log, keep_record, lane);
    pug_tree_on_elements(lane->tree, on_elements, lane);
    return true;
}

void jobs_lane_close(struct jobs_lane *lane)
{
    pug_tree_free(lane->tree);
    pug_log_free(lane->log);
}

/* ---- a block ---- */

void jobs_block_decode(struct jobs_lane *lane, const struct jobs_state *jobs, size_t number,
                       struct jobs_block *block)
{
    uint64_t at = jobs_block_start(jobs, number);
    const uint64_t end = jobs_block_start(jobs, number + 1);
    *block = (struct jobs_block){.part = lane->parts->begin(lane->parts->context, lane->number)};
    lane->block = block;
    lane->used = true;
    block->response = pug_tree_feed(lane->tree, jobs->bytes, &at, end);
    block->at = at;
    block->has_state =
        PUG_RESP_IS_CONT(block->response) && at == end && pug_tree_state(lane->tree, &block->state);
    if (number + 1 == jobs->blocks && PUG_RESP_IS_CONT(block->response))
        block->response = pug_tree_end(lane->tree);
    lane->block = NULL;
}

void jobs_block_free(struct jobs_block *block, const struct pug_parts *parts)
{
    if (block->part)
        parts->drop(block->part);
    block->part = NULL;
    block->has_state = false;
    jobs_records_free(&block->records);
    pug_state_free(&block->state);
}
