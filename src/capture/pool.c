// SPDX-License-Identifier: MIT
/**
 * @file Many stretches, each from reset, decoded by several threads and taken in their order.
 *
 * A worker claims the next stretch and decodes it in pieces, which wait in the stretch's queue
 * until the caller's thread has taken all before them. Queues are short: who is ahead waits.
 */
#include "capture/decode.h"
#include "counts/counts.h"
#include "jobs/products.h"
#include "log/records.h"
#include "tree/tree_internal.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_SIZE ((size_t)64 << 10)
/* Pieces of one stretch that wait for the stretches before it. */
#define QUEUE 4u
/* Stretches that are claimed ahead of the caller, for each thread. */
#define AHEAD 4u

struct piece {
    struct piece *next;
    void *part;
    struct pug_log_records records;
    uint64_t bytes;
    /* Without a part: the end of a stretch that was fatal, there. */
    bool fatal;
    uint64_t at;
};

/** One stretch at work. */
struct job {
    struct piece *first, **last;
    unsigned count;
    bool ended, fatal;
    uint64_t at; /* fatal: where */
};

struct pool {
    struct pug_capture_decoding *decoding;
    uint32_t *stretches; /* that are chosen */
    uint32_t count;
    unsigned workers;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t room;  /* workers wait to go on */
    pthread_cond_t ready; /* the caller waits for pieces */
    uint32_t claimed, taken;
    struct job *jobs; /* of stretches, in turn */
    uint32_t window;
    bool stop, failed;
    struct pug_products *products; /* for another process, which takes them; or NULL */
};

struct worker {
    struct pug_passage passage; /* first: it is the way from a passage to its worker */
    struct pool *pool;
    struct pug_capture_lane *lane;
    unsigned number;
    uint8_t *bytes;
    struct piece *piece; /* being filled */
    uint32_t n;          /* of its stretch */
    bool unwanted;       /* nobody wants the stretch any more … */
    bool starved;        /* … since there was no memory */
    pthread_t thread;
    bool running;
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

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct worker *worker = context;
    *taken = count;
    if (worker->piece && !worker->unwanted)
        pug_capture_lane_elements(worker->lane, worker->piece->part, elements, count);
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

static void piece_drop(const struct pool *pool, struct piece *piece)
{
    if (piece->part)
        pool->decoding->config->drop(piece->part);
    pug_log_records_free(&piece->records);
    free(piece);
}

/** Keep a piece for another process; false: no memory. */
static bool piece_keep(struct pool *pool, struct piece *piece)
{
    struct pug_jobs_block block = {.product = piece};
    pool->failed |= !pug_products_block(pool->products, &block);
    return !pool->failed;
}

static void note_fatal(const struct pool *pool, uint64_t at)
{
    pool->decoding->result->stopped++;
    pool->decoding->result->at = at;
}

/** Take a piece on the caller's thread; false: the consumer wants no more. */
static bool piece_take(struct pool *pool, struct piece *piece)
{
    struct pug_capture_decoding *decoding = pool->decoding;
    const struct pug_capture_decode *config = decoding->config;
    if (pool->products)
        return piece_keep(pool, piece);
    if (piece->fatal)
        note_fatal(pool, piece->at);
    if (!piece->part) {
        piece_drop(pool, piece);
        return true;
    }
    pug_log_records_give(&piece->records, pug_capture_decode_log(decoding));
    bool more = config->take(config->context, piece->part);
    piece->part = NULL;
    decoding->done += piece->bytes;
    decoding->result->bytes += piece->bytes;
    piece_drop(pool, piece);
    more = more && pug_capture_goes_on(decoding, 0);
    decoding->result->ended |= !more;
    return more;
}

/** Hand a piece on; false: stop. */
static bool piece_put(struct worker *worker, uint32_t n, struct piece *piece)
{
    struct pool *pool = worker->pool;
    struct job *job = job_of(pool, n);
    if (pool->workers == 1)
        return piece_take(pool, piece);
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop && job->count >= QUEUE)
        pthread_cond_wait(&pool->room, &pool->lock);
    const bool stop = pool->stop;
    if (!stop) {
        *job->last = piece;
        job->last = &piece->next;
        job->count++;
        if (n == pool->taken)
            pthread_cond_signal(&pool->ready);
    }
    pthread_mutex_unlock(&pool->lock);
    if (stop)
        piece_drop(pool, piece);
    return !stop;
}

/** What a part has so far is a piece of its own, with the messages so far. */
static bool give_portion(struct pug_passage *passage, void *portion, size_t size)
{
    struct worker *worker = (struct worker *)passage;
    struct piece *piece = portion ? calloc(1, sizeof(*piece)) : NULL;
    (void)size;
    if (portion && !piece)
        worker->pool->decoding->config->drop(portion);
    if (piece) {
        *piece = (struct piece){.part = portion, .records = worker->piece->records};
        worker->piece->records = (struct pug_log_records){0};
    }
    worker->starved |= !piece;
    if (piece && worker->unwanted)
        piece_drop(worker->pool, piece);
    else if (!piece || !piece_put(worker, worker->n, piece))
        worker->unwanted = true;
    return !worker->unwanted;
}

/* ---- one stretch ---- */

/** What it counted is in the lane's counts then. */
static void stop_counting(struct pug_tree *tree)
{
    if (tree)
        pug_tree_count(tree, NULL);
}

/** A tree that the worker has for such stretches, or a new one. */
static enum pug_status find_tree(struct worker *worker, uint32_t stretch, struct pug_tree **tree)
{
    struct pug_capture_lane *lane = worker->lane;
    struct pug_capture *capture = worker->pool->decoding->capture;
    const uint32_t kind = pug_capture_tree_kind(capture, stretch);
    struct pug_capture_lane_tree *slot = &lane->trees[kind % PUG_CAPTURE_LANE_TREES];
    enum pug_status status = PUG_OK;
    if (!slot->tree || slot->kind != kind) {
        stop_counting(slot->tree);
        pug_tree_free(slot->tree);
        *slot = (struct pug_capture_lane_tree){.kind = kind};
        status = capture->way->tree(capture, stretch, true, lane->log, &slot->tree);
        if (status != PUG_OK)
            return status;
        pug_tree_on_elements(slot->tree, on_elements, worker);
        if (lane->counts)
            pug_tree_count(slot->tree, lane->counts);
    }
    *tree = slot->tree;
    return pug_capture_choose_sources(worker->pool->decoding, *tree) ? PUG_OK : PUG_ERR_NOT_FOUND;
}

/** The worker's tree for a stretch, as it is before any trace. */
static enum pug_status ready_tree(struct worker *worker, uint32_t stretch)
{
    struct pug_tree *tree;
    enum pug_status status = find_tree(worker, stretch, &tree);
    worker->lane->tree = status == PUG_OK ? tree : NULL;
    if (status == PUG_OK)
        status = pug_capture_lane_begin(worker->lane, stretch, tree);
    if (status == PUG_OK)
        status = pug_tree_renew(tree);
    if (worker->lane->counts)
        pug_counts_end(worker->lane->counts); /* nothing goes over from one stretch to another */
    return status;
}

/** Bytes [0, size) of a block through the tree; false: it is fatal, *used says where. */
static bool feed(struct pug_tree *tree, uint64_t index, const uint8_t *bytes, size_t size,
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

static uint64_t end_of(const struct pool *pool, uint32_t stretch)
{
    const struct pug_capture_decoding *decoding = pool->decoding;
    return decoding->cut && stretch == pool->stretches[pool->count - 1]
               ? decoding->last
               : pug_capture_stretches(decoding->capture)[stretch].size;
}

/** The next block of a stretch into a piece. False: the stretch is over, or stops. */
static bool read_block(struct worker *worker, uint32_t stretch, uint64_t *at, struct job *job)
{
    struct pug_capture *capture = worker->pool->decoding->capture;
    const struct pug_capture_stretch *place = &pug_capture_stretches(capture)[stretch];
    const struct pool *pool = worker->pool;
    const bool live = capture->live;
    const size_t piece = pool->decoding->config->piece;
    const uint64_t end = end_of(pool, stretch);
    const uint64_t left = end > *at ? end - *at : 0;
    size_t wanted = piece && piece < PIECE_SIZE ? piece : PIECE_SIZE;
    wanted = left < wanted && !live ? (size_t)left : wanted;
    enum pug_status status;
    size_t used;
    const size_t got =
        live ? pug_capture_live(capture, *at, worker->bytes, wanted, &status)
             : pug_capture_bytes(capture, stretch, *at, worker->bytes, wanted, &status);
    if (status != PUG_OK)
        pug_log_put(worker->lane->log, &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                                                .code = status,
                                                                .index = place->offset + *at,
                                                                .source = PUG_NO_SOURCE,
                                                                .component = "capture",
                                                                .text = capture->path});
    bool good = feed(worker->lane->tree, place->offset + *at, worker->bytes, got, &used);
    *at += used;
    worker->piece->bytes = used;
    if (worker->unwanted)
        return false;
    if (!good) {
        job->fatal = true;
        job->at = place->offset + *at;
        return false;
    }
    if (status == PUG_OK && (live ? got > 0 : used > 0 && *at < end))
        return true;
    (void)pug_tree_end(worker->lane->tree);
    return false;
}

/** False: no memory, or stop. */
static bool decode_stretch(struct worker *worker, uint32_t n)
{
    struct pool *pool = worker->pool;
    const uint32_t stretch = pool->stretches[n];
    struct job *job = job_of(pool, n);
    uint64_t at = n == 0 ? pool->decoding->skipped : 0;
    bool more = true;
    worker->n = n;
    worker->unwanted = false;
    for (bool first = true; more; first = false) {
        struct piece *piece = worker->piece = piece_new(worker);
        if (!piece)
            return false;
        enum pug_status status = first ? ready_tree(worker, stretch) : PUG_OK;
        more = status == PUG_OK && read_block(worker, stretch, &at, job);
        worker->piece = NULL;
        if (worker->unwanted)
            piece_drop(pool, piece);
        if (worker->unwanted || !piece_put(worker, n, piece))
            return false;
    }
    return true;
}

/* ---- workers ---- */

static bool worker_open(struct worker *worker, struct pool *pool, unsigned number)
{
    *worker = (struct worker){.passage = {.give = give_portion},
                              .pool = pool,
                              .lane = &pool->decoding->lanes[number],
                              .number = number};
    worker->bytes = malloc(PIECE_SIZE);
    worker->lane->log = pug_log_new(PUG_SEV_INFO);
    worker->lane->counts = pool->decoding->counts ? pug_counts_new() : NULL;
    if (worker->lane->log)
        pug_log_set_sink(worker->lane->log, keep_record, worker);
    return worker->bytes && worker->lane->log && (worker->lane->counts || !pool->decoding->counts);
}

/** The next stretch for a worker; false: there is none. */
static bool claim(struct pool *pool, uint32_t *n)
{
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop && pool->claimed < pool->count &&
           pool->claimed >= pool->taken + pool->window)
        pthread_cond_wait(&pool->room, &pool->lock);
    const bool more = !pool->stop && pool->claimed < pool->count;
    if (more) {
        *n = pool->claimed++;
        struct job *job = job_of(pool, *n);
        *job = (struct job){.last = &job->first};
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
        end_job(worker->pool, n, decode_stretch(worker, n));
    return NULL;
}

/* ---- the caller's thread ---- */

static void note_end(struct pool *pool, const struct job *job)
{
    struct piece *piece = job->fatal && pool->products ? calloc(1, sizeof(*piece)) : NULL;
    if (piece) {
        *piece = (struct piece){.fatal = true, .at = job->at};
        (void)piece_keep(pool, piece);
    } else if (job->fatal) {
        note_fatal(pool, job->at);
    }
}

/** The next piece of stretch n, in its turn; NULL: it has no more. Under the lock. */
static struct piece *next_piece(struct pool *pool, uint32_t n)
{
    struct job *job = job_of(pool, n);
    while (!pool->failed && (pool->claimed <= n || (!job->first && !job->ended)))
        pthread_cond_wait(&pool->ready, &pool->lock);
    struct piece *piece = pool->claimed > n ? job->first : NULL;
    if (!piece)
        return NULL;
    job->first = piece->next;
    if (!job->first)
        job->last = &job->first;
    job->count--;
    pthread_cond_broadcast(&pool->room);
    return piece;
}

static void take_all(struct pool *pool)
{
    struct piece *piece;
    bool more = true;
    pthread_mutex_lock(&pool->lock);
    while (more && !pool->failed && pool->taken < pool->count) {
        while (more && (piece = next_piece(pool, pool->taken)) != NULL) {
            pthread_mutex_unlock(&pool->lock);
            more = piece_take(pool, piece);
            pthread_mutex_lock(&pool->lock);
        }
        if (pool->failed)
            break;
        note_end(pool, job_of(pool, pool->taken));
        pool->taken++;
        pthread_cond_broadcast(&pool->room);
    }
    pool->stop = true;
    pthread_cond_broadcast(&pool->room);
    pthread_mutex_unlock(&pool->lock);
}

static void decode_alone(struct worker *worker)
{
    struct pool *pool = worker->pool;
    for (uint32_t n = 0; n < pool->count && !pool->decoding->result->ended && !pool->failed; n++) {
        struct job *job = job_of(pool, n);
        *job = (struct job){.last = &job->first};
        if (!decode_stretch(worker, n))
            pool->failed = worker->starved || !pool->decoding->result->ended;
        note_end(pool, job);
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
    for (uint32_t i = 0; i < pool->window; i++) {
        for (struct piece *piece = pool->jobs[i].first, *next; piece; piece = next) {
            next = piece->next;
            piece_drop(pool, piece);
        }
    }
}

/* ---- */

/** The numbers of all stretches that are decoded. */
static bool list_stretches(struct pool *pool, uint32_t first, uint32_t end)
{
    const struct pug_capture *capture = pool->decoding->capture;
    const struct pug_capture_stretch *stretches = pug_capture_stretches(capture);
    pool->stretches = calloc((size_t)(end - first) + 1, sizeof(*pool->stretches));
    for (uint32_t i = first; pool->stretches && i < end; i++)
        if (pug_capture_buffers(capture)[stretches[i].buffer].chosen &&
            (stretches[i].size > 0 || capture->live))
            pool->stretches[pool->count++] = i;
    return pool->stretches != NULL;
}

/* ---- other processes ---- */

static void pack_piece(void *context, const void *product, struct pug_state *to)
{
    const struct pool *pool = context;
    const struct piece *piece = product;
    pug_state_number(to, piece->bytes);
    pug_state_number(to, piece->fatal);
    pug_state_number(to, piece->at);
    pug_state_number(to, piece->part != NULL);
    pug_log_records_pack(&piece->records, to);
    if (piece->part)
        pool->decoding->config->travel->pack(piece->part, to);
}

static void *unpack_piece(void *context, const uint8_t *bytes, size_t size)
{
    const struct pool *pool = context;
    const struct pug_capture_decode *config = pool->decoding->config;
    struct pug_bytes left = pug_bytes_of(bytes, size);
    struct piece *piece = calloc(1, sizeof(*piece));
    if (!piece)
        return NULL;
    piece->bytes = pug_bytes_take_64(&left);
    piece->fatal = pug_bytes_take_64(&left);
    piece->at = pug_bytes_take_64(&left);
    const bool has_part = pug_bytes_take_64(&left);
    pug_log_records_unpack(&piece->records, &left);
    if (has_part)
        piece->part = config->travel->unpack(config->context, left.at, pug_bytes_left(&left));
    if (piece->part || !has_part)
        return piece;
    piece_drop(pool, piece);
    return NULL;
}

static void drop_piece(void *context, void *product)
{
    piece_drop(context, product);
}

static bool take_piece(void *context, struct pug_jobs_block *block)
{
    return piece_take(context, block->product);
}

static const struct pug_jobs_travel travel = {pack_piece, unpack_piece, NULL};

/** Which of the stretches are this process's: about as many bytes as others have. */
static void cut_among(struct pool *pool, const struct pug_peers *peers)
{
    const struct pug_capture_stretch *stretches = pug_capture_stretches(pool->decoding->capture);
    uint64_t all = 0, before = 0;
    uint32_t first = 0, end = 0;
    for (uint32_t i = 0; i < pool->count; i++)
        all += stretches[pool->stretches[i]].size;
    for (uint32_t i = 0; i < pool->count; i++) {
        const uint64_t owner = before / (all / peers->count + 1);
        first += owner < peers->number;
        end += owner <= peers->number;
        before += stretches[pool->stretches[i]].size;
    }
    memmove(pool->stretches, pool->stretches + first, (end - first) * sizeof(*pool->stretches));
    pool->count = end - first;
}

/** Who else decodes some of it; NULL: nobody. */
static struct pug_peers *peers_of(const struct pug_capture_decoding *decoding)
{
    struct pug_peers *peers = decoding->capture->options.peers;
    const bool can = decoding->config->travel && !decoding->cut && !decoding->capture->live;
    return can && pug_peers_any(peers) ? peers : NULL;
}

static bool begin_among(struct pool *pool, struct pug_peers *peers,
                        const struct pug_jobs_client *client)
{
    pug_peers_begin(peers);
    cut_among(pool, peers);
    if (peers->number > 0)
        pool->products = pug_products_new(client);
    return peers->number == 0 || pool->products;
}

/** The first process takes what the others made. False: no memory. */
static bool finish_among(struct pool *pool, struct pug_peers *peers,
                         const struct pug_jobs_client *client)
{
    struct pug_products *none = peers->number == 0 ? pug_products_new(client) : NULL;
    struct pug_products *products = none ? none : pool->products;
    const bool good = products && pug_products_give(products, peers, pool->decoding->result->ended);
    pug_products_free(products);
    pool->products = NULL;
    return good;
}

bool pug_capture_pool(struct pug_capture_decoding *decoding, uint32_t first, uint32_t end)
{
    struct pug_peers *peers = peers_of(decoding);
    struct pool pool = {.decoding = decoding,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .room = PTHREAD_COND_INITIALIZER,
                        .ready = PTHREAD_COND_INITIALIZER};
    const struct pug_jobs_client client = {
        .context = &pool, .take = take_piece, .drop = drop_piece, .travel = &travel};
    bool good = list_stretches(&pool, first, end) && (!peers || begin_among(&pool, peers, &client));
    if (!peers && pug_peers_helps(decoding->capture->options.peers))
        pool.count = 0; /* the first one does it */
    pool.workers = decoding->threads < pool.count ? decoding->threads : pool.count;
    pool.window = pool.workers * AHEAD + 1;
    pool.jobs = calloc(pool.window, sizeof(*pool.jobs));
    struct worker *workers = calloc(pool.workers + 1u, sizeof(*workers));
    good = good && pool.jobs && workers;
    for (unsigned i = 0; good && i < pool.workers; i++)
        good = worker_open(&workers[i], &pool, i);
    if (good && pool.workers == 1)
        decode_alone(&workers[0]);
    else if (good && pool.workers > 1)
        decode_together(&pool, workers);
    decoding->result->threads = pool.workers;
    for (unsigned i = 0; workers && i < pool.workers; i++) {
        free(workers[i].bytes);
        for (size_t n = 0; n < PUG_CAPTURE_LANE_TREES; n++)
            stop_counting(decoding->lanes[i].trees[n].tree);
    }
    free(workers);
    free(pool.jobs);
    free(pool.stretches);
    if (peers && !(good && !pool.failed && finish_among(&pool, peers, &client)))
        pug_peers_fail(peers, "out of memory");
    return good && !pool.failed;
}
