// SPDX-License-Identifier: MIT
/** @file The time of an element from the trace, by the rules of each kind of element. */
#include "correlate/correlate.h"

/* So many elements without a count are not going to be closed by one. */
#define PENDING_LIMIT 4096u

static struct pug_correlated *entry_at(struct pug_correlate_queue *queue, size_t n)
{
    return &queue->entries[queue->head + n];
}

/** The first `until` entries have their time; those that had none before have this. */
static void resolve(struct pug_correlate_queue *queue, size_t until, enum pug_correlate_when when,
                    uint64_t time, uint64_t cycles)
{
    for (size_t n = queue->ready; n < until; n++) {
        struct pug_correlated *entry = entry_at(queue, n);
        entry->when = (uint8_t)when;
        entry->cycles = cycles;
        if (when != PUG_WHEN_UNKNOWN) /* else it is what the buffer had reached */
            entry->time = time;
    }
    if (until > queue->ready)
        queue->ready = until;
}

/** No timestamp comes any more for the first `until` entries of a stream that had none. */
static void resolve_timeless(const struct pug_correlate *correlate,
                             struct pug_correlate_queue *queue, size_t until)
{
    const uint64_t taken = correlate->buffers[queue->info.buffer].until;
    resolve(queue, until, taken ? PUG_WHEN_BEFORE : PUG_WHEN_UNKNOWN, taken, 0);
}

void pug_correlate_clock_settle(const struct pug_correlate *correlate,
                                struct pug_correlate_queue *queue)
{
    if (queue->has_time)
        resolve(queue, queue->count, PUG_WHEN_AFTER, queue->time, queue->cycles);
    else
        resolve_timeless(correlate, queue, queue->count);
}

/* ---- elements ---- */

static bool timestamp_of(const struct pug_element *e, uint64_t *time)
{
    bool is = e->type == PUG_ELEM_TIMESTAMP ||
              ((e->type == PUG_ELEM_SWTRACE || e->type == PUG_ELEM_BUS_TRANSFER) &&
               (e->flags & PUG_ELEM_HAS_TS));
    if (is)
        *time = e->timestamp;
    return is;
}

static bool cycles_of(const struct pug_element *e, uint64_t *cycles)
{
    *cycles = e->cycle_count;
    return e->flags & PUG_ELEM_HAS_CC;
}

static void count_cycles(struct pug_correlate_queue *queue, uint64_t cycles)
{
    uint64_t before = cycles < queue->ahead ? cycles : queue->ahead;
    queue->ahead = 0;
    queue->cycles += cycles - before;
    queue->info.counts++;
}

/** The stream's clock is at the time of its last entry, whose timestamp this is. */
static void set_time(struct pug_correlate_buffer *buffer, struct pug_correlate_queue *queue,
                     uint64_t time)
{
    queue->info.first = queue->info.timestamps++ ? queue->info.first : time;
    queue->info.last = time;
    if (!queue->has_time || time != queue->time)
        queue->cycles = 0;
    buffer->timeless -= !queue->has_time;
    queue->has_time = true;
    queue->time = time;
    resolve(queue, queue->count, PUG_WHEN_AT, time, queue->cycles);
}

static void take_timestamp(struct pug_correlate_buffer *buffer, struct pug_correlate_queue *queue,
                           const struct pug_element *e, uint64_t time)
{
    uint64_t cycles;
    bool counts = cycles_of(e, &cycles);
    if (counts && !queue->counts_apart) {
        count_cycles(queue, cycles);
        if (queue->has_time)
            resolve(queue, queue->count - 1, PUG_WHEN_CYCLES, queue->time, queue->cycles);
    }
    if (queue->has_time && time < queue->time) {
        queue->info.backwards++;
        time = queue->time;
    }
    if (queue->has_time)
        resolve(queue, queue->count - 1, PUG_WHEN_AFTER, queue->time, queue->cycles);
    else
        resolve(queue, queue->count - 1, PUG_WHEN_BEFORE, time, 0);
    set_time(buffer, queue, time);
    queue->ahead = counts && queue->counts_apart ? cycles : 0;
}

/* ---- the timestamps of an ITM, which date what comes before them ---- */

/** Global timestamps that were not announced: the stream's clock is that of all. */
static void join_common(struct pug_correlate *correlate, struct pug_correlate_queue *queue)
{
    correlate->common += queue->info.own_clock;
    queue->info.own_clock = false;
}

/** What waited for a timestamp of this kind was at its time, or before it. */
static void date_waiting(struct pug_correlate_queue *queue, uint8_t kind, uint64_t time)
{
    const size_t first = queue->ready;
    resolve(queue, queue->count - 1, kind == PUG_ITM_TS_SYNC ? PUG_WHEN_AT : PUG_WHEN_BEFORE, time,
            0);
    for (size_t n = first; n + 1 < queue->count; n++) {
        struct pug_correlated *entry = entry_at(queue, n);
        if (entry->element.type != PUG_ELEM_ITMTRACE)
            entry->when = PUG_WHEN_BEFORE;
        queue->info.late_times += queue->has_time && entry->when == PUG_WHEN_BEFORE;
    }
}

static void take_itm_time(struct pug_correlate *correlate, struct pug_correlate_queue *queue,
                          const struct pug_element *e)
{
    uint64_t time = queue->time;
    bool restarts;
    const uint64_t steps = queue->swo.steps;
    const bool told = pug_swo_clock_take(&queue->swo, e, &time, &restarts);
    if (e->reason != PUG_ITM_TS_GLOBAL)
        count_cycles(queue, queue->swo.steps - steps);
    else if (told)
        join_common(correlate, queue);
    if (!told || (queue->info.own_clock && correlate->common > 0))
        return;
    if (queue->has_time && !restarts && time < queue->time) {
        queue->info.backwards++;
        time = queue->time;
    }
    date_waiting(queue, e->reason, time);
    queue->cycles = 0;
    set_time(&correlate->buffers[queue->info.buffer], queue, time);
}

/* ---- buffers ---- */

/** True: more is settled than before. */
static bool settle_buffer(struct pug_correlate_buffer *buffer)
{
    const uint64_t before = buffer->settled;
    while (buffer->count > 0) {
        const struct pug_correlate_mark *mark = &buffer->marks[buffer->first % PUG_CORRELATE_MARKS];
        if (buffer->index - mark->index < PUG_CORRELATE_WINDOW)
            break;
        buffer->settled = mark->time;
        buffer->first++;
        buffer->count--;
    }
    return buffer->settled != before;
}

/** The buffer has come to this index, and a stream of it to this time. True: more is settled. */
static bool reach(struct pug_correlate_buffer *buffer, uint64_t index, uint64_t time)
{
    if (index > buffer->index)
        buffer->index = index;
    if (time > buffer->reached) {
        uint32_t last = (buffer->first + buffer->count - 1) % PUG_CORRELATE_MARKS;
        bool near = buffer->count > 0 && buffer->index - buffer->marks[last].index <
                                             PUG_CORRELATE_WINDOW / PUG_CORRELATE_MARKS + 1;
        buffer->reached = time;
        if (!near && buffer->count < PUG_CORRELATE_MARKS)
            buffer->marks[(buffer->first + buffer->count++) % PUG_CORRELATE_MARKS] =
                (struct pug_correlate_mark){buffer->index, time};
    }
    return settle_buffer(buffer);
}

/**
 * Streams without a timestamp so far: their elements have waited for one long enough. True: some
 * have.
 */
static bool settle_timeless(struct pug_correlate *correlate, uint32_t number)
{
    uint64_t index = correlate->buffers[number].index;
    struct pug_correlate_queue *queue = pug_correlate_first_of(correlate, number);
    bool any = false;
    for (; queue; queue = pug_correlate_next_of(correlate, queue)) {
        if (queue->has_time)
            continue;
        size_t n = queue->ready;
        while (n < queue->count &&
               index - entry_at(queue, n)->element.index >= PUG_CORRELATE_WINDOW &&
               index >= entry_at(queue, n)->element.index)
            n++;
        any |= n > queue->ready;
        resolve_timeless(correlate, queue, n);
    }
    return any;
}

void pug_correlate_clock_segment(struct pug_correlate *correlate, uint32_t number, uint64_t until)
{
    struct pug_correlate_buffer *buffer = &correlate->buffers[number];
    struct pug_correlate_queue *queue =
        buffer->until > 0 ? pug_correlate_first_of(correlate, number) : NULL;
    for (; queue; queue = pug_correlate_next_of(correlate, queue))
        if (!queue->has_time)
            pug_correlate_clock_settle(correlate, queue);
    if (buffer->until > buffer->reached)
        buffer->reached = buffer->until;
    if (buffer->until > buffer->settled)
        buffer->settled = buffer->until;
    buffer->until = until;
}

bool pug_correlate_clock(struct pug_correlate *correlate, struct pug_correlate_queue *queue)
{
    const struct pug_element *e = &entry_at(queue, queue->count - 1)->element;
    struct pug_correlate_buffer *buffer = &correlate->buffers[queue->info.buffer];
    uint64_t time, cycles;
    entry_at(queue, queue->count - 1)->time = buffer->reached;
    if (queue->is_itm && pug_swo_is_timestamp(e)) {
        take_itm_time(correlate, queue, e);
    } else if (timestamp_of(e, &time)) {
        take_timestamp(buffer, queue, e, time);
    } else if (cycles_of(e, &cycles)) {
        count_cycles(queue, cycles);
        if (queue->has_time)
            resolve(queue, queue->count, PUG_WHEN_CYCLES, queue->time, queue->cycles);
    }
    if (queue->has_time && queue->count - queue->ready > PENDING_LIMIT)
        pug_correlate_clock_settle(correlate, queue);
    bool others = reach(buffer, e->index, queue->time);
    if (buffer->timeless > 0)
        others |= settle_timeless(correlate, queue->info.buffer);
    return others;
}

/* ---- order ---- */

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

int pug_correlate_times(const struct pug_correlated *a, const struct pug_correlated *b)
{
    int order = compare(a->time, b->time);
    if (order == 0) /* before the timestamp, or after it */
        order = (b->when == PUG_WHEN_BEFORE) - (a->when == PUG_WHEN_BEFORE);
    return order ? order : compare(a->cycles, b->cycles);
}

int pug_correlate_order(const struct pug_correlate *correlate, const struct pug_correlated *a,
                        const struct pug_correlated *b)
{
    const struct pug_correlate_stream *from_a = &correlate->streams[a->stream].info;
    const struct pug_correlate_stream *from_b = &correlate->streams[b->stream].info;
    int order = pug_correlate_times(a, b);
    if (order == 0)
        order = compare(from_a->buffer, from_b->buffer);
    if (order == 0)
        order = compare(a->element.index, b->element.index);
    return order ? order : compare(a->stream, b->stream);
}
