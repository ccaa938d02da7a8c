// SPDX-License-Identifier: MIT
/**
 * @file Many segments, each from reset, decoded by several threads and taken in their order.
 *
 * A worker claims the next run of segments, one or some short ones, and decodes it in pieces,
 * which wait in the run's queue until the caller's thread has taken all before them. Small pieces
 * are handed over together. Queues are short: who is ahead waits.
 */
#include "capture/pool.h"
#include "counts/counts.h"
#include "tree/embed.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_SIZE ((size_t)64 << 10)
/* Short segments are a run, up to so many bytes. */
#define RUN_SIZE ((uint64_t)32 << 10)
/* Pieces with so many elements and instructions are handed over. */
#define ENOUGH 8192u
/* Handings over of one run that wait for the runs before it. */
#define QUEUE 4u
/* Runs that are claimed ahead of the caller, for each thread. */
#define AHEAD 4u

struct worker {
    struct pug_piece passage; /* first: it is the way from a passage to its worker */
    struct pool *pool;
    struct pug_attribution *attribution;
    unsigned number;
    uint8_t *bytes;
    struct piece *piece;  /* being filled */
    struct pieces pieces; /* to be handed over … */
    uint64_t amount;      /* … with so many elements and instructions, if it is not ENOUGH */
    uint32_t n;           /* of its run */
    bool unwanted;        /* nobody wants the run any more … */
    bool starved;         /* … since there was no memory */
    uint64_t read;        /* bytes */
    pthread_t thread;
    bool running;
    /* Was any tree made, or why not? */
    bool any;
    enum pug_status worst;
};

static struct job *job_of(const struct pool *pool, uint32_t n)
{
    return &pool->jobs[n % pool->window];
}

/* ---- pieces ---- */

static void keep_record(void *context, const struct pug_log_record *record)
{
    struct worker *worker = context;
    if (worker->piece)
        pug_log_records_keep(&worker->piece->records, record);
}

static void note_amount(struct worker *worker, const struct pug_element *elements, size_t count)
{
    for (size_t i = 0; i < count && worker->amount < ENOUGH; i++)
        worker->amount += elements[i].type == PUG_ELEM_INSTR_RANGE ? 1u + elements[i].count : 1u;
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct worker *worker = context;
    *taken = count;
    note_amount(worker, elements, count);
    if (worker->piece && !worker->unwanted)
        pug_attribution_elements(worker->attribution, worker->piece->part, elements, count);
    return worker->unwanted ? PUG_RESP_FATAL_SYS_ERR : PUG_RESP_CONT;
}

static struct piece *piece_new(struct worker *worker)
{
    const struct pug_capture_decode *config = worker->pool->decoding->config;
    struct piece *piece = calloc(1, sizeof(*piece));
    if (!piece || !(piece->part = config->begin(config->context, worker->number))) {
        free(piece);
        return NULL;
    }
    if (config->passage)
        config->passage(piece->part, &worker->passage);
    return piece;
}

void pug_pool_drop(const struct pool *pool, struct piece *piece)
{
    if (piece->part)
        pool->decoding->config->drop(piece->part);
    pug_log_records_free(&piece->records);
    free(piece);
}

static void pieces_add(struct pieces *pieces, struct piece *piece)
{
    *pieces->last = piece;
    pieces->last = &piece->next;
}

/** All pieces of one list to the end of another, if any. */
static void pieces_move(struct pieces *from, struct pieces *to)
{
    if (to && from->first) {
        *to->last = from->first;
        to->last = from->last;
    }
    *from = (struct pieces){.last = &from->first};
}

static void pieces_drop(const struct pool *pool, struct pieces *pieces)
{
    for (struct piece *piece = pieces->first, *next; piece; piece = next) {
        next = piece->next;
        pug_pool_drop(pool, piece);
    }
    *pieces = (struct pieces){.last = &pieces->first};
}

/** Keep a piece for another process; false: no memory. */
static bool piece_keep(struct pool *pool, struct piece *piece)
{
    struct pug_jobs_block block = {.product = piece};
    pool->failed |= !pug_products_block(pool->products, &block);
    return !pool->failed;
}

bool pug_pool_take(struct pool *pool, struct piece *piece)
{
    struct pug_capture_decoding *decoding = pool->decoding;
    const struct pug_capture_decode *config = decoding->config;
    if (pool->products)
        return piece_keep(pool, piece);
    pug_log_records_give(&piece->records, pug_capture_decode_log(decoding));
    bool more = config->take(config->context, piece->part);
    piece->part = NULL;
    decoding->done += piece->bytes;
    decoding->result->bytes += piece->bytes;
    if (piece->fatal)
        pug_capture_note_fatal(decoding, piece->at);
    pug_pool_drop(pool, piece);
    more = more && pug_capture_goes_on(decoding, 0);
    decoding->result->ended |= !more;
    return more;
}

/** Hand over what a worker has made; false: stop. */
static bool hand_over(struct worker *worker)
{
    struct pool *pool = worker->pool;
    struct job *job = job_of(pool, worker->n);
    worker->amount = 0;
    if (!worker->pieces.first)
        return true;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop && job->count >= QUEUE)
        pthread_cond_wait(&pool->room, &pool->lock);
    const bool stop = pool->stop;
    if (!stop) {
        pieces_move(&worker->pieces, &job->pieces);
        job->count++;
        if (worker->n == pool->taken)
            pthread_cond_signal(&pool->ready);
    }
    pthread_mutex_unlock(&pool->lock);
    if (stop)
        pieces_drop(pool, &worker->pieces);
    return !stop;
}

/** A piece behind those that are to be handed over; false: stop. */
static bool piece_put(struct worker *worker, struct piece *piece)
{
    if (worker->pool->workers == 1)
        return pug_pool_take(worker->pool, piece);
    pieces_add(&worker->pieces, piece);
    return worker->amount < ENOUGH || hand_over(worker);
}

/** What a part has so far is a piece of its own, with the messages so far. */
static bool give_chunk(struct pug_piece *passage, void *chunk, size_t size)
{
    struct worker *worker = (struct worker *)passage;
    struct piece *piece = chunk ? calloc(1, sizeof(*piece)) : NULL;
    (void)size;
    if (chunk && !piece)
        worker->pool->decoding->config->drop(chunk);
    if (piece) {
        *piece = (struct piece){.part = chunk, .records = worker->piece->records};
        worker->piece->records = (struct pug_log_records){0};
        worker->amount = ENOUGH;
    }
    worker->starved |= !piece;
    if (piece && worker->unwanted)
        pug_pool_drop(worker->pool, piece);
    else if (!piece || !piece_put(worker, piece))
        worker->unwanted = true;
    return !worker->unwanted;
}

/* ---- one segment ---- */

void pug_pool_stop_counting(struct pug_tree *tree)
{
    if (tree)
        pug_tree_count(tree, NULL);
}

/** A tree that the worker has for such segments, or a new one. */
static enum pug_status find_tree(struct worker *worker, uint32_t segment, struct pug_tree **tree)
{
    struct pug_attribution *attribution = worker->attribution;
    struct pug_capture *capture = worker->pool->decoding->capture;
    const uint32_t kind = pug_capture_tree_kind(capture, segment);
    struct pug_attribution_tree *slot = &attribution->trees[kind % PUG_ATTRIBUTION_TREES];
    enum pug_status status = PUG_OK;
    if (!slot->tree || slot->kind != kind) {
        pug_pool_stop_counting(slot->tree);
        pug_tree_free(slot->tree);
        *slot = (struct pug_attribution_tree){.kind = kind};
        status = capture->ops->tree(capture, segment, true, attribution->log, &slot->tree);
        if (status != PUG_OK)
            return worker->worst = status;
        pug_tree_on_elements(slot->tree, on_elements, worker);
        pug_tree_any_order(slot->tree, pug_capture_any_order(worker->pool->decoding));
        if (attribution->counts)
            pug_tree_count(slot->tree, attribution->counts);
    }
    *tree = slot->tree;
    worker->any = true;
    return pug_capture_choose_sources(worker->pool->decoding, segment, *tree) ? PUG_OK
                                                                              : PUG_ERR_NOT_FOUND;
}

/** The worker's tree for a segment, as it is before any trace. */
static enum pug_status ready_tree(struct worker *worker, uint32_t segment)
{
    struct pug_tree *tree;
    enum pug_status status = find_tree(worker, segment, &tree);
    worker->attribution->tree = status == PUG_OK ? tree : NULL;
    if (status == PUG_OK)
        status = pug_attribution_begin(worker->attribution, segment, tree);
    if (status == PUG_OK)
        status = pug_tree_renew(tree);
    if (worker->attribution->counts)
        pug_counts_end(
            worker->attribution->counts); /* nothing goes over from one segment to another */
    return status;
}

static uint64_t end_of(const struct pool *pool, uint32_t segment)
{
    const struct pug_capture_decoding *decoding = pool->decoding;
    return decoding->cut && segment == pool->segments[pool->segment_count - 1]
               ? decoding->last
               : pug_capture_segments(decoding->capture)[segment].size;
}

/** The next block of a segment into a piece. False: the segment is over, or stops. */
static bool read_block(struct worker *worker, uint32_t segment, uint64_t *at)
{
    struct pug_capture *capture = worker->pool->decoding->capture;
    const struct pug_capture_segment *place = &pug_capture_segments(capture)[segment];
    const struct pool *pool = worker->pool;
    const bool live = capture->live;
    const size_t piece = pool->decoding->config->piece;
    const uint64_t end = end_of(pool, segment);
    const uint64_t left = end > *at ? end - *at : 0;
    size_t wanted = piece && piece < PIECE_SIZE ? piece : PIECE_SIZE;
    wanted = left < wanted && !live ? (size_t)left : wanted;
    enum pug_status status;
    size_t used;
    const size_t got =
        live ? pug_capture_live(capture, *at, worker->bytes, wanted, &status)
             : pug_capture_bytes(capture, segment, *at, worker->bytes, wanted, &status);
    if (status != PUG_OK)
        pug_capture_say_unread(capture, worker->attribution->log, place->offset + *at, status);
    if (live && capture->restarted)
        (void)pug_tree_reset(worker->attribution->tree);
    bool good =
        pug_capture_feed(worker->attribution->tree, place->offset + *at, worker->bytes, got, &used);
    *at += used;
    worker->read += used;
    worker->piece->bytes = used;
    if (worker->unwanted)
        return false;
    if (!good) {
        worker->piece->fatal = true;
        worker->piece->at = place->offset + *at;
        return false;
    }
    if (status == PUG_OK && (live ? got > 0 : used > 0 && *at < end))
        return true;
    (void)pug_tree_end(worker->attribution->tree);
    return false;
}

/** Of those that are chosen the one of this number. False: no memory, or stop. */
static bool decode_segment(struct worker *worker, uint32_t number)
{
    struct pool *pool = worker->pool;
    const uint32_t segment = pool->segments[number];
    uint64_t at = number == 0 ? pool->decoding->skipped : 0;
    bool more = true;
    for (bool first = true; more; first = false) {
        struct piece *piece = worker->piece = piece_new(worker);
        if (!piece)
            return false;
        const enum pug_status status = first ? ready_tree(worker, segment) : PUG_OK;
        if (status == PUG_ERR_MEM)
            worker->starved = worker->unwanted = true;
        more = status == PUG_OK && read_block(worker, segment, &at);
        worker->piece = NULL;
        if (worker->unwanted)
            pug_pool_drop(pool, piece);
        if (worker->unwanted || !piece_put(worker, piece))
            return false;
    }
    return true;
}

/** What the segment counted gets its spaces, which differ from buffer to buffer. */
static void settle_counts(struct pug_attribution *attribution)
{
    if (!attribution->counts || !attribution->tree || attribution->decoding->capture->ops->space)
        return;
    pug_pool_stop_counting(attribution->tree);
    pug_attribution_counts(attribution, attribution->counts);
    pug_tree_count(attribution->tree, attribution->counts);
}

/** False: no memory, or stop. */
static bool decode_run(struct worker *worker, uint32_t n)
{
    const uint32_t *runs = worker->pool->runs;
    bool good = true;
    worker->n = n;
    worker->unwanted = false;
    for (uint32_t number = runs[n]; good && number < runs[n + 1]; number++) {
        good = decode_segment(worker, number);
        settle_counts(worker->attribution);
    }
    return hand_over(worker) && good;
}

/* ---- workers ---- */

static bool worker_open(struct worker *worker, struct pool *pool, unsigned number)
{
    *worker = (struct worker){.passage = {.emit = give_chunk},
                              .pool = pool,
                              .pieces = {.last = &worker->pieces.first},
                              .attribution = &pool->decoding->attributions[number],
                              .number = number};
    worker->bytes = malloc(PIECE_SIZE);
    worker->attribution->log = pug_log_new(PUG_SEV_INFO);
    worker->attribution->counts =
        pool->decoding->counts ? pug_capture_new_counts(pool->decoding) : NULL;
    if (worker->attribution->log)
        pug_log_set_sink(worker->attribution->log, keep_record, worker);
    return worker->bytes && worker->attribution->log &&
           (worker->attribution->counts || !pool->decoding->counts);
}

/** The next run for a worker; false: there is none. */
static bool claim(struct pool *pool, uint32_t *n)
{
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop && pool->claimed < pool->count &&
           pool->claimed >= pool->taken + pool->window)
        pthread_cond_wait(&pool->room, &pool->lock);
    if (pool->claimed > pool->begun && pool->claimed < pool->count &&
        pug_checkpoint_due(&pool->kept)) {
        pool->paused = true;
        pthread_cond_signal(&pool->ready);
    }
    const bool more = !pool->stop && !pool->paused && pool->claimed < pool->count;
    if (more) {
        *n = pool->claimed++;
        struct job *job = job_of(pool, *n);
        *job = (struct job){.pieces = {.last = &job->pieces.first}};
    }
    pthread_mutex_unlock(&pool->lock);
    return more;
}

static void end_job(struct pool *pool, uint32_t n, bool good)
{
    pthread_mutex_lock(&pool->lock);
    job_of(pool, n)->ended = true;
    if (!good && !pool->stop)
        pool->stop = pool->failed = true;
    pthread_cond_signal(&pool->ready);
    pthread_cond_broadcast(&pool->room);
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *context)
{
    struct worker *worker = context;
    uint32_t n;
    while (claim(worker->pool, &n))
        end_job(worker->pool, n, decode_run(worker, n));
    return NULL;
}

/* ---- the caller's thread ---- */

/**
 * The next pieces of run n, in its turn; none: it has no more, or nobody makes them. Under the
 * lock.
 */
static void next_pieces(struct pool *pool, uint32_t n, struct pieces *pieces)
{
    struct job *job = job_of(pool, n);
    while (!pool->failed && !(pool->paused && pool->claimed <= n) &&
           (pool->claimed <= n || (!job->pieces.first && !job->ended)))
        pthread_cond_wait(&pool->ready, &pool->lock);
    if (pool->claimed <= n)
        return;
    pieces_move(&job->pieces, pieces);
    job->count = 0;
    pthread_cond_broadcast(&pool->room);
}

/** Take pieces as long as the consumer wants them; false: it wants no more. */
static bool take_pieces(struct pool *pool, struct pieces *pieces)
{
    bool more = true;
    for (struct piece *piece; more && (piece = pieces->first) != NULL;) {
        pieces->first = piece->next;
        more = pug_pool_take(pool, piece);
    }
    pieces_drop(pool, pieces);
    return more;
}

/** All pieces of run n; false: the consumer wants no more. Under the lock. */
static bool take_run(struct pool *pool, uint32_t n)
{
    struct pieces pieces = {.last = &pieces.first};
    bool more = true;
    for (;;) {
        next_pieces(pool, n, &pieces);
        if (!more || !pieces.first)
            return more;
        pthread_mutex_unlock(&pool->lock);
        more = take_pieces(pool, &pieces);
        pthread_mutex_lock(&pool->lock);
    }
}

static void take_all(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (!pool->failed && pool->taken < pool->count && take_run(pool, pool->taken)) {
        if (pool->failed || pool->claimed <= pool->taken)
            break;
        pool->taken++;
        pthread_cond_broadcast(&pool->room);
    }
    pool->stop = true;
    pthread_cond_broadcast(&pool->room);
    pthread_mutex_unlock(&pool->lock);
}

static void decode_alone(struct pool *pool, struct worker *worker)
{
    while (pool->taken < pool->count && !pool->decoding->result->ended && !pool->failed &&
           !pool->paused) {
        if (!decode_run(worker, pool->taken))
            pool->failed = worker->starved || !pool->decoding->result->ended;
        pool->taken++;
        pool->paused = pug_checkpoint_due(&pool->kept);
    }
}

static void decode_together(struct pool *pool, struct worker *workers)
{
    unsigned running = 0;
    for (unsigned i = 0; i < pool->workers; i++) {
        workers[i].running = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
        running += workers[i].running;
    }
    pool->failed |= running == 0;
    take_all(pool);
    for (unsigned i = 0; i < pool->workers; i++)
        if (workers[i].running)
            pthread_join(workers[i].thread, NULL);
    for (uint32_t i = 0; i < pool->window; i++)
        pieces_drop(pool, &pool->jobs[i].pieces);
}

/* ---- */

/** The numbers of all segments that are decoded. */
static bool list_segments(struct pool *pool, uint32_t first, uint32_t end)
{
    const struct pug_capture *capture = pool->decoding->capture;
    const struct pug_capture_segment *segments = pug_capture_segments(capture);
    pool->segments = calloc((size_t)(end - first) + 1, sizeof(*pool->segments));
    for (uint32_t i = first; pool->segments && i < end; i++)
        if (pug_capture_buffers(capture)[segments[i].buffer].chosen &&
            (pool->decoding->cut || pug_capture_may_choose(pool->decoding, i)) &&
            (segments[i].size > 0 || capture->live))
            pool->segments[pool->segment_count++] = i;
    return pool->segments != NULL;
}

bool pug_pool_cut_runs(struct pool *pool)
{
    const struct pug_capture_segment *segments = pug_capture_segments(pool->decoding->capture);
    const size_t piece = pool->decoding->config->piece;
    const uint64_t most = piece && piece < RUN_SIZE ? piece : RUN_SIZE;
    uint64_t size = 0;
    pool->runs = calloc((size_t)pool->segment_count + 1, sizeof(*pool->runs));
    for (uint32_t i = 0; pool->runs && i < pool->segment_count; i++) {
        const uint64_t own = segments[pool->segments[i]].size;
        if (i == 0 || own > most - size) {
            pool->runs[pool->count++] = i;
            size = 0;
        }
        size = own < most - size ? size + own : most;
    }
    if (pool->runs)
        pool->runs[pool->count] = pool->segment_count;
    return pool->runs != NULL;
}

/** As where each is decoded as a whole: what cannot be is left out, unless that is all. */
static enum pug_status status_of(const struct pool *pool, const struct worker *workers)
{
    enum pug_status worst = PUG_OK;
    for (unsigned i = 0; i < pool->workers; i++) {
        if (workers[i].any)
            return PUG_OK;
        worst = workers[i].worst != PUG_OK ? workers[i].worst : worst;
    }
    return pool->decoding->capture->ops->memory ? worst : PUG_OK;
}

enum pug_status pug_capture_pool(struct pug_capture_decoding *decoding, uint32_t first,
                                 uint32_t end)
{
    struct pug_peers *peers = pug_pool_peers(decoding);
    struct pool pool = {.decoding = decoding,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .room = PTHREAD_COND_INITIALIZER,
                        .ready = PTHREAD_COND_INITIALIZER};
    const struct pug_jobs_client client = pug_pool_client(&pool);
    bool good = list_segments(&pool, first, end) &&
                (peers ? pug_pool_begin_among(&pool, peers, &client) : pug_pool_cut_runs(&pool));
    if (!peers && pug_peers_helps(decoding->capture->options.peers))
        pool.count = 0; /* the first one does it */
    const unsigned threads = decoding->threads < pool.count ? decoding->threads : pool.count;
    pool.workers = threads;
    pool.window = pool.workers * AHEAD + 1;
    pool.jobs = calloc(pool.window, sizeof(*pool.jobs));
    struct worker *workers = calloc(pool.workers + 1u, sizeof(*workers));
    good = good && pool.jobs && workers;
    for (unsigned i = 0; good && i < threads; i++)
        good = worker_open(&workers[i], &pool, i);
    good = good && (!pool.kept.keep || pug_pool_take_kept(&pool));
    while (good && pool.taken < pool.count && !pool.failed && !decoding->result->ended) {
        pool.paused = pool.stop = false;
        pool.begun = pool.claimed;
        if (threads == 1)
            decode_alone(&pool, workers);
        else
            decode_together(&pool, workers);
        good = pool.failed || pug_pool_keep(&pool);
    }
    decoding->result->threads = pool.workers;
    for (unsigned i = 0; workers && i < pool.workers; i++) {
        if (peers)
            peers->read_bytes += workers[i].read;
        free(workers[i].bytes);
        for (size_t n = 0; n < PUG_ATTRIBUTION_TREES; n++)
            pug_pool_stop_counting(decoding->attributions[i].trees[n].tree);
    }
    const enum pug_status status = good ? status_of(&pool, workers) : PUG_ERR_MEM;
    free(workers);
    free(pool.jobs);
    free(pool.segments);
    free(pool.runs);
    free(pool.kept_bytes);
    if (peers && !(good && !pool.failed && pug_pool_finish_among(&pool, peers, &client)))
        pug_peers_fail(peers, "out of memory");
    return pool.failed ? PUG_ERR_MEM : status;
}
