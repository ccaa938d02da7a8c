// SPDX-License-Identifier: MIT
/** @file Cutting the trace (section 9): AUX records and the buffers' pieces to stretches. */
#include "perfdata/perfdata.h"

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

/** One cut, with what it is sorted by. */
struct piece {
    struct pug_capture_stretch stretch;
    struct pug_perf_cut cut;
    uint32_t order;
};

struct cutting {
    struct pug_perf *perf;
    struct pug_list pieces; /* struct piece */
    uint64_t missing, missing_bytes, strange, uneven;
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

/** The piece of a buffer that holds [from, from + size), by halves; NULL: none does. */
static const struct pug_perf_auxtrace *find_piece(const struct pug_perf *perf, int32_t cpu,
                                                  int32_t tid, uint64_t from, uint64_t size)
{
    const struct pug_perf_auxtrace *traces = perf->auxtrace.items;
    size_t low = 0, high = perf->auxtrace.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int keys = compare_keys(traces[middle].cpu, traces[middle].tid, cpu, tid);
        if (keys < 0 || (keys == 0 && traces[middle].offset <= from))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct pug_perf_auxtrace *trace = &traces[low - 1];
    const bool holds = compare_keys(trace->cpu, trace->tid, cpu, tid) == 0 &&
                       from - trace->offset <= trace->size &&
                       size <= trace->size - (from - trace->offset);
    return holds ? trace : NULL;
}

/** Snapshot mode: the offset is where the data end, and the size may be the whole ring's. */
static const struct pug_perf_auxtrace *find_end(const struct pug_perf *perf, int32_t cpu,
                                                int32_t tid, struct pug_perf_aux *aux)
{
    const struct pug_perf_auxtrace *trace =
        aux->offset > 0 ? find_piece(perf, cpu, tid, aux->offset - 1, 1) : NULL;
    if (!trace)
        return NULL;
    const uint64_t there = aux->offset - trace->offset;
    aux->size = aux->size < there ? aux->size : there;
    aux->offset -= aux->size;
    return trace;
}

static const struct pug_perf_auxtrace *find_trace(const struct pug_perf *perf,
                                                  struct pug_perf_aux *aux)
{
    const struct pug_perf_auxtrace *found = NULL;
    const bool snapshot = aux->flags & AUX_OVERWRITE;
    if (aux->cpu >= 0)
        found = snapshot ? find_end(perf, aux->cpu, -1, aux)
                         : find_piece(perf, aux->cpu, -1, aux->offset, aux->size);
    if (!found)
        found = snapshot ? find_end(perf, PUG_NO_CPU, aux->tid, aux)
                         : find_piece(perf, PUG_NO_CPU, aux->tid, aux->offset, aux->size);
    return found;
}

/* ---- buffers ---- */

/** Buffers, in the order of their keys; the pieces are sorted by them. */
static enum pug_status list_buffers(struct pug_perf *perf)
{
    struct pug_capture *capture = perf->capture;
    const struct pug_perf_auxtrace *traces = perf->auxtrace.items;
    for (size_t i = 0; i < perf->auxtrace.count; i++) {
        const struct pug_perf_auxtrace *trace = &traces[i];
        if (i > 0 && compare_keys(trace->cpu, trace->tid, trace[-1].cpu, trace[-1].tid) == 0)
            continue;
        struct pug_capture_buffer *buffer = pug_list_add(&capture->buffers, sizeof(*buffer));
        if (!buffer)
            return PUG_ERR_MEM;
        buffer->cpu = trace->cpu < 0 ? PUG_NO_CPU : trace->cpu;
        buffer->tid = trace->cpu < 0 ? trace->tid : -1;
        buffer->name = buffer->cpu >= 0
                           ? pug_capture_keep_format(capture, "cpu%d", (int)buffer->cpu)
                           : pug_capture_keep_format(capture, "thread%d", (int)buffer->tid);
        buffer->transport = "coresight";
        buffer->file = ((const struct pug_perf_file *)perf->files.items)[trace->file].path;
        buffer->chosen =
            !capture->options.buffer || strcmp(capture->options.buffer, buffer->name) == 0;
    }
    return PUG_OK;
}

static uint32_t buffer_of(const struct pug_perf *perf, int32_t cpu, int32_t tid)
{
    const struct pug_capture_buffer *buffers = pug_capture_buffers(perf->capture);
    size_t low = 0, high = perf->capture->buffers.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_keys(buffers[middle].cpu, buffers[middle].tid, cpu, tid) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < perf->capture->buffers.count ? (uint32_t)low : NO_BUFFER;
}

/* ---- cutting ---- */

static uint32_t flags_of(uint64_t flags)
{
    return (flags & AUX_TRUNCATED ? PUG_STRETCH_LOST : 0u) |
           (flags & AUX_PARTIAL ? PUG_STRETCH_GAPS : 0u) |
           (flags & AUX_OVERWRITE ? PUG_STRETCH_SNAPSHOT : 0u) |
           (flags & AUX_COLLISION ? PUG_STRETCH_COLLISION : 0u) |
           ((flags & AUX_FORMAT) == AUX_FORMAT_RAW ? PUG_STRETCH_RAW : 0u);
}

#define FRAME 16u

static bool cut(struct cutting *cutting, struct pug_perf_aux aux)
{
    struct pug_perf *perf = cutting->perf;
    if (aux.size == 0)
        return true;
    const uint64_t format = aux.flags & AUX_FORMAT;
    if (format != AUX_FORMAT_FRAMES && format != AUX_FORMAT_RAW) {
        cutting->strange++;
        return true;
    }
    const struct pug_perf_auxtrace *trace = find_trace(perf, &aux);
    if (!trace) {
        cutting->missing++;
        cutting->missing_bytes += aux.size;
        return true;
    }
    cutting->uneven += format == AUX_FORMAT_FRAMES && aux.size % FRAME != 0;
    struct piece *piece = pug_list_add(&cutting->pieces, sizeof(*piece));
    if (!piece)
        return false;
    piece->order = aux.order;
    piece->stretch = (struct pug_capture_stretch){
        .buffer = buffer_of(perf, trace->cpu, trace->tid),
        .flags = flags_of(aux.flags),
        .offset = aux.offset,
        .size = aux.size,
        .time = aux.time,
        .cpu = trace->cpu >= 0 ? trace->cpu : aux.cpu,
    };
    piece->cut = (struct pug_perf_cut){.file = trace->file,
                                       .at = trace->at + (aux.offset - trace->offset),
                                       .tid = trace->cpu < 0 ? trace->tid : -1};
    return true;
}

/** Very old files have no AUX records: each piece of a buffer is one stretch. */
static bool cut_whole(struct cutting *cutting)
{
    const struct pug_perf_auxtrace *traces = cutting->perf->auxtrace.items;
    bool good = true;
    for (size_t i = 0; good && i < cutting->perf->auxtrace.count; i++)
        good = cut(cutting, (struct pug_perf_aux){.offset = traces[i].offset,
                                                  .size = traces[i].size,
                                                  .cpu = traces[i].cpu,
                                                  .tid = traces[i].tid,
                                                  .order = (uint32_t)i});
    return good;
}

static int by_time(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    if (a->stretch.time != b->stretch.time)
        return a->stretch.time < b->stretch.time ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/** When a buffer was emptied: last, and the time before that. */
struct emptied {
    struct pug_perf_moment last, before;
};

/** What was recorded into a buffer since it was emptied before: the stretch is no older. */
static void note_begin(struct emptied *emptied, struct piece *piece)
{
    const struct pug_perf_moment unknown = {UINT64_MAX, UINT32_MAX};
    piece->cut.end = piece->stretch.time == 0
                         ? unknown
                         : (struct pug_perf_moment){piece->stretch.time, piece->order};
    if (piece->stretch.time > emptied->last.time) {
        emptied->before = emptied->last;
        emptied->last = piece->cut.end;
    }
    if (!(piece->stretch.flags & PUG_STRETCH_SNAPSHOT))
        piece->cut.begin = emptied->before;
    if (piece->cut.begin.time == 0)
        piece->cut.begin.order = UINT32_MAX; /* what was there before is of time 0 */
}

static enum pug_status keep(struct cutting *cutting)
{
    struct pug_perf *perf = cutting->perf;
    struct pug_capture *capture = perf->capture;
    struct piece *pieces = cutting->pieces.items;
    const size_t count = cutting->pieces.count;
    struct emptied *emptied = calloc(capture->buffers.count + 1, sizeof(*emptied));
    bool good = emptied &&
                pug_list_reserve(&capture->stretches, count, sizeof(struct pug_capture_stretch)) &&
                pug_list_reserve(&perf->cuts, count, sizeof(struct pug_perf_cut));
    if (count > 0)
        qsort(pieces, count, sizeof(*pieces), by_time);
    for (size_t i = 0; good && i < count; i++) {
        struct pug_capture_buffer *buffer = &pug_capture_buffers(capture)[pieces[i].stretch.buffer];
        note_begin(&emptied[pieces[i].stretch.buffer], &pieces[i]);
        if (buffer->stretch_count++ == 0)
            buffer->first_stretch = i;
        buffer->size += pieces[i].stretch.size;
        if (pieces[i].stretch.flags & PUG_STRETCH_RAW)
            buffer->transport = "plain";
        *(struct pug_capture_stretch *)pug_list_add(
            &capture->stretches, sizeof(struct pug_capture_stretch)) = pieces[i].stretch;
        *(struct pug_perf_cut *)pug_list_add(&perf->cuts, sizeof(struct pug_perf_cut)) =
            pieces[i].cut;
    }
    free(emptied);
    return good ? PUG_OK : PUG_ERR_MEM;
}

static void tell(const struct cutting *cutting)
{
    const struct pug_capture *capture = cutting->perf->capture;
    if (cutting->missing)
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK,
                        "%s: %llu bytes of trace in %llu stretches were not saved: the recorder "
                        "could not keep up",
                        capture->path, (unsigned long long)cutting->missing_bytes,
                        (unsigned long long)cutting->missing);
    if (cutting->strange)
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK,
                        "%s: %llu AUX records have a format that is not known; they are left out",
                        capture->path, (unsigned long long)cutting->strange);
    if (cutting->uneven)
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK,
                        "%s: %llu stretches end inside a frame, which is left out", capture->path,
                        (unsigned long long)cutting->uneven);
    if (cutting->missing)
        pug_capture_add_fact(cutting->perf->capture, "not saved", "%llu bytes in %llu stretches",
                             (unsigned long long)cutting->missing_bytes,
                             (unsigned long long)cutting->missing);
}

enum pug_status pug_perf_cut(struct pug_perf *perf)
{
    struct cutting cutting = {.perf = perf};
    const struct pug_perf_aux *aux = perf->aux.items;
    if (perf->auxtrace.count > 0)
        qsort(perf->auxtrace.items, perf->auxtrace.count, sizeof(struct pug_perf_auxtrace),
              by_key_and_offset);
    enum pug_status status = list_buffers(perf);
    bool good = status == PUG_OK;
    if (good && perf->aux.count == 0)
        good = cut_whole(&cutting);
    for (size_t i = 0; good && i < perf->aux.count; i++)
        good = cut(&cutting, aux[i]);
    if (good)
        status = keep(&cutting);
    tell(&cutting);
    free(cutting.pieces.items);
    return good ? status : PUG_ERR_MEM;
}
