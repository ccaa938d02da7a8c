// SPDX-License-Identifier: MIT
/** @file Decoding a capture: by the caller's thread alone, or by workers whose blocks it takes. */
#include "jobs/decode.h"
#include "tree/tree_internal.h"

#include <unistd.h>

#define BLOCK_SIZE 4096u
#define GROWTH     8u
#define PIECE_SIZE (512u << 10)
/* Elements that are kept take much more room than the trace. */
#define PIECE_SIZE_STORED (128u << 10)
/* What a thread decodes alone is handed on in pieces that stay in the cache. */
#define ALONE_SIZE 65536u

/* ---- one thread ---- */

struct alone {
    const struct pug_parts *parts;
    void *part;
};

static enum pug_response to_part(void *context, const struct pug_element *elements, size_t count,
                                 size_t *taken)
{
    struct alone *alone = context;
    *taken = count;
    alone->parts->elements(alone->part, elements, count);
    return PUG_RESP_CONT;
}

/** A consumer that waits gets the rest at once. */
static enum pug_response insist(struct pug_tree *tree, enum pug_response response)
{
    while (PUG_RESP_IS_WAIT(response))
        response = pug_tree_flush(tree);
    return response;
}

/** A piece of the capture and, behind the last one, the end of trace. */
static enum pug_response decode_piece(struct pug_tree *tree, const uint8_t *bytes, size_t size,
                                      uint64_t *at)
{
    enum pug_response response = PUG_RESP_CONT;
    uint64_t end = size - *at > ALONE_SIZE ? *at + ALONE_SIZE : size;
    size_t used = 1;
    while (*at < end && used > 0 && PUG_RESP_IS_CONT(response)) {
        used = 0;
        response = insist(tree, pug_tree_data(tree, *at, bytes + *at, (size_t)(end - *at), &used));
        *at += used;
    }
    if (*at == size && PUG_RESP_IS_CONT(response))
        response = insist(tree, pug_tree_end(tree));
    return response;
}

static enum pug_status decode_alone(struct pug_tree *tree, const struct pug_jobs *jobs,
                                    const uint8_t *bytes, size_t size,
                                    struct pug_jobs_result *result)
{
    const struct pug_parts *parts = jobs->parts;
    struct alone alone = {.parts = parts};
    pug_elements_fn *const consumer = tree->on_elements;
    void *const consumer_context = tree->elements_context;
    enum pug_status status = PUG_OK;
    bool more = true;
    if (parts)
        pug_tree_on_elements(tree, to_part, &alone);
    while (more && status == PUG_OK) {
        if (parts && !(alone.part = parts->begin(parts->context, 0))) {
            status = PUG_ERR_MEM;
            break;
        }
        uint64_t before = result->at;
        result->response = decode_piece(tree, bytes, size, &result->at);
        more = result->at < size && result->at > before && PUG_RESP_IS_CONT(result->response);
        result->stopped = (parts && !parts->take(parts->context, alone.part)) ||
                          (jobs->progress && !jobs->progress(jobs->progress_context, result->at));
        more &= !result->stopped;
    }
    pug_tree_on_elements(tree, consumer, consumer_context);
    return status;
}

/* ---- several ---- */

unsigned pug_jobs_processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}

static bool decode_together(struct jobs_decoding *decoding, enum pug_status *status)
{
    const struct pug_jobs *config = decoding->config;
    const struct jobs_client client = jobs_decoder(decoding);
    const struct jobs_plan plan = {
        .tree = decoding->tree,
        .threads = config->threads ? config->threads : pug_jobs_processors(),
        .end = decoding->size,
        .block = config->block ? config->block : BLOCK_SIZE,
        .growth = GROWTH,
        .piece = config->piece   ? config->piece
                 : config->parts ? PIECE_SIZE
                                 : PIECE_SIZE_STORED,
    };
    struct jobs_outcome outcome;
    if (!jobs_together(&plan, &client, &outcome))
        return false;
    decoding->result->threads = outcome.threads;
    decoding->result->repeated = outcome.repeated;
    *status = outcome.failed ? PUG_ERR_MEM : PUG_OK;
    return true;
}

enum pug_status pug_tree_decode(struct pug_tree *tree, const struct pug_jobs *config,
                                const uint8_t *bytes, size_t size, struct pug_jobs_result *result)
{
    struct jobs_pool pool = {.tree = tree, .lock = PTHREAD_MUTEX_INITIALIZER};
    const struct pug_parts stored = jobs_stored(&pool);
    struct jobs_decoding decoding = {
        .tree = tree,
        .config = config,
        .parts = config->parts ? config->parts : &stored,
        .bytes = bytes,
        .size = size,
        .result = result,
    };
    enum pug_status status = PUG_OK;
    *result = (struct pug_jobs_result){.threads = 1};
    if (!decode_together(&decoding, &status))
        status = decode_alone(tree, config, bytes, size, result);
    jobs_pool_free(&pool);
    return status;
}
