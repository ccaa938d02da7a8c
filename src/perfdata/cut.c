// SPDX-License-Identifier: MIT
/** @file Cutting the trace (section 9): AUX records and the buffers' pieces to segments. */
#include "perfdata/perfdata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    AUX_TRUNCATED = 0x1,
    AUX_OVERWRITE = 0x2,
    AUX_PARTIAL = 0x4,
    AUX_COLLISION = 0x8,
    AUX_FORMAT = 0xff00,
    AUX_FORMAT_FRAMES = 0x0000,
    AUX_FORMAT_RAW = 0x0100,
};

#define NO_BUFFER UINT32_MAX

/** The state of a buffer while its segments are cut. */
struct track {
    size_t first, count, last; /* its pieces among all; where the last segment was found */
    /* 1 + the segment that emptied it last, and the one of an older time; 0: none yet */
    uint32_t emptied, before;
};

/** Records that come to nothing: the first of them is named. */
struct loss {
    uint64_t count, bytes;
    struct pug_perf_aux first;
};

struct cutting {
    struct pug_perf *perf;
    struct pug_list tracks; /* struct track, by buffer */
    struct loss missing, strange, uneven;
};

/* ---- pieces of buffers ---- */

/** Buffers of processors come first, by number; then those of threads. */
static int compare_keys(int32_t a_cpu, int32_t a_tid, int32_t b_cpu, int32_t b_tid)
{
    if ((a_cpu < 0) != (b_cpu < 0))
        return a_cpu < 0 ? 1 : -1;
    const int32_t a = a_cpu < 0 ? a_tid : a_cpu, b = b_cpu < 0 ? b_tid : b_cpu;
    return a < b ? -1 : a > b;
}

static int by_key_and_offset(const void *left, const void *right)
{
    const struct pug_perf_auxtrace *a = left, *b = right;
    const int keys = compare_keys(a->cpu, a->tid, b->cpu, b->tid);
    if (keys)
        return keys;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static bool reaches_first(const struct pug_perf_auxtrace *pieces, const struct track *track,
                          size_t n, uint64_t end)
{
    return n < track->count && pieces[n].reach >= end && (n == 0 || pieces[n - 1].reach < end);
}

#define NEAR 8u /* pieces that are tried before they are searched */

/**
 * The first piece that reaches an end, mostly that of the segment before, or one of the next;
 * `count` if none does. Pieces of snapshots overlap: of those that reach it none begins earlier.
 */
static size_t piece_to(const struct pug_perf_auxtrace *pieces, const struct track *track,
                       uint64_t end)
{
    size_t low = 0, high = track->count;
    for (size_t n = track->last; n < track->last + NEAR; n++)
        if (reaches_first(pieces, track, n, end))
            return n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (pieces[middle].reach < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct track *track_of(const struct cutting *cutting, uint32_t buffer)
{
    return buffer < cutting->tracks.count ? (struct track *)cutting->tracks.items + buffer : NULL;
}

/** The piece of a buffer that holds [from, from + size); NULL: none does. */
static const struct pug_perf_auxtrace *find_piece(const struct cutting *cutting, uint32_t buffer,
                                                  uint64_t from, uint64_t size)
{
    struct track *track = track_of(cutting, buffer);
    if (!track || size > UINT64_MAX - from)
        return NULL;
    const struct pug_perf_auxtrace *pieces =
        (const struct pug_perf_auxtrace *)cutting->perf->auxtrace.items + track->first;
    const size_t found = piece_to(pieces, track, from + size);
    if (found == track->count || pieces[found].offset > from)
        return NULL;
    track->last = found;
    return &pieces[found];
}

/** Snapshot mode: the offset is where the data end, and the size may be the whole ring's. */
static const struct pug_perf_auxtrace *find_end(const struct cutting *cutting, uint32_t buffer,
                                                struct pug_perf_aux *aux)
{
    const struct pug_perf_auxtrace *piece =
        aux->offset > 0 ? find_piece(cutting, buffer, aux->offset - 1, 1) : NULL;
    if (!piece)
        return NULL;
    const uint64_t there = aux->offset - piece->offset;
    aux->size = aux->size < there ? aux->size : there;
    aux->offset -= aux->size;
    return piece;
}

static uint32_t buffer_of(const struct pug_perf *perf, int32_t cpu, int32_t tid)
{
    const struct pug_capture_buffer *buffers = pug_capture_buffers(perf->capture);
    size_t low = 0, high = perf->capture->buffers.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int keys = compare_keys(buffers[middle].cpu, buffers[middle].tid, cpu, tid);
        if (keys == 0)
            return (uint32_t)middle;
        if (keys < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NO_BUFFER;
}

/** The processor's buffer, or the thread's, and the piece of it that has the segment. */
static const struct pug_perf_auxtrace *find_trace(const struct cutting *cutting,
                                                  struct pug_perf_aux *aux, uint32_t *buffer)
{
    const struct pug_perf_auxtrace *found = NULL;
    const uint32_t buffers[] = {aux->cpu < 0 ? NO_BUFFER : buffer_of(cutting->perf, aux->cpu, -1),
                                buffer_of(cutting->perf, PUG_NO_CPU, aux->tid)};
    for (size_t i = 0; i < 2 && !found; i++) {
        *buffer = buffers[i];
        found = aux->flags & AUX_OVERWRITE ? find_end(cutting, *buffer, aux)
                                           : find_piece(cutting, *buffer, aux->offset, aux->size);
    }
    return found;
}

/* ---- buffers ---- */

static bool add_buffer(struct cutting *cutting, const struct pug_perf_auxtrace *trace, size_t first)
{
    struct pug_perf *perf = cutting->perf;
    struct pug_capture *capture = perf->capture;
    struct pug_capture_buffer *buffer =
        pug_capture_add(capture, &capture->buffers, sizeof(*buffer));
    struct track *track = pug_list_add(&cutting->tracks, sizeof(*track));
    if (!buffer || !track)
        return false;
    track->first = first;
    buffer->cpu = trace->cpu < 0 ? PUG_NO_CPU : trace->cpu;
    buffer->tid = trace->cpu < 0 ? trace->tid : -1;
    buffer->name = buffer->cpu >= 0
                       ? pug_capture_keep_format(capture, "cpu%d", (int)buffer->cpu)
                       : pug_capture_keep_format(capture, "thread%d", (int)buffer->tid);
    buffer->transport = "coresight";
    buffer->file = ((const struct pug_perf_file *)perf->files.items)[trace->file].path;
    buffer->chosen = !capture->options.buffer || strcmp(capture->options.buffer, buffer->name) == 0;
    return true;
}

/** Buffers, in the order of their keys; the pieces are sorted by them. */
static bool list_buffers(struct cutting *cutting)
{
    struct pug_perf_auxtrace *traces = cutting->perf->auxtrace.items;
    for (size_t i = 0; i < cutting->perf->auxtrace.count; i++) {
        const bool same = i > 0 && compare_keys(traces[i].cpu, traces[i].tid, traces[i - 1].cpu,
                                                traces[i - 1].tid) == 0;
        traces[i].reach = traces[i].offset + traces[i].size;
        if (same && traces[i - 1].reach > traces[i].reach)
            traces[i].reach = traces[i - 1].reach;
        if (!same && !add_buffer(cutting, &traces[i], i))
            return false;
        ((struct track *)cutting->tracks.items)[cutting->tracks.count - 1].count++;
    }
    return true;
}

/* ---- cutting ---- */

static uint32_t flags_of(uint64_t flags)
{
    return (flags & AUX_TRUNCATED ? PUG_SEGMENT_LOST : 0u) |
           (flags & AUX_PARTIAL ? PUG_SEGMENT_GAPS : 0u) |
           (flags & AUX_OVERWRITE ? PUG_SEGMENT_SNAPSHOT : 0u) |
           (flags & AUX_COLLISION ? PUG_SEGMENT_COLLISION : 0u) |
           ((flags & AUX_FORMAT) == AUX_FORMAT_RAW ? PUG_SEGMENT_RAW : 0u);
}

#define FRAME 16u

static void lose(struct loss *loss, const struct pug_perf_aux *aux)
{
    if (loss->count++ == 0)
        loss->first = *aux;
    loss->bytes += aux->size;
}

/** What was recorded into a buffer since it was emptied before: the segment is no older. */
static void note_begin(struct track *track, const struct pug_capture *capture,
                       struct pug_perf_cut *cut)
{
    const struct pug_capture_segment *segments = pug_capture_segments(capture);
    const uint32_t number = (uint32_t)capture->segments.count - 1;
    const struct pug_capture_segment *segment = &segments[number];
    if (segment->time > (track->emptied ? segments[track->emptied - 1].time : 0)) {
        track->before = track->emptied;
        track->emptied = number + 1;
    }
    if (!(segment->flags & PUG_SEGMENT_SNAPSHOT))
        cut->before = track->before;
}

/** The next item of a list that was made long enough. */
static void *next_item(struct pug_list *list, size_t size)
{
    return (char *)list->items + list->count++ * size;
}

static void keep(struct cutting *cutting, const struct pug_perf_aux *aux, uint32_t number,
                 const struct pug_perf_auxtrace *trace)
{
    struct pug_perf *perf = cutting->perf;
    struct pug_capture *capture = perf->capture;
    struct pug_capture_segment *segment = next_item(&capture->segments, sizeof(*segment));
    struct pug_perf_cut *cut = next_item(&perf->cuts, sizeof(*cut));
    struct pug_capture_buffer *buffer = &pug_capture_buffers(capture)[number];
    struct track *track = track_of(cutting, number);
    *segment = (struct pug_capture_segment){
        .buffer = number,
        .flags = flags_of(aux->flags),
        .offset = aux->offset,
        .size = aux->size,
        .time = aux->time,
        .cpu = trace->cpu >= 0 ? trace->cpu : aux->cpu,
    };
    *cut = (struct pug_perf_cut){
        .at = trace->at + (aux->offset - trace->offset), .order = aux->order, .file = trace->file};
    note_begin(track, capture, cut);
    if (buffer->segment_count++ == 0)
        buffer->first_segment = capture->segments.count - 1;
    buffer->size += segment->size;
    if (segment->flags & PUG_SEGMENT_RAW)
        buffer->transport = "plain";
}

static void cut(struct cutting *cutting, struct pug_perf_aux aux)
{
    const uint32_t format = aux.flags & AUX_FORMAT;
    uint32_t buffer;
    if (aux.size == 0)
        return;
    if (format != AUX_FORMAT_FRAMES && format != AUX_FORMAT_RAW) {
        lose(&cutting->strange, &aux);
        return;
    }
    const struct pug_perf_auxtrace *trace = find_trace(cutting, &aux, &buffer);
    if (!trace) {
        lose(&cutting->missing, &aux);
        return;
    }
    if (format == AUX_FORMAT_FRAMES && aux.size % FRAME != 0)
        lose(&cutting->uneven, &aux);
    keep(cutting, &aux, buffer, trace);
}

struct pug_perf_moment pug_perf_cut_begin(const struct pug_perf *perf,
                                          const struct pug_perf_cut *cut)
{
    const struct pug_perf_cut *cuts = perf->cuts.items;
    if (cut->before == 0)
        return (struct pug_perf_moment){0, UINT32_MAX}; /* what was there before is of time 0 */
    const uint32_t number = cut->before - 1;
    return pug_perf_cut_end(&pug_capture_segments(perf->capture)[number], &cuts[number]);
}

struct pug_perf_moment pug_perf_cut_end(const struct pug_capture_segment *segment,
                                        const struct pug_perf_cut *cut)
{
    return segment->time == 0 ? (struct pug_perf_moment){UINT64_MAX, UINT32_MAX}
                              : (struct pug_perf_moment){segment->time, cut->order};
}

/* ---- order ---- */

/** Very old files have no AUX records: each piece of a buffer is one segment. */
static bool make_records(struct pug_perf *perf)
{
    const struct pug_perf_auxtrace *traces = perf->auxtrace.items;
    for (size_t i = 0; i < perf->auxtrace.count; i++) {
        struct pug_perf_aux *aux = pug_capture_add(perf->capture, &perf->aux, sizeof(*aux));
        if (!aux)
            return false;
        *aux = (struct pug_perf_aux){.offset = traces[i].offset,
                                     .size = traces[i].size,
                                     .place = traces[i].at,
                                     .file = (uint16_t)traces[i].file,
                                     .cpu = traces[i].cpu,
                                     .tid = traces[i].tid,
                                     .order = (uint32_t)i};
    }
    return true;
}

static int by_time(const void *left, const void *right)
{
    const struct pug_perf_aux *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/** Sort what is nearly sorted: recorders write the records of one round after the other. */
void pug_perf_sort_aux(struct pug_list *list)
{
    struct pug_perf_aux *aux = list->items;
    size_t left = 8 * list->count; /* steps, before it turns out not to be */
    for (size_t i = 1; i < list->count && left > 0; i++) {
        const struct pug_perf_aux moved = aux[i];
        size_t to = i;
        while (to > 0 && left > 0 && by_time(&aux[to - 1], &moved) > 0) {
            aux[to] = aux[to - 1];
            to--;
            left--;
        }
        aux[to] = moved;
    }
    if (left == 0 && list->count > 0)
        qsort(list->items, list->count, sizeof(*aux), by_time);
}

/* Lists of AUX records: of a long file's parts, and of everything after them. */
#define LISTS (PUG_PERF_SCOUTS + 1)

static struct pug_list *records_of(struct pug_perf *perf, size_t list)
{
    return list < PUG_PERF_SCOUTS ? &perf->aux_parts[list].list : &perf->aux;
}

/** Lists that are sorted, one after the other or merged. */
struct merge {
    struct run {
        struct pug_list *list; /* freed at its end */
        const struct pug_perf_aux *at, *end;
        uint32_t before, later; /* of struct pug_perf_aux_part */
    } runs[LISTS];              /* in the order of the file */
    struct run *current;        /* has the first record of all; NULL: there is none left */
    struct run *other;          /* that has the first of the others; NULL: they are at their ends */
};

/** Of equal times the list that stands first in the file goes first. */
static bool goes_first(const struct run *a, const struct run *b)
{
    const uint64_t mine = a->at->time + a->later, its = b->at->time + b->later;
    return mine != its ? mine < its : a < b;
}

static void choose_run(struct merge *merge)
{
    merge->current = merge->other = NULL;
    for (struct run *run = merge->runs; run < merge->runs + LISTS; run++) {
        if (run->at == run->end)
            continue;
        if (!merge->current || goes_first(run, merge->current)) {
            merge->other = merge->current;
            merge->current = run;
        } else if (!merge->other || goes_first(run, merge->other)) {
            merge->other = run;
        }
    }
}

static void merge_begin(struct merge *merge, struct pug_perf *perf)
{
    for (size_t i = 0; i < LISTS; i++) {
        struct pug_list *list = records_of(perf, i);
        const struct pug_perf_aux *aux = list->items;
        struct run *run = &merge->runs[i];
        *run =
            (struct run){.list = list, .at = aux, .end = list->count > 0 ? aux + list->count : aux};
        if (i < PUG_PERF_SCOUTS) {
            run->before = perf->aux_parts[i].before;
            run->later = perf->aux_parts[i].later;
        }
    }
    choose_run(merge);
}

static void forget_records(struct pug_list *list)
{
    free(list->items);
    *list = (struct pug_list){0};
}

/** The next record; false: there is none. */
static bool merge_next(struct merge *merge, struct pug_perf_aux *next)
{
    struct run *run = merge->current;
    if (!run)
        return false;
    *next = *run->at++;
    next->order += run->before;
    next->time += run->later;
    const bool ended = run->at == run->end;
    if (ended || (merge->other && goes_first(merge->other, run)))
        choose_run(merge);
    if (ended)
        forget_records(run->list);
    return true;
}

/* ---- pieces by buffer ---- */

/** A buffer's pieces: how many, and, when they are put together, where the next one goes. */
struct heap {
    int32_t cpu, tid;
    size_t count, next;
};

static int by_key(const void *left, const void *right)
{
    const struct heap *a = left, *b = right;
    return compare_keys(a->cpu, a->tid, b->cpu, b->tid);
}

/** The heap of a piece, mostly that of the piece before; NULL: there is none. */
static struct heap *heap_of(const struct pug_list *heaps, struct heap *last,
                            const struct pug_perf_auxtrace *piece)
{
    const struct heap key = {.cpu = piece->cpu, .tid = piece->tid};
    if (last && by_key(last, &key) == 0)
        return last;
    return heaps->count == 0 ? NULL
                             : bsearch(&key, heaps->items, heaps->count, sizeof(key), by_key);
}

/* With more buffers all pieces are sorted at once. */
#define MOST_HEAPS 1024u

/** A new heap in its place among the others; NULL: there are too many, or there is no memory. */
static struct heap *add_heap(struct pug_list *heaps, const struct pug_perf_auxtrace *piece)
{
    struct heap *list = heaps->count < MOST_HEAPS ? pug_list_add(heaps, sizeof(*list)) : NULL;
    if (!list)
        return NULL;
    list = heaps->items;
    const struct heap fresh = {.cpu = piece->cpu, .tid = piece->tid};
    size_t at = heaps->count - 1;
    for (; at > 0 && by_key(&list[at - 1], &fresh) > 0; at--)
        list[at] = list[at - 1];
    list[at] = fresh;
    return &list[at];
}

/** One heap for each buffer, in their order. False: there are too many, or there is no memory. */
static bool list_heaps(const struct pug_list *pieces, struct pug_list *heaps)
{
    const struct pug_perf_auxtrace *all = pieces->items;
    struct heap *last = NULL;
    for (size_t i = 0; i < pieces->count; i++) {
        last = heap_of(heaps, last, &all[i]);
        if (!last && !(last = add_heap(heaps, &all[i])))
            return false;
        last->count++;
    }
    return true;
}

static bool is_sorted(const struct pug_perf_auxtrace *pieces, size_t count)
{
    size_t sorted = 1;
    while (sorted < count && by_key_and_offset(&pieces[sorted - 1], &pieces[sorted]) <= 0)
        sorted++;
    return sorted >= count;
}

/** Heap by heap, each in the order of the file, which mostly is that of offsets. */
static void put_heaps(struct pug_list *pieces, const struct pug_list *heaps,
                      struct pug_perf_auxtrace *sorted)
{
    const struct pug_perf_auxtrace *all = pieces->items;
    struct heap *list = heaps->items, *last = NULL;
    size_t first = 0;
    for (size_t i = 0; i < heaps->count; first += list[i++].count)
        list[i].next = first;
    for (size_t i = 0; i < pieces->count; i++) {
        last = heap_of(heaps, last, &all[i]);
        sorted[last->next++] = all[i];
    }
    for (size_t i = 0; i < heaps->count; i++) {
        struct pug_perf_auxtrace *own = sorted + (list[i].next - list[i].count);
        if (!is_sorted(own, list[i].count))
            qsort(own, list[i].count, sizeof(*own), by_key_and_offset);
    }
}

/** Recorders write one buffer after the other, again and again. */
static void sort_pieces(struct pug_list *pieces)
{
    struct pug_list heaps = {0};
    struct pug_perf_auxtrace *sorted = NULL;
    if (is_sorted(pieces->items, pieces->count))
        return;
    if (list_heaps(pieces, &heaps))
        sorted = malloc(pieces->count * sizeof(*sorted));
    if (sorted) {
        put_heaps(pieces, &heaps, sorted);
        free(pieces->items);
        *pieces = (struct pug_list){sorted, pieces->count, pieces->count};
    } else {
        qsort(pieces->items, pieces->count, sizeof(*sorted), by_key_and_offset);
    }
    free(heaps.items);
}

/* ---- all together ---- */

static void tell_loss(const struct cutting *cutting, const struct loss *loss, const char *what)
{
    char text[200];
    if (loss->count == 0)
        return;
    snprintf(text, sizeof(text), "%llu bytes of trace in %llu stretches, from this one on, %s",
             (unsigned long long)loss->bytes, (unsigned long long)loss->count, what);
    pug_perf_damage(cutting->perf, loss->first.file, loss->first.place, PUG_PERF_AUX, text);
}

static void tell(const struct cutting *cutting)
{
    tell_loss(cutting, &cutting->missing, "were not saved: the recorder could not keep up");
    tell_loss(cutting, &cutting->strange, "have a format that is not known; they are left out");
    tell_loss(cutting, &cutting->uneven, "end inside a frame, which is left out");
    if (cutting->missing.count)
        pug_capture_add_fact(cutting->perf->capture, "not saved", "%llu bytes in %llu stretches",
                             (unsigned long long)cutting->missing.bytes,
                             (unsigned long long)cutting->missing.count);
}

/** All records, in the order of time, to segments; no list has any then. */
static void cut_all(struct cutting *cutting)
{
    struct merge merge;
    struct pug_perf_aux aux;
    merge_begin(&merge, cutting->perf);
    while (merge_next(&merge, &aux))
        cut(cutting, aux);
}

enum pug_status pug_perf_cut(struct pug_perf *perf)
{
    struct cutting cutting = {.perf = perf};
    sort_pieces(&perf->auxtrace);
    bool good = list_buffers(&cutting) && (perf->has_aux || make_records(perf));
    size_t count = 0;
    pug_perf_sort_aux(&perf->aux);
    for (size_t i = 0; i < LISTS; i++)
        count += records_of(perf, i)->count;
    good = good &&
           pug_list_reserve_long(&perf->capture->segments, count,
                                 sizeof(struct pug_capture_segment)) &&
           pug_list_reserve_long(&perf->cuts, count, sizeof(struct pug_perf_cut));
    if (good)
        cut_all(&cutting);
    tell(&cutting);
    free(cutting.tracks.items);
    return good ? PUG_OK : PUG_ERR_MEM;
}
