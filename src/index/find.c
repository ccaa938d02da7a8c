// SPDX-License-Identifier: MIT
/**
 * @file Looking for marks. A summary answers where its first or last mark does; else the block is
 * read again, from the nearest synchronisation point first. A block's hash shows whether the state
 * equals that of reading from the start of the capture; the last attempt does read from there.
 */
#include "base/bisect.h"
#include "index/collect.h"
#include "index/format.h"

#include <stdlib.h>

/* Where not all marks came with their block: packets may end after it, within so many bytes. */
#define PIECE UINT64_C(4096)
/* Synchronisation points to try before the start of the capture. */
#define ATTEMPTS 3
/* Marks of a source that wait to be looked at. */
#define LIST 256u
/* Marks of later blocks that are kept; packets that end after a block contain no more. */
#define LATER ((size_t)1 << 16)
/* Most sources that are read on at the same time. */
#define READINGS 16u
/*
 * Bytes that may be read for marks that are not what the index has of them: so many, and so many
 * times the trace. Else each summary of a made-up index would have the trace read from its start.
 */
#define MOST_WASTED      ((uint64_t)64 << 20)
#define MOST_WASTED_EACH 32u

/**
 * The marks of one kind of one source in one block. Its tree goes on with a later block, where
 * synchronisation is so rare that it would have to begin before the one at hand.
 */
struct reading {
    enum pug_mark_kind kind;
    uint16_t id;
    bool nobody;
    uint64_t start, end;                       /* of the block */
    struct pug_index_file_mark *marks, *later; /* in it, and after it */
    size_t count, room, later_count, later_room;
    bool out_of_memory;
    struct pug_tree *tree;
    uint64_t from, at; /* where the tree began, and how far it has come */
    bool stopped;      /* it cannot go on */
    uint64_t wasted;   /* bytes that were read for marks that are not the index's */
    struct pug_mark_list list;
    struct pug_placed_mark waiting[LIST];
};

/** Those that go on. */
struct readings {
    struct reading *all[READINGS];
    unsigned next;   /* the one that is given up for another */
    uint64_t wasted; /* of all of them, those that were given up included */
};

static bool add(struct pug_index_file_mark **marks, size_t *count, size_t *room,
                struct pug_index_file_mark mark)
{
    if (*count == *room) {
        size_t more = *room ? 2 * *room : 64;
        struct pug_index_file_mark *grown = realloc(*marks, more * sizeof(*grown));
        if (!grown)
            return false;
        *marks = grown;
        *room = more;
    }
    (*marks)[(*count)++] = mark;
    return true;
}

static void keep(struct reading *reading, uint64_t at, uint64_t value)
{
    const struct pug_index_file_mark mark = {.at = at, .value = value};
    if (at < reading->start)
        return;
    if (at < reading->end)
        reading->out_of_memory |= !add(&reading->marks, &reading->count, &reading->room, mark);
    else if (reading->later_count == LATER)
        reading->stopped = true;
    else
        reading->out_of_memory |=
            !add(&reading->later, &reading->later_count, &reading->later_room, mark);
}

/** Marks kept for later belong to this block, or still to later ones. */
static void begin_block(struct reading *reading, uint64_t start, uint64_t end)
{
    const size_t count = reading->later_count;
    reading->start = start;
    reading->end = end;
    reading->count = reading->later_count = 0;
    for (size_t i = 0; i < count; i++)
        keep(reading, reading->later[i].at, reading->later[i].value);
}

static void on_list(struct pug_mark_list *list)
{
    struct reading *reading =
        (struct reading *)(void *)((char *)list - offsetof(struct reading, list));
    for (uint32_t i = 0; i < list->count; i++) {
        const struct pug_placed_mark *mark = &list->marks[i];
        if (mark->kind == (uint32_t)reading->kind)
            keep(reading, mark->index, mark->value);
    }
    list->count = 0;
}

/** Marks of an id that is none of a source: each of its runs is one. */
static void on_run(void *context, const struct pug_run *run)
{
    struct reading *reading = context;
    if (run->source == reading->id && run->size > 0)
        keep(reading, run->index, pug_index_payload(run));
}

/** Synchronisation points of the frames, which are of no source. */
static void on_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                     uint16_t id, const uint8_t *bytes, size_t size)
{
    struct reading *reading = context;
    (void)id;
    (void)bytes;
    (void)size;
    if (op == PUG_OP_DATA && kind == PUG_FRAME_FSYNC)
        keep(reading, index, 0);
}

/** Are its marks those of the frames themselves? */
static bool is_of_frames(const struct pug_index_file_summary *summary)
{
    return summary->kind == PUG_MARK_SYNC && summary->nobody;
}

static uint32_t hash_of(const struct reading *reading)
{
    uint64_t before = reading->marks[0].value;
    uint32_t hash = 0;
    for (size_t i = 0; i < reading->count; i++) {
        const struct pug_index_file_mark *mark = &reading->marks[i];
        hash += pug_index_mark_hash(reading->kind, mark->at, mark->value, before);
        before = mark->value;
    }
    return hash;
}

/**
 * Is it what the index has? Timestamps are compressed against the last one, or extended over their
 * wraps: their upper bits may be those of a trace that began here; then the index knows them.
 */
static bool is_proved(struct reading *reading, const struct pug_index_file_summary *summary)
{
    if (reading->count == 0 || reading->count != summary->count ||
        reading->marks[0].at != reading->start + summary->first_at ||
        hash_of(reading) != summary->hash)
        return false;
    const uint64_t more =
        reading->kind == PUG_MARK_TIMESTAMP ? summary->first - reading->marks[0].value : 0;
    for (size_t i = 0; i < reading->count; i++)
        reading->marks[i].value += more;
    return true;
}

/** Read to the block's end, and on until there are as many marks as there must be. */
static void read_on(struct reading *reading, const uint8_t *bytes, uint64_t end, uint64_t wanted)
{
    enum pug_response response = PUG_RESP_CONT;
    /* What was not synchronised at the start may never have as many: a block more will do. */
    uint64_t size = reading->end - reading->start, at = reading->at;
    uint64_t most = reading->from > 0 && end - reading->end > size ? reading->end + size : end;
    const bool ended = at == end;
    while ((at < reading->end || (at < most && reading->count < wanted)) &&
           PUG_RESP_IS_CONT(response)) {
        uint64_t piece = at < reading->end ? reading->end - at : PIECE;
        size_t used = 0;
        response = pug_tree_data(reading->tree, at, bytes + at,
                                 (size_t)(piece < end - at ? piece : end - at), &used);
        at += used;
        if (reading->list.count > 0)
            on_list(&reading->list);
        if (used == 0)
            break;
    }
    if (at == end && !ended && PUG_RESP_IS_CONT(response)) {
        (void)pug_tree_end(reading->tree);
        on_list(&reading->list);
    }
    reading->stopped |= !PUG_RESP_IS_CONT(response);
    reading->at = at;
}

static void read_from(struct reading *reading, const uint8_t *bytes, uint64_t from, uint64_t end,
                      uint64_t wanted)
{
    reading->count = reading->later_count = 0;
    reading->from = reading->at = from;
    reading->stopped = false;
    (void)pug_tree_reset(reading->tree);
    read_on(reading, bytes, end, wanted);
}

static struct pug_source *find_source(struct pug_tree *tree, uint16_t id)
{
    struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(tree, n)) != NULL; n++)
        if (pug_source_id(source) == id)
            return source;
    return NULL;
}

/** Let the reading have the tree's marks, which are no other reader's. */
static void attach(struct reading *reading, const struct pug_index_file_summary *summary)
{
    struct pug_tree *tree = reading->tree;
    struct pug_source *source = summary->nobody ? NULL : find_source(tree, summary->source);
    pug_tree_enable_all(tree, false);
    if (source) {
        pug_tree_enable(tree, pug_source_slot(source), true);
        pug_source_marks(source, &reading->list);
    } else if (is_of_frames(summary)) {
        (void)pug_tree_on_frames(tree, on_frame, reading, 4);
    } else {
        pug_tree_on_runs(tree, on_run, reading);
    }
}

/** Is it what the index has, or else what reading from the start of the capture gives? */
static bool holds_good(const struct pug_index *index, struct reading *reading,
                       const struct pug_index_file_summary *summary, uint64_t read_from)
{
    if (is_proved(reading, summary))
        return true;
    reading->wasted += reading->at - read_from;
    return reading->from == index->header->from;
}

/** Read a summary's marks; `goes_on`: the tree has read everything before, and nothing after. */
static void read_with(const struct pug_index *index, const struct pug_index_file_summary *summary,
                      const uint8_t *bytes, struct reading *reading, bool goes_on)
{
    const struct pug_index_file_header *h = index->header;
    const uint32_t seat = summary->nobody ? PUG_INDEX_NOBODY : summary->source;
    uint64_t from = reading->start;
    bool good = false;
    for (int attempt = 0; !good && attempt <= ATTEMPTS; attempt++) {
        from = attempt < ATTEMPTS ? pug_index_sync_before(index, seat, from) : 0;
        from -= from % PUG_INDEX_ALIGNMENT;
        from = from < h->from ? h->from : from;
        if (attempt == 0 && goes_on && reading->at >= from) {
            const uint64_t at = reading->at;
            read_on(reading, bytes, h->indexed, summary->count);
            good = holds_good(index, reading, summary, at);
        }
        if (good)
            break;
        read_from(reading, bytes, from, h->indexed, summary->count);
        good = holds_good(index, reading, summary, from);
    }
}

/** Nothing is read any more; marks of the block stay. */
static void end_reading(struct reading *reading)
{
    pug_tree_free(reading->tree);
    free(reading->later);
    reading->tree = NULL;
    reading->later = NULL;
}

static bool is_readable(const struct pug_index_file_summary *summary, struct pug_tree *tree)
{
    if (!tree || summary->nobody)
        return tree && is_of_frames(summary);
    return find_source(tree, summary->source) != NULL || summary->kind == PUG_MARK_TRIGGER;
}

/** Read a summary's marks; false: no memory. */
static bool read_marks(const struct pug_index *index, const struct pug_index_file_summary *summary,
                       const struct pug_tree *model, const uint8_t *bytes, struct reading *reading)
{
    const uint64_t block = index->header->block, start = summary->block * block;
    const uint64_t end =
        index->header->indexed - start > block ? start + block : index->header->indexed;
    const bool goes_on = reading->tree && !reading->stopped && start >= reading->end;
    if (!reading->tree) {
        *reading = (struct reading){
            .kind = (enum pug_mark_kind)summary->kind,
            .id = summary->source,
            .nobody = summary->nobody,
            .wasted = reading->wasted,
            .list = {.marks = reading->waiting, .room = LIST, .full = on_list},
        };
        if (pug_tree_clone(model, NULL, &reading->tree) != PUG_OK)
            return false;
        attach(reading, summary);
    }
    begin_block(reading, start, end);
    read_with(index, summary, bytes, reading, goes_on);
    return !reading->out_of_memory;
}

/** Read a summary's marks; false: no memory, or nothing in the tree gives them. */
static bool read_block(const struct pug_index *index, const struct pug_index_file_summary *summary,
                       struct pug_tree *tree, const uint8_t *bytes, struct reading *reading)
{
    *reading = (struct reading){0};
    if (!is_readable(summary, tree))
        return false;
    const bool good = read_marks(index, summary, tree, bytes, reading);
    end_reading(reading);
    if (!good)
        free(reading->marks);
    return good;
}

/** The reading that a summary's marks come of, or a new one; NULL: no memory. */
static struct reading *reading_of(struct readings *readings,
                                  const struct pug_index_file_summary *summary)
{
    struct reading **place = readings->all;
    struct reading **const end = place + READINGS;
    while (place < end && *place &&
           ((*place)->id != summary->source || (*place)->nobody != summary->nobody))
        place++;
    if (place == end) {
        place = &readings->all[readings->next++ % READINGS];
        end_reading(*place);
        free((*place)->marks);
        **place = (struct reading){0};
    }
    if (!*place)
        *place = calloc(1, sizeof(**place));
    return *place;
}

static void free_readings(struct readings *readings)
{
    for (unsigned i = 0; i < READINGS && readings->all[i]; i++) {
        end_reading(readings->all[i]);
        free(readings->all[i]->marks);
        free(readings->all[i]);
    }
}

/* ---- queries ---- */

static bool fits(const struct pug_index_query *query, uint64_t at, uint64_t value)
{
    return value >= query->least && value <= query->greatest &&
           (query->backwards ? at < query->from : at >= query->from);
}

static bool may_fit(const struct pug_index *index, const struct pug_index_file_summary *s,
                    const struct pug_index_query *query)
{
    return s->kind == query->kind && pug_index_means(index, query->source, s->source, s->nobody) &&
           s->least <= query->greatest && s->greatest >= query->least;
}

/** Keep the nearer of two answers. */
static void offer(const struct pug_index_query *query, const struct pug_index_file_summary *summary,
                  uint64_t at, uint64_t value, struct pug_index_mark *best, bool *found)
{
    if (!fits(query, at, value) || (*found && (query->backwards ? at <= best->at : at >= best->at)))
        return;
    *found = true;
    *best = (struct pug_index_mark){.at = at,
                                    .value = value,
                                    .source = summary->source,
                                    .nobody = summary->nobody,
                                    .kind = query->kind};
}

/** The first mark at a position or after it. */
static uint64_t marks_from(const struct pug_index *index, uint64_t at)
{
    return pug_bisect_below(index->marks, (size_t)index->header->marks, sizeof(*index->marks),
                            offsetof(struct pug_index_file_mark, at), at);
}

/** Are all marks of a summary in the index? */
static bool is_kept(const struct pug_index *index, const struct pug_index_file_summary *s)
{
    bool full = index->header->flags & PUG_INDEX_FULL;
    for (uint32_t i = 0; i < index->header->sources && !full; i++)
        full =
            index->sources[i].id == s->source && (index->sources[i].flags & PUG_INDEX_SOURCE_FULL);
    return full;
}

/** All marks of a summary, from an index that keeps them. */
static void look_at_marks(const struct pug_index *index, const struct pug_index_file_summary *s,
                          const struct pug_index_query *query, struct pug_index_mark *best,
                          bool *found)
{
    uint64_t size = index->header->block;
    uint64_t end = marks_from(index, (s->block + UINT64_C(1)) * size);
    for (uint64_t n = marks_from(index, s->block * size); n < end; n++) {
        const struct pug_index_file_mark *mark = &index->marks[n];
        if (mark->kind == s->kind && mark->source == s->source && mark->nobody == s->nobody)
            offer(query, s, mark->at, mark->value, best, found);
    }
}

/** The nearest mark of one summary that fits. */
static void look(const struct pug_index *index, const struct pug_index_file_summary *s,
                 struct pug_tree *tree, const uint8_t *bytes, const struct pug_index_query *query,
                 struct readings *readings, struct pug_index_mark *best, bool *found)
{
    uint64_t start = s->block * index->header->block;
    uint64_t first_at = start + s->first_at, last_at = start + s->last_at;
    if (query->backwards ? first_at >= query->from : last_at < query->from)
        return;
    bool settled =
        query->backwards ? fits(query, last_at, s->last) : fits(query, first_at, s->first);
    if (settled || s->count == 1 || s->kind == PUG_MARK_DATA) {
        offer(query, s, query->backwards ? last_at : first_at,
              query->backwards ? s->last : s->first, best, found);
        if (settled || s->count == 1)
            return;
    }
    if (s->kind == PUG_MARK_DATA)
        return;
    if (is_kept(index, s)) {
        look_at_marks(index, s, query, best, found);
        return;
    }
    if (!is_readable(s, tree))
        return; /* an id without packets: its first and last are all there is to offer */
    struct reading *reading = reading_of(readings, s);
    const uint64_t wasted = reading ? reading->wasted : 0;
    if (!reading || !read_marks(index, s, tree, bytes, reading))
        return;
    readings->wasted += reading->wasted - wasted;
    for (size_t i = 0; i < reading->count; i++)
        offer(query, s, reading->marks[i].at, reading->marks[i].value, best, found);
}

/** Blocks in which a value that is asked for may be. */
struct places {
    uint64_t first, last, parts;
    unsigned part_shift;
};

/** False: no mark has such a value. */
static bool find_places(const struct pug_index *index, const struct pug_index_query *query,
                        struct places *places)
{
    const struct pug_index_file_header *h = index->header;
    const struct pug_index_file_value *end;
    *places = (struct places){.last = h->blocks, .parts = UINT64_MAX};
    if (!(h->valued >> query->kind & 1) || (query->least == 0 && query->greatest == UINT64_MAX))
        return true;
    *places = (struct places){.first = h->blocks,
                              .part_shift = pug_index_part_shift(h->trace_size / h->block)};
    for (const struct pug_index_file_value *value =
             pug_index_values_from(index, query->kind, query->least, &end);
         value < end && value->kind == query->kind && value->value <= query->greatest; value++) {
        places->first = value->first < places->first ? value->first : places->first;
        places->last = value->last > places->last ? value->last : places->last;
        places->parts |= value->parts;
    }
    return places->parts != 0;
}

static bool may_be_in(const struct places *places, uint64_t block)
{
    return block >= places->first && block <= places->last &&
           (places->parts >> pug_index_part(block, places->part_shift) & 1);
}

/** Was too much read for marks that are none? */
static bool is_made_up(const struct pug_index *index, const struct readings *readings)
{
    return readings->wasted / MOST_WASTED_EACH >
           index->header->indexed + MOST_WASTED / MOST_WASTED_EACH;
}

/** Is the block what it was? */
static bool holds(const struct pug_index *index, const uint8_t *bytes, uint64_t block)
{
    return pug_index_holds(index, bytes, block * index->header->block,
                           block * index->header->block + 1);
}

/** A query under way. */
struct search {
    const struct pug_index *index;
    struct pug_tree *tree;
    const uint8_t *bytes;
    const struct pug_index_query *query;
    struct places places;
    struct readings readings;
    struct pug_index_mark *mark;
    bool found;
};

static enum pug_status search_block(struct search *search, uint64_t block)
{
    const struct pug_index *index = search->index;
    const uint64_t end = pug_index_block_summary(index, block + 1);
    bool held = false;
    if (!may_be_in(&search->places, block))
        return PUG_OK;
    for (uint64_t n = pug_index_block_summary(index, block); n < end; n++) {
        if (!may_fit(index, &index->summaries[n], search->query))
            continue;
        if (!held && !holds(index, search->bytes, block))
            return PUG_ERR_INDEX_FOREIGN;
        held = true;
        look(index, &index->summaries[n], search->tree, search->bytes, search->query,
             &search->readings, search->mark, &search->found);
        if (is_made_up(index, &search->readings))
            return PUG_ERR_INDEX_DAMAGED;
    }
    return PUG_OK;
}

static enum pug_status search_on(struct search *search)
{
    const uint64_t blocks = search->index->header->blocks;
    enum pug_status status = PUG_OK;
    for (uint64_t block = search->query->from / search->index->header->block;
         block < blocks && !search->found && status == PUG_OK; block++)
        status = search_block(search, block);
    return status;
}

/**
 * Blocks in their order, the last one first asked. What is in a block that is another one does not
 * matter where a later one has the answer, and no answer of an earlier one holds.
 */
static enum pug_status search_part(struct search *search, uint64_t first, uint64_t end)
{
    enum pug_status status = PUG_OK;
    for (uint64_t block = first; block < end; block++) {
        const enum pug_status searched = search_block(search, block);
        search->found &= searched == PUG_OK;
        if (searched != PUG_OK || search->found)
            status = searched;
    }
    return status;
}

/**
 * Each time twice as many blocks, and these in their order: where synchronisation is rare they are
 * read in one go.
 */
static enum pug_status search_back(struct search *search)
{
    const uint64_t blocks = search->index->header->blocks;
    const uint64_t last = search->query->from / search->index->header->block;
    uint64_t end = last < blocks ? last + 1 : blocks;
    enum pug_status status = PUG_OK;
    for (uint64_t count = 1; end > 0 && !search->found && status == PUG_OK; count *= 2) {
        const uint64_t first = end > count ? end - count : 0;
        status = search_part(search, first, end);
        end = first;
    }
    return status;
}

enum pug_status pug_index_find(const struct pug_index *index, struct pug_tree *tree,
                               const uint8_t *bytes, uint64_t size,
                               const struct pug_index_query *query, struct pug_index_mark *mark)
{
    struct search search = {
        .index = index, .tree = tree, .bytes = bytes, .query = query, .mark = mark};
    if (!index || !query || !mark || (!bytes && size > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    if (size < index->header->indexed)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (!find_places(index, query, &search.places))
        return PUG_ERR_NOT_FOUND;
    const enum pug_status status = query->backwards ? search_back(&search) : search_on(&search);
    free_readings(&search.readings);
    if (status != PUG_OK)
        return status;
    return search.found ? PUG_OK : PUG_ERR_NOT_FOUND;
}

/* ---- times that are differences ---- */

/** Add a mark's step. True: that is enough. */
static bool add_step(const struct pug_index_file_summary *s, uint64_t at, uint64_t step,
                     uint64_t elapsed, uint64_t *sum, struct pug_index_mark *mark)
{
    *sum += step;
    *mark = (struct pug_index_mark){
        .at = at, .value = *sum, .source = s->source, .kind = PUG_MARK_TIME_STEP};
    return *sum >= elapsed;
}

/** Walk over the steps of a block; false: their marks cannot be had. */
static bool walk_steps(const struct pug_index *index, const struct pug_index_file_summary *s,
                       struct pug_tree *tree, const uint8_t *bytes, uint64_t elapsed, uint64_t sum,
                       struct pug_index_mark *mark)
{
    uint64_t size = index->header->block;
    struct reading reading;
    bool found = false;
    if (is_kept(index, s)) {
        uint64_t end = marks_from(index, (s->block + UINT64_C(1)) * size);
        for (uint64_t n = marks_from(index, s->block * size); n < end && !found; n++)
            if (index->marks[n].kind == s->kind && index->marks[n].source == s->source &&
                !index->marks[n].nobody)
                found = add_step(s, index->marks[n].at, index->marks[n].value, elapsed, &sum, mark);
        return found;
    }
    if (!read_block(index, s, tree, bytes, &reading))
        return false;
    for (size_t i = 0; i < reading.count && !found; i++)
        found = add_step(s, reading.marks[i].at, reading.marks[i].value, elapsed, &sum, mark);
    free(reading.marks);
    return found;
}

enum pug_status pug_index_find_elapsed(const struct pug_index *index, struct pug_tree *tree,
                                       const uint8_t *bytes, uint64_t size, uint16_t source,
                                       uint64_t elapsed, struct pug_index_mark *mark)
{
    if (!index || !tree || !mark || (!bytes && size > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    uint64_t sum = 0;
    if (size < index->header->indexed)
        return PUG_ERR_INVALID_PARAM_VAL;
    for (uint64_t n = 0; n < index->header->summaries; n++) {
        const struct pug_index_file_summary *s = &index->summaries[n];
        if (s->kind != PUG_MARK_TIME_STEP || s->source != source || s->nobody)
            continue;
        if (s->sum < elapsed && sum < elapsed - s->sum) {
            sum += s->sum;
            continue;
        }
        if (!holds(index, bytes, s->block))
            return PUG_ERR_INDEX_FOREIGN;
        return walk_steps(index, s, tree, bytes, elapsed, sum, mark) ? PUG_OK : PUG_ERR_NOT_FOUND;
    }
    return PUG_ERR_NOT_FOUND;
}
