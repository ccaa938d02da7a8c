// SPDX-License-Identifier: MIT
/** @file Decoding: one segment after the other, each on all threads or many at once. */
#include "capture/decode.h"

#include "capture/named.h"
#include "counts/counts.h"
#include "pugmark/author/transport.h"
#include "schedule/peers.h"

#include <stdlib.h>
#include <string.h>

/* ---- the selection ---- */

static bool has_name(const char *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return count == 0;
}

static int by_number(const void *left, const void *right)
{
    const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

bool pug_capture_choose_tasks(struct pug_capture_decoding *decoding)
{
    const struct pug_capture_selection *selection = decoding->config->selection;
    const struct pug_capture_task *tasks = pug_capture_tasks(decoding->capture);
    const size_t count = decoding->capture->tasks.count;
    if (!selection || selection->pid_count + selection->tid_count + selection->comm_count == 0)
        return true;
    decoding->tasks = calloc(count + 1, sizeof(*decoding->tasks));
    decoding->tids = calloc(count + 1, sizeof(*decoding->tids));
    if (!decoding->tasks || !decoding->tids)
        return false;
    for (size_t i = 0; i < count; i++) {
        decoding->tasks[i] =
            pug_capture_is_listed(selection->pids, selection->pid_count, tasks[i].pid) &&
            pug_capture_is_listed(selection->tids, selection->tid_count, tasks[i].tid) &&
            has_name(selection->comms, selection->comm_count, tasks[i].comm);
        if (decoding->tasks[i])
            decoding->tids[decoding->tid_count++] = tasks[i].tid;
    }
    qsort(decoding->tids, decoding->tid_count, sizeof(*decoding->tids), by_number);
    return true;
}

void pug_capture_forget_tasks(struct pug_capture_decoding *decoding)
{
    free(decoding->tasks);
    free(decoding->tids);
}

bool pug_capture_may_choose(const struct pug_capture_decoding *decoding, uint32_t segment)
{
    const struct pug_capture *capture = decoding->capture;
    const struct pug_capture_buffer *buffer =
        &pug_capture_buffers(capture)[pug_capture_segments(capture)[segment].buffer];
    return !decoding->tids || buffer->tid < 0 ||
           bsearch(&buffer->tid, decoding->tids, decoding->tid_count, sizeof(*decoding->tids),
                   by_number) != NULL;
}

bool pug_capture_counts(const struct pug_capture_decode *config)
{
    const struct pug_capture_selection *selection = config->selection;
    if (!config->counted || config->by_time || !selection)
        return config->counted && !config->by_time;
    return selection->pid_count + selection->tid_count + selection->comm_count +
                   selection->cpu_count + selection->object_count ==
               0 &&
           !selection->has_from && !selection->has_to;
}

static bool has_source(const struct pug_capture_decoding *decoding, uint32_t segment, uint16_t id)
{
    const struct pug_capture *capture = decoding->capture;
    const struct pug_capture_selection *selection = decoding->config->selection;
    bool listed = selection->source_count == 0;
    for (size_t i = 0; i < selection->source_count; i++)
        listed |= selection->sources[i] == id;
    const int32_t cpu = listed && selection->cpu_count > 0 && capture->ops->cpu
                            ? capture->ops->cpu(capture, segment, id)
                            : PUG_NO_CPU;
    return listed &&
           (cpu == PUG_NO_CPU || pug_capture_is_listed(selection->cpus, selection->cpu_count, cpu));
}

bool pug_capture_choose_sources(const struct pug_capture_decoding *decoding, uint32_t segment,
                                struct pug_tree *tree)
{
    const struct pug_capture_selection *selection = decoding->config->selection;
    const struct pug_source *source;
    bool any = false;
    if (!selection || selection->source_count + selection->cpu_count == 0)
        return true;
    const bool single = pug_tree_transport(tree)->single;
    for (size_t n = 0; (source = pug_tree_source_at(tree, n)) != NULL; n++) {
        const bool chosen = has_source(decoding, segment, pug_source_id(source));
        any |= chosen;
        if (!single)
            pug_tree_enable(tree, pug_source_slot(source), chosen);
    }
    return any;
}

struct pug_counts *pug_capture_new_counts(const struct pug_capture_decoding *decoding)
{
    return decoding->config->bare ? pug_counts_new_bare() : pug_counts_new();
}

struct pug_log *pug_capture_decode_log(const struct pug_capture_decoding *decoding)
{
    return decoding->config->log ? decoding->config->log : decoding->capture->log;
}

bool pug_capture_goes_on(const struct pug_capture_decoding *decoding, uint64_t done)
{
    const struct pug_capture_decode *config = decoding->config;
    return !config->progress || config->progress(config->progress_context, decoding->done + done);
}

/* ---- bytes ---- */

bool pug_capture_feed(struct pug_tree *tree, uint64_t index, const uint8_t *bytes, size_t size,
                      size_t *used)
{
    enum pug_response response = PUG_RESP_CONT;
    size_t step = 1;
    for (*used = 0; *used < size && step > 0; *used += step) {
        response = pug_tree_data(tree, index + *used, bytes + *used, size - *used, &step);
        if (PUG_RESP_IS_FATAL(response))
            break;
    }
    return !PUG_RESP_IS_FATAL(response);
}

void pug_capture_say_unread(const struct pug_capture *capture, struct pug_log *log, uint64_t index,
                            enum pug_status status)
{
    pug_log_put(log, &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                              .code = status,
                                              .index = index,
                                              .source = PUG_NO_SOURCE,
                                              .component = "capture",
                                              .text = capture->path});
}

/* ---- a segment in memory, on all threads ---- */

struct whole_part {
    struct pug_piece own; /* first: it is the way from a piece to its part */
    struct pug_piece *piece;
    struct pug_attribution *attribution;
    void *part;
    struct pug_counts *counts; /* NULL: ranges are not counted */
};

static void free_part(struct whole_part *part)
{
    pug_counts_free(part->counts);
    free(part);
}

static struct whole_part *wrap(struct pug_attribution *attribution, void *part)
{
    struct whole_part *whole = part ? calloc(1, sizeof(*whole)) : NULL;
    if (!whole) {
        if (part)
            attribution->decoding->config->drop(part);
        return NULL;
    }
    whole->attribution = attribution;
    whole->part = part;
    return whole;
}

static bool emit(struct pug_piece *piece, void *chunk, size_t size)
{
    const struct whole_part *part = (const struct whole_part *)piece;
    return pug_piece_emit(part->piece, wrap(part->attribution, chunk), size);
}

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    struct pug_capture_decoding *decoding = context;
    const struct pug_capture_decode *config = decoding->config;
    struct whole_part *part =
        wrap(&decoding->attributions[worker], config->begin(config->context, worker));
    if (part && config->passage) {
        part->own.emit = emit;
        part->piece = piece;
        config->passage(part->part, &part->own);
    }
    if (!part || !decoding->counts)
        return part;
    part->counts = pug_capture_new_counts(decoding);
    if (part->counts)
        return part;
    config->drop(part->part);
    free_part(part);
    return NULL;
}

static struct pug_counts *counts_of(void *context)
{
    const struct whole_part *part = context;
    return part->counts;
}

static void elements(void *context, const struct pug_origin *origin,
                     const struct pug_element *given, size_t count)
{
    struct whole_part *part = context;
    (void)origin;
    pug_attribution_elements(part->attribution, part->part, given, count);
}

/** The first part's counts are taken over: often there is only one. */
static void take_counts(struct pug_capture_decoding *decoding, struct whole_part *part)
{
    if (!part->counts)
        return;
    pug_attribution_counts(part->attribution, part->counts);
    if (decoding->counted) {
        pug_counts_append(decoding->counted, part->counts);
    } else {
        decoding->counted = part->counts;
        part->counts = NULL;
    }
}

static bool take(void *context, void *taken)
{
    struct pug_capture_decoding *decoding = context;
    struct whole_part *part = taken;
    void *own = part->part;
    take_counts(decoding, part);
    free_part(part);
    return decoding->config->take(decoding->config->context, own);
}

static void drop(void *dropped)
{
    struct whole_part *part = dropped;
    part->attribution->decoding->config->drop(part->part);
    free_part(part);
}

/* ---- other processes ---- */

static void pack(const void *context, struct pug_state *bytes)
{
    const struct whole_part *part = context;
    pug_state_number(bytes, part->counts != NULL);
    if (part->counts)
        pug_counts_pack(part->counts, bytes);
    part->attribution->decoding->config->travel->pack(part->part, bytes);
}

static void *unpack(void *context, const uint8_t *bytes, size_t size)
{
    struct pug_capture_decoding *decoding = context;
    const struct pug_capture_decode *config = decoding->config;
    struct pug_bytes left = pug_bytes_of(bytes, size);
    const bool counts = pug_bytes_take_64(&left);
    struct pug_counts *counted = counts ? pug_counts_unpack(&left) : NULL;
    struct whole_part *part =
        wrap(decoding->attributions,
             config->travel->unpack(config->context, left.at, pug_bytes_left(&left)));
    if (part && (counted || !counts)) {
        part->counts = counted;
        return part;
    }
    pug_counts_free(counted);
    if (part)
        drop(part);
    return NULL;
}

static bool fold(void *context, void *taken)
{
    struct whole_part *part = context, *later = taken;
    if (part->counts)
        pug_counts_append(part->counts, later->counts);
    const bool good = part->attribution->decoding->config->travel->fold(part->part, later->part);
    free_part(later);
    return good;
}

static bool whole_progress(void *context, uint64_t done)
{
    return pug_capture_goes_on(context, done);
}

static enum pug_status decode_tree(struct pug_capture_decoding *decoding, uint32_t segment,
                                   struct pug_tree *tree)
{
    const struct pug_capture *capture = decoding->capture;
    const struct pug_capture_segment *place = &pug_capture_segments(capture)[segment];
    const struct pug_travel *travel = decoding->config->travel;
    const struct pug_consumer consumer = {.context = decoding,
                                          .begin = begin,
                                          .elements = elements,
                                          .take = take,
                                          .drop = drop,
                                          .counts = decoding->counts ? counts_of : NULL,
                                          .pack = travel ? pack : NULL,
                                          .unpack = travel ? unpack : NULL,
                                          .fold = travel && travel->fold ? fold : NULL};
    const struct pug_jobs jobs = {.threads = decoding->threads,
                                  .consumers = &consumer,
                                  .consumer_count = 1,
                                  .piece = decoding->config->piece,
                                  .progress = whole_progress,
                                  .progress_context = decoding,
                                  .peers = capture->options.peers};
    struct pug_jobs_result result;
    for (unsigned i = 0; i < decoding->threads; i++) {
        enum pug_status status = pug_attribution_begin(&decoding->attributions[i], segment, tree);
        if (status != PUG_OK)
            return status;
    }
    enum pug_status status = pug_tree_decode(tree, &jobs, capture->ops->memory(capture, segment),
                                             (size_t)place->size, &result);
    if (decoding->counted)
        pug_counts_end(decoding->counted);
    decoding->result->bytes += result.at;
    decoding->result->ended |= result.stopped;
    if (result.threads > decoding->result->threads)
        decoding->result->threads = result.threads;
    if (PUG_RESP_IS_FATAL(result.response))
        pug_capture_note_fatal(decoding, place->offset + result.at);
    return status;
}

static enum pug_status decode_whole(struct pug_capture_decoding *decoding, uint32_t segment)
{
    struct pug_tree *tree;
    enum pug_status status =
        pug_capture_tree(decoding->capture, segment, true, pug_capture_decode_log(decoding), &tree);
    if (status != PUG_OK)
        return status;
    pug_tree_any_order(tree, pug_capture_any_order(decoding));
    if (pug_capture_choose_sources(decoding, segment, tree))
        status = decode_tree(decoding, segment, tree);
    pug_tree_free(tree);
    return status;
}

/* ---- all segments ---- */

static bool is_chosen(const struct pug_capture *capture, uint32_t segment)
{
    return pug_capture_buffers(capture)[pug_capture_segments(capture)[segment].buffer].chosen;
}

/** Buffers that cannot be decoded are left out, unless that is all of them. */
static enum pug_status decode_each(struct pug_capture_decoding *decoding)
{
    const struct pug_capture *capture = decoding->capture;
    enum pug_status worst = PUG_OK;
    bool any = false;
    for (uint32_t i = 0; i < capture->segments.count && !decoding->result->ended; i++) {
        if (!is_chosen(capture, i))
            continue;
        enum pug_status status = decode_whole(decoding, i);
        any |= status == PUG_OK;
        if (status == PUG_ERR_MEM)
            return status;
        worst = status != PUG_OK ? status : worst;
        decoding->done += pug_capture_segments(capture)[i].size;
    }
    return any ? PUG_OK : worst;
}

static void give_counts(const struct pug_capture_decoding *decoding)
{
    const struct pug_capture_decode *config = decoding->config;
    if (decoding->counted)
        config->counted(config->context, decoding->counted);
    for (unsigned i = 0; i < decoding->threads; i++)
        if (decoding->attributions[i].counts)
            config->counted(config->context, decoding->attributions[i].counts);
}

/* ---- what other processes counted ---- */

/** Nothing goes over from one's counts to those of the next. */
static void add_counts(struct pug_counts *all, struct pug_counts *counts)
{
    if (!counts)
        return;
    pug_counts_end(counts);
    pug_counts_append(all, counts);
}

static void send_counts(struct pug_capture *capture, unsigned to, const struct pug_counts *counts)
{
    struct pug_peers *peers = capture->options.peers;
    struct pug_named named = {.failed = false};
    struct pug_state bytes = {0};
    pug_named_note_counts(&named, counts);
    pug_named_pack(&named, capture, &bytes);
    pug_counts_pack(counts, &bytes);
    if (bytes.failed)
        pug_peers_fail(peers, "out of memory");
    pug_peers_send(peers, to, PUG_PEERS_DATA, bytes.bytes, bytes.size);
    pug_state_free(&bytes);
}

static void receive_counts(struct pug_capture *capture, unsigned from, struct pug_counts *all)
{
    struct pug_peers *peers = capture->options.peers;
    struct pug_peers_message message;
    struct pug_named_known known;
    (void)pug_peers_receive(peers, from, PUG_PEERS_DATA, true, &message);
    struct pug_bytes bytes = pug_bytes_of(message.bytes, message.size);
    const bool named = pug_named_unpack(&known, capture, &bytes);
    struct pug_counts *counts = named ? pug_counts_unpack(&bytes) : NULL;
    if (!counts)
        pug_peers_fail(peers, "out of memory");
    pug_named_renumber(&known, counts);
    add_counts(all, counts);
    pug_counts_free(counts);
    free(known.spaces);
    free(message.bytes);
}

/** All counts go pairwise to number 0, which gives them as if it had made them. */
static void reduce_counts(const struct pug_capture_decoding *decoding)
{
    struct pug_peers *peers = decoding->capture->options.peers;
    struct pug_counts *all = pug_counts_new();
    if (!all)
        pug_peers_fail(peers, "out of memory");
    pug_peers_begin(peers);
    add_counts(all, decoding->counted);
    for (unsigned i = 0; i < decoding->threads; i++)
        add_counts(all, decoding->attributions[i].counts);
    unsigned bit = 1;
    for (; bit < peers->count && !(peers->number & bit); bit *= 2)
        if (peers->number + bit < peers->count)
            receive_counts(decoding->capture, peers->number + bit, all);
    if (peers->number > 0)
        send_counts(decoding->capture, peers->number - bit, all);
    else
        decoding->config->counted(decoding->config->context, all);
    pug_counts_free(all);
}

/** Segments of a part of it: from *first on, up to where the result is. */
static uint32_t cut(struct pug_capture_decoding *decoding, uint32_t *first)
{
    const struct pug_capture *capture = decoding->capture;
    const struct pug_capture_decode *config = decoding->config;
    const struct pug_capture_segment *segments = pug_capture_segments(capture);
    uint64_t at = 0;
    uint32_t end = 0;
    *first = UINT32_MAX;
    decoding->cut = true;
    for (uint32_t i = 0; i < capture->segments.count; i++) {
        const uint64_t size = is_chosen(capture, i) ? segments[i].size : 0;
        if (size > 0 && at + size > config->from && (!config->to || at < config->to)) {
            if (*first == UINT32_MAX) {
                *first = i;
                decoding->skipped = config->from > at ? (config->from - at) & ~(uint64_t)15 : 0;
            }
            end = i + 1;
            decoding->last = config->to && config->to - at < size ? config->to - at : size;
        }
        at += size;
    }
    return end;
}

static enum pug_status decode_cut(struct pug_capture_decoding *decoding)
{
    uint32_t first;
    const uint32_t end = cut(decoding, &first);
    return first >= end ? PUG_OK : pug_capture_pool(decoding, first, end);
}

static enum pug_status decode_all(struct pug_capture_decoding *decoding)
{
    const struct pug_capture *capture = decoding->capture;
    const struct pug_capture_selection *selection = decoding->config->selection;
    if (selection && (selection->has_from || selection->has_to))
        (void)pug_capture_memory(capture, 0); /* timestamps stand behind what they date */
    if (decoding->config->from > 0 || decoding->config->to > 0) {
        (void)pug_capture_memory(capture, 0); /* a stream has to be known for that */
        return decode_cut(decoding);
    }
    if (decoding->config->by_time && pug_capture_has_sides(capture))
        return pug_capture_by_time(decoding);
    if (capture->ops->memory && !capture->live)
        return decode_each(decoding);
    return pug_capture_pool(decoding, 0, (uint32_t)capture->segments.count);
}

/** All processes know how it went. */
static void share_result(const struct pug_capture_decoding *decoding, enum pug_status *status)
{
    struct pug_peers *peers = decoding->capture->options.peers;
    if (!pug_peers_any(peers))
        return;
    pug_peers_begin(peers);
    pug_peers_share(peers, decoding->result, sizeof(*decoding->result));
    pug_peers_share(peers, status, sizeof(*status));
}

static bool is_whole(const struct pug_capture_decode *config)
{
    return config->begin && config->elements && config->take && config->drop &&
           pug_travel_is_whole(config->travel);
}

/* More threads than this are a mistake. */
#define MOST_THREADS 1024u

enum pug_status pug_capture_decode(struct pug_capture *capture,
                                   const struct pug_capture_decode *config,
                                   struct pug_capture_result *result)
{
    return pug_capture_decode_beside(capture, config, NULL, result);
}

enum pug_status pug_capture_decode_beside(struct pug_capture *capture,
                                          const struct pug_capture_decode *config,
                                          pug_capture_left_out_fn *left_out,
                                          struct pug_capture_result *result)
{
    if (!capture || !config || !result || !is_whole(config))
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_capture_decoding decoding = {.capture = capture,
                                            .config = config,
                                            .left_out = left_out,
                                            .result = result,
                                            .threads = config->threads ? config->threads
                                                                       : pug_jobs_processors()};
    if (decoding.threads > MOST_THREADS)
        decoding.threads = MOST_THREADS;
    *result = (struct pug_capture_result){0};
    decoding.attributions = calloc(decoding.threads, sizeof(*decoding.attributions));
    decoding.counts = pug_capture_counts(config);
    bool good = decoding.attributions && pug_capture_choose_tasks(&decoding);
    unsigned opened = 0;
    for (; good && opened < decoding.threads; opened++)
        good = pug_attribution_open(&decoding.attributions[opened], &decoding);
    enum pug_status status = good ? decode_all(&decoding) : PUG_ERR_MEM;
    if (decoding.counts && pug_peers_any(capture->options.peers))
        reduce_counts(&decoding); /* also of who could decode nothing */
    else if (status == PUG_OK)
        give_counts(&decoding);
    share_result(&decoding, &status);
    pug_counts_free(decoding.counted);
    for (unsigned i = 0; i < opened; i++)
        pug_attribution_close(&decoding.attributions[i]);
    free(decoding.attributions);
    pug_capture_forget_tasks(&decoding);
    return status;
}
