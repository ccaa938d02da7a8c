// SPDX-License-Identifier: MIT
/**
 * @file Many segments, each from reset, decoded by several threads and taken in their order.
 *
 * A worker claims the next run of segments, one or some short ones, and decodes it in pieces,
 * which wait in the run's queue until the caller's thread has taken all before them. Small pieces
 * are handed over together. Queues are short: a worker that is ahead waits.
 */
#include "schedule/segments_pool.h"

#include "counts/counts.h"
#include "schedule/peers.h"
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

static struct job *job_of(const struct pool *pool, uint32_t n)
{
    return &pool->jobs[n % pool->window];
}

/* ---- parts ---- */

static void keep_record(void *context, const struct pug_log_record *record)
{
    struct worker *worker = context;
    if (worker->parts)
        pug_log_records_keep(&worker->parts->records, record);
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
    if (worker->parts && !worker->unwanted)
        worker->pool->schedule->segments->elements(worker->attribution, elements, count);
    return worker->unwanted ? PUG_RESP_FATAL_SYS_ERR : PUG_RESP_CONT;
}

/** pug_receiver.give. */
static void give(void *context, const struct pug_origin *origin, uint64_t residency, bool left_out,
                 const struct pug_element *elements, size_t count)
{
    const struct worker *worker = context;
    (void)residency;
    pug_parts_elements(worker->pool->schedule->consumers, worker->parts->parts, origin, elements,
                       count, left_out);
}

static void drop(const struct pool *pool, struct pug_parts *parts)
{
    pug_parts_free(pool->schedule->consumers, parts);
}

static void queue_add(struct parts_queue *queue, struct pug_parts *parts)
{
    *queue->last = parts;
    queue->last = &parts->next;
}

/** All parts of one queue to the end of another. */
static void queue_move(struct parts_queue *from, struct parts_queue *to)
{
    if (from->first) {
        *to->last = from->first;
        to->last = from->last;
    }
    *from = (struct parts_queue){.last = &from->first};
}

static void queue_drop(const struct pool *pool, struct parts_queue *queue)
{
    for (struct pug_parts *parts = queue->first, *next; parts; parts = next) {
        next = parts->next;
        drop(pool, parts);
    }
    *queue = (struct parts_queue){.last = &queue->first};
}

/** Keep parts for another process; false: no memory. */
static bool keep(struct pool *pool, struct pug_parts *parts)
{
    struct pug_jobs_block block = {.parts = parts};
    pool->failed |= !pug_products_block(pool->products, &block);
    return !pool->failed;
}

bool pug_pool_take(struct pool *pool, struct pug_parts *parts)
{
    struct pug_schedule *schedule = pool->schedule;
    if (pool->products)
        return keep(pool, parts);
    pug_log_records_give(&parts->records, schedule->options->log);
    bool more = pug_parts_take(schedule->consumers, parts);
    schedule->done += parts->bytes;
    schedule->result->bytes += parts->bytes;
    if (parts->fatal)
        pug_schedule_note_fatal(schedule, parts->at);
    drop(pool, parts);
    more = more && pug_schedule_goes_on(schedule, 0);
    schedule->result->ended |= !more;
    return more;
}

/** Hand over what a worker has made; false: stop. */
static bool hand_over(struct worker *worker)
{
    struct pool *pool = worker->pool;
    struct job *job = job_of(pool, worker->n);
    worker->amount = 0;
    if (!worker->queue.first)
        return true;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop && job->count >= QUEUE)
        pthread_cond_wait(&pool->room, &pool->lock);
    const bool stop = pool->stop;
    if (!stop) {
        queue_move(&worker->queue, &job->queue);
        job->count++;
        if (worker->n == pool->taken)
            pthread_cond_signal(&pool->ready);
    }
    pthread_mutex_unlock(&pool->lock);
    if (stop)
        queue_drop(pool, &worker->queue);
    return !stop;
}

/** Adds parts to those that are to be handed over; false: stop. */
static bool put(struct worker *worker, struct pug_parts *parts)
{
    if (worker->pool->workers == 1)
        return pug_pool_take(worker->pool, parts);
    queue_add(&worker->queue, parts);
    return worker->amount < ENOUGH || hand_over(worker);
}

/** pug_pieces.give. */
static bool give_chunk(void *context, struct pug_parts *chunk, size_t size)
{
    struct worker *worker = context;
    (void)size;
    if (chunk)
        worker->amount = ENOUGH;
    worker->starved |= !chunk;
    if (chunk && worker->unwanted)
        drop(worker->pool, chunk);
    else if (!chunk || !put(worker, chunk))
        worker->unwanted = true;
    return !worker->unwanted;
}

/* ---- one segment ---- */

bool pug_schedule_feed(struct pug_tree *tree, uint64_t index, const uint8_t *bytes, size_t size,
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

void pug_pool_count(const struct worker *worker, bool on)
{
    for (size_t i = 0; i < WORKER_TREES; i++)
        if (worker->trees[i].tree)
            pug_tree_count(worker->trees[i].tree, on ? worker->counts : NULL);
}

/** A tree that the worker has for such segments, or a new one. */
static enum pug_status find_tree(struct worker *worker, uint32_t segment, struct pug_tree **tree)
{
    const struct pug_schedule *schedule = worker->pool->schedule;
    const struct pug_segments *segments = schedule->segments;
    const uint32_t kind = segments->tree_kind(segments->context, segment);
    struct worker_tree *slot = &worker->trees[kind % WORKER_TREES];
    enum pug_status status = PUG_OK;
    if (!slot->tree || slot->kind != kind) {
        if (slot->tree)
            pug_tree_count(slot->tree, NULL);
        pug_tree_free(slot->tree);
        *slot = (struct worker_tree){.kind = kind};
        status = segments->tree(segments->context, segment, worker->log, &slot->tree);
        if (status != PUG_OK)
            return worker->worst = status;
        pug_tree_on_elements(slot->tree, on_elements, worker);
        pug_tree_any_order(slot->tree,
                           schedule->counts ||
                               pug_consumers_all_want(schedule->consumers, PUG_WANTS_ANY_ORDER));
        if (worker->counts)
            pug_tree_count(slot->tree, worker->counts);
        if (!pug_consumers_attach(schedule->consumers, worker->number, slot->tree))
            return PUG_ERR_MEM;
    }
    *tree = slot->tree;
    worker->any = true;
    return segments->choose(segments->context, segment, *tree) ? PUG_OK : PUG_ERR_NOT_FOUND;
}

/** The worker's tree for a segment, as it is before any trace. */
static enum pug_status ready_tree(struct worker *worker, uint32_t segment)
{
    struct pug_tree *tree;
    enum pug_status status = find_tree(worker, segment, &tree);
    worker->tree = status == PUG_OK ? tree : NULL;
    if (status == PUG_OK)
        status = worker->pool->schedule->segments->begin(worker->attribution, segment, tree);
    if (status == PUG_OK)
        status = pug_tree_renew(tree);
    if (worker->counts)
        pug_counts_end(worker->counts); /* nothing goes over from one segment to another */
    return status;
}

static uint64_t end_of(const struct pool *pool, uint32_t segment)
{
    const struct pug_segments *segments = pool->schedule->segments;
    return segments->is_cut && segment == pool->segments[pool->segment_count - 1]
               ? segments->last
               : segments->size(segments->context, segment);
}

/**
 * Bytes that the worker has at the offset `at` through its tree, in steps that show ranges or not.
 */
static bool feed(struct worker *worker, uint64_t index, uint64_t at, size_t size, size_t *used)
{
    const struct pug_consumers *consumers = worker->pool->schedule->consumers;
    bool good = true;
    size_t step = 1;
    *used = 0;
    while (good && *used < size && step > 0) {
        uint64_t end = at + size;
        if (worker->counts)
            pug_tree_show_ranges(worker->tree, pug_consumers_show(consumers, at + *used, &end));
        good = pug_schedule_feed(worker->tree, index + *used, worker->bytes + *used,
                                 (size_t)(end - at) - *used, &step);
        *used += step;
    }
    return good;
}

/** The next block of a segment into parts. False: the segment is over, or stops. */
static bool read_block(struct worker *worker, uint32_t segment, uint64_t *at)
{
    const struct pool *pool = worker->pool;
    const struct pug_segments *segments = pool->schedule->segments;
    const size_t piece = pool->schedule->options->piece;
    const uint64_t index = segments->index(segments->context, segment) + *at;
    const uint64_t end = segments->is_stream ? UINT64_MAX : end_of(pool, segment);
    const uint64_t left = end > *at ? end - *at : 0;
    size_t wanted = piece && piece < PIECE_SIZE ? piece : PIECE_SIZE;
    wanted = left < wanted ? (size_t)left : wanted;
    bool more;
    size_t used;
    const size_t got =
        segments->read(segments->context, segment, worker->log, *at, worker->bytes, wanted, &more);
    if (segments->restart)
        segments->restart(segments->context, worker->tree);
    const bool good = feed(worker, index, *at, got, &used);
    *at += used;
    worker->read += used;
    worker->parts->bytes = used;
    if (worker->unwanted)
        return false;
    if (!good) {
        worker->parts->fatal = true;
        worker->parts->at = index + used;
        return false;
    }
    if (more && (used > 0 || segments->is_stream) && *at < end)
        return true;
    (void)pug_tree_end(worker->tree);
    return false;
}

/** The segment of this number among those that are read. False: no memory, or stop. */
static bool decode_segment(struct worker *worker, uint32_t number)
{
    const struct pool *pool = worker->pool;
    const uint32_t segment = pool->segments[number];
    uint64_t at =
        number == 0 && pool->schedule->segments->is_cut ? pool->schedule->segments->skipped : 0;
    bool more = true;
    for (bool first = true; more; first = false) {
        struct pug_parts *parts = worker->parts =
            pug_pieces_begin(worker->pieces, worker->number, segment, at);
        if (!parts)
            return false;
        const enum pug_status status = first ? ready_tree(worker, segment) : PUG_OK;
        if (status == PUG_ERR_MEM)
            worker->starved = worker->unwanted = true;
        more = status == PUG_OK && read_block(worker, segment, &at);
        worker->parts = NULL;
        if (worker->unwanted)
            drop(pool, parts);
        if (worker->unwanted || !put(worker, parts))
            return false;
    }
    return true;
}

/** What a segment counted gets its spaces, which differ from buffer to buffer. */
static void number_counts(struct worker *worker, uint32_t segment)
{
    const struct pug_segments *segments = worker->pool->schedule->segments;
    if (!worker->counts || !worker->tree || !segments->number_counts)
        return;
    pug_tree_count(worker->tree, NULL);
    segments->number_counts(segments->context, segment, worker->counts);
    pug_tree_count(worker->tree, worker->counts);
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
        number_counts(worker, worker->pool->segments[number]);
    }
    return hand_over(worker) && good;
}

/* ---- workers ---- */

static bool worker_open(struct worker *worker, struct pool *pool, unsigned number)
{
    const struct pug_schedule *schedule = pool->schedule;
    const struct pug_receiver receiver = {worker, give};
    *worker =
        (struct worker){.pool = pool, .queue = {.last = &worker->queue.first}, .number = number};
    worker->attribution = schedule->segments->open(schedule->segments->context, &receiver);
    worker->bytes = malloc(PIECE_SIZE);
    worker->log = pug_log_new(PUG_SEV_INFO);
    worker->pieces = pug_pieces_new(schedule->consumers, give_chunk, worker);
    worker->counts = schedule->by_worker[number] =
        schedule->counts ? pug_consumers_new_counts(schedule->consumers) : NULL;
    if (worker->log)
        pug_log_set_sink(worker->log, keep_record, worker);
    if (worker->pieces)
        worker->pieces->counted = schedule->counts;
    return worker->attribution && worker->bytes && worker->log && worker->pieces &&
           (worker->counts || !schedule->counts);
}

static void worker_close(struct worker *worker)
{
    pug_pool_count(worker, false);
    for (size_t i = 0; i < WORKER_TREES; i++)
        pug_tree_free(worker->trees[i].tree);
    if (worker->pool)
        worker->pool->schedule->segments->close(worker->attribution);
    pug_log_free(worker->log);
    free(worker->pieces);
    free(worker->bytes);
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
        *job = (struct job){.queue = {.last = &job->queue.first}};
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
 * The next parts of run n, in its turn; none: it has no more, or no worker makes them. Under the
 * lock.
 */
static void next_parts(struct pool *pool, uint32_t n, struct parts_queue *queue)
{
    struct job *job = job_of(pool, n);
    while (!pool->failed && !(pool->paused && pool->claimed <= n) &&
           (pool->claimed <= n || (!job->queue.first && !job->ended)))
        pthread_cond_wait(&pool->ready, &pool->lock);
    if (pool->claimed <= n)
        return;
    queue_move(&job->queue, queue);
    job->count = 0;
    pthread_cond_broadcast(&pool->room);
}

/** Take parts as long as consumers want them; false: they want no more. */
static bool take_parts(struct pool *pool, struct parts_queue *queue)
{
    bool more = true;
    for (struct pug_parts *parts; more && (parts = queue->first) != NULL;) {
        queue->first = parts->next;
        more = pug_pool_take(pool, parts);
    }
    queue_drop(pool, queue);
    return more;
}

/** All parts of run n; false: consumers want no more. Under the lock. */
static bool take_run(struct pool *pool, uint32_t n)
{
    struct parts_queue queue = {.last = &queue.first};
    bool more = true;
    for (;;) {
        next_parts(pool, n, &queue);
        if (!more || !queue.first)
            return more;
        pthread_mutex_unlock(&pool->lock);
        more = take_parts(pool, &queue);
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
    while (pool->taken < pool->count && !pool->schedule->result->ended && !pool->failed &&
           !pool->paused) {
        if (!decode_run(worker, pool->taken))
            pool->failed = worker->starved || !pool->schedule->result->ended;
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
        queue_drop(pool, &pool->jobs[i].queue);
}

/* ---- */

bool pug_pool_cut_runs(struct pool *pool)
{
    const struct pug_segments *segments = pool->schedule->segments;
    const size_t piece = pool->schedule->options->piece;
    const uint64_t most = piece && piece < RUN_SIZE ? piece : RUN_SIZE;
    uint64_t size = 0;
    pool->runs = calloc((size_t)pool->segment_count + 1, sizeof(*pool->runs));
    for (uint32_t i = 0; pool->runs && i < pool->segment_count; i++) {
        const uint64_t own = segments->size(segments->context, pool->segments[i]);
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
static enum pug_status status_of(const struct pool *pool)
{
    enum pug_status worst = PUG_OK;
    for (unsigned i = 0; i < pool->workers; i++) {
        if (pool->list[i].any)
            return PUG_OK;
        worst = pool->list[i].worst != PUG_OK ? pool->list[i].worst : worst;
    }
    return pool->schedule->segments->memory ? worst : PUG_OK;
}

static bool open_workers(struct pool *pool)
{
    const unsigned threads = pool->schedule->options->threads;
    pool->workers = threads < pool->count ? threads : pool->count;
    pool->window = pool->workers * AHEAD + 1;
    pool->jobs = calloc(pool->window, sizeof(*pool->jobs));
    pool->list = calloc(pool->workers + 1u, sizeof(*pool->list));
    bool good = pool->jobs && pool->list;
    for (unsigned i = 0; good && i < pool->workers; i++)
        good = worker_open(&pool->list[i], pool, i);
    return good;
}

/** Reads in rounds, after each of which what was done is kept; false: no memory. */
static bool read_all(struct pool *pool)
{
    bool good = !pool->kept.keep || pug_pool_take_kept(pool);
    while (good && pool->taken < pool->count && !pool->failed && !pool->schedule->result->ended) {
        pool->paused = pool->stop = false;
        pool->begun = pool->claimed;
        if (pool->workers == 1)
            decode_alone(pool, pool->list);
        else
            decode_together(pool, pool->list);
        good = pool->failed || pug_pool_keep(pool);
    }
    return good;
}

enum pug_status pug_schedule_pool(struct pug_schedule *schedule)
{
    struct pug_peers *peers = pug_pool_peers(schedule);
    struct pool pool = {.schedule = schedule,
                        .segments = schedule->segments->numbers,
                        .segment_count = schedule->segments->count,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .room = PTHREAD_COND_INITIALIZER,
                        .ready = PTHREAD_COND_INITIALIZER};
    const struct pug_jobs_client client = pug_pool_client(&pool);
    bool good = peers ? pug_pool_begin_among(&pool, peers, &client) : pug_pool_cut_runs(&pool);
    if (!peers && pug_peers_helps(schedule->options->peers))
        pool.count = 0; /* the first one does it */
    good = good && open_workers(&pool) && read_all(&pool);
    schedule->result->threads = pool.workers;
    const enum pug_status status = good ? status_of(&pool) : PUG_ERR_MEM;
    for (unsigned i = 0; pool.list && i < pool.workers; i++) {
        if (peers)
            peers->read_bytes += pool.list[i].read;
        worker_close(&pool.list[i]);
    }
    free(pool.list);
    free(pool.jobs);
    free(pool.runs);
    free(pool.kept_bytes);
    if (peers && !(good && !pool.failed && pug_pool_finish_among(&pool, peers, &client)))
        pug_peers_fail(peers, "out of memory");
    return pool.failed ? PUG_ERR_MEM : status;
}
