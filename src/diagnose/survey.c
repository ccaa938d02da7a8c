// SPDX-License-Identifier: MIT
/** @file Whose bytes are in a capture: as they are, whatever of the reference is to be imitated. */
#include "pugmark/advanced/counts.h"
#include "pugmark/advanced/diagnose.h"
#include "tree/embed.h"

#include <stdlib.h>
#include <string.h>

#define IDS (UINT16_MAX + 1u)

struct sizes {
    uint32_t end; /* one past the last id: nothing from there on is touched */
    uint64_t of[IDS];
};

static void count_run(void *context, const struct pug_run *run)
{
    struct sizes *sizes = context;
    if (run->source >= sizes->end)
        sizes->end = run->source + 1u;
    sizes->of[run->source] += run->size;
}

/** In the list by its bytes, or counted among the others. */
static void list_id(struct pug_survey *survey, const struct pug_survey_id *id)
{
    size_t at = survey->id_count;
    while (at > 0 && survey->ids[at - 1].bytes < id->bytes)
        at--;
    bool full = survey->id_count == PUG_SURVEY_IDS;
    survey->other_ids += full;
    if (at == PUG_SURVEY_IDS)
        return;
    size_t behind = survey->id_count - at - (full ? 1 : 0);
    memmove(&survey->ids[at + 1], &survey->ids[at], behind * sizeof(*id));
    survey->ids[at] = *id;
    survey->id_count += !full;
}

static void list_ids(struct pug_survey *survey, struct pug_tree *tree, const struct sizes *sizes)
{
    uint32_t end = sizes->end;
    const struct pug_source *last;
    for (size_t n = 0; (last = pug_tree_source_at(tree, n)) != NULL; n++)
        end = pug_source_slot(last) >= end ? pug_source_slot(last) + 1u : end;
    for (uint32_t n = 0; n < end; n++) {
        const struct pug_source *source = pug_tree_source(tree, (uint16_t)n);
        if (sizes->of[n] == 0 && !source)
            continue;
        struct pug_survey_id id = {
            .id = (uint16_t)n, .described = source != NULL, .bytes = sizes->of[n]};
        if (source) {
            const struct pug_reader_stats *stats = pug_source_stats(source);
            id.id = pug_source_id(source);
            id.unsynced = stats->unsynced;
            id.bad = stats->bad_headers + stats->bad_sequences;
        }
        list_id(survey, &id);
    }
}

enum pug_status pug_survey_capture(const struct pug_tree *tree, const uint8_t *bytes, uint64_t size,
                                   uint64_t most, struct pug_survey *survey)
{
    if (!tree || !survey || (!bytes && size > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_tree *reader;
    struct sizes *sizes = calloc(1, sizeof(*sizes));
    uint64_t at = 0;
    uint64_t end = size < most ? size : most;
    struct pug_counts *counts = pug_counts_new_bare(); /* its values are not used; reading is faster
                                                        * like this */
    *survey = (struct pug_survey){0};
    enum pug_status status = sizes && counts ? pug_tree_clone_native(tree, &reader) : PUG_ERR_MEM;
    if (status == PUG_OK) {
        pug_tree_on_runs(reader, count_run, sizes);
        pug_tree_splice_runs(reader, true);
        pug_tree_count(reader, counts);
        pug_tree_any_order(reader, true);
        (void)pug_tree_feed(reader, bytes, &at, end);
        if (at == size)
            (void)pug_tree_end(reader);
        survey->bytes = at;
        survey->transport = *pug_tree_transport_stats(reader);
        list_ids(survey, reader, sizes);
        pug_tree_free(reader);
    }
    pug_counts_free(counts);
    free(sizes);
    return status;
}
