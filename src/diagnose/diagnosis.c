// SPDX-License-Identifier: MIT
/** @file A diagnosis and its parts. */
#include "diagnose/evidence.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(struct pug_source_list *list)
{
    if (list->count < list->room)
        return true;
    size_t room = list->room ? 2 * list->room : 4;
    struct pug_source_evidence **items =
        realloc(list->items, room * sizeof(struct pug_source_evidence *));
    if (!items)
        return false;
    list->items = items;
    list->room = room;
    return true;
}

struct pug_source_evidence *pug_evidence_source(struct pug_source_list *list, uint16_t id)
{
    size_t at = 0;
    while (at < list->count && list->items[at]->evidence.source < id)
        at++;
    if (at < list->count && list->items[at]->evidence.source == id)
        return list->items[at];
    struct pug_source_evidence *source = reserve(list) ? calloc(1, sizeof(*source)) : NULL;
    if (!source)
        return NULL;
    source->evidence.source = id;
    memmove(&list->items[at + 1], &list->items[at],
            (list->count++ - at) * sizeof(struct pug_source_evidence *));
    return list->items[at] = source;
}

static void clear(struct pug_source_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
}

struct pug_diagnosis *pug_diagnosis_new(const struct pug_image *image)
{
    struct pug_diagnosis *diagnosis = calloc(1, sizeof(*diagnosis));
    if (diagnosis)
        diagnosis->image = image;
    return diagnosis;
}

void pug_diagnosis_free(struct pug_diagnosis *diagnosis)
{
    if (!diagnosis)
        return;
    clear(&diagnosis->sources);
    free(diagnosis);
}

struct pug_diagnosis_part *pug_diagnosis_begin(const struct pug_diagnosis *diagnosis)
{
    struct pug_diagnosis_part *part = diagnosis ? calloc(1, sizeof(*part)) : NULL;
    if (part)
        part->image = diagnosis->image;
    return part;
}

void pug_diagnosis_image(struct pug_diagnosis_part *part, const struct pug_image *image)
{
    if (!part || part->image == image)
        return;
    part->image = image;
    for (size_t i = 0; i < part->sources.count; i++) {
        part->sources.items[i]->follows = false;
        part->sources.items[i]->call_count = 0;
        memset(part->sources.items[i]->longs, 0, sizeof(part->sources.items[i]->longs));
        memset(part->sources.items[i]->ranges, 0, sizeof(part->sources.items[i]->ranges));
    }
}

void pug_diagnosis_drop(struct pug_diagnosis_part *part)
{
    if (!part)
        return;
    clear(&part->sources);
    free(part);
}

void pug_diagnosis_take(struct pug_diagnosis *diagnosis, struct pug_diagnosis_part *part)
{
    for (size_t i = 0; i < part->sources.count; i++) {
        const struct pug_evidence *evidence = &part->sources.items[i]->evidence;
        struct pug_source_evidence *source =
            pug_evidence_source(&diagnosis->sources, evidence->source);
        if (source)
            pug_evidence_add(&source->evidence, evidence);
    }
    pug_diagnosis_drop(part);
}

bool pug_diagnosis_evidence(const struct pug_diagnosis *diagnosis, size_t n,
                            const struct pug_evidence **evidence)
{
    if (n >= diagnosis->sources.count)
        return false;
    *evidence = &diagnosis->sources.items[n]->evidence;
    return true;
}
