// SPDX-License-Identifier: MIT
/** @file Parts of a diagnosis on their way to another process. */
#include "diagnose/evidence.h"

#include <stddef.h>
#include <string.h>

#define BEFORE offsetof(struct pug_evidence, pages)
#define BEHIND offsetof(struct pug_evidence, page_count)

/** All but the pages that are not listed, which would be most of it. */
static void pack_source(const struct pug_evidence *evidence, struct pug_state *bytes)
{
    pug_state_put(bytes, evidence, BEFORE);
    pug_state_put(bytes, &evidence->page_count, sizeof(*evidence) - BEHIND);
    pug_state_put(bytes, evidence->pages, evidence->page_count * sizeof(*evidence->pages));
}

void pug_diagnosis_pack(const struct pug_diagnosis_part *part, struct pug_state *bytes)
{
    pug_state_number(bytes, part->sources.count);
    for (size_t i = 0; i < part->sources.count; i++)
        pack_source(&part->sources.items[i]->evidence, bytes);
}

static bool unpack_source(struct pug_source_list *list, struct pug_bytes *bytes)
{
    struct pug_evidence evidence = {0};
    const uint8_t *before = pug_bytes_take(bytes, BEFORE);
    const uint8_t *behind = pug_bytes_take(bytes, sizeof(evidence) - BEHIND);
    if (!before || !behind)
        return false;
    memcpy(&evidence, before, BEFORE);
    memcpy(&evidence.page_count, behind, sizeof(evidence) - BEHIND);
    const size_t size = evidence.page_count * sizeof(*evidence.pages);
    const uint8_t *pages =
        evidence.page_count <= PUG_MISSING_PAGES ? pug_bytes_take(bytes, size) : NULL;
    struct pug_source_evidence *source = pages ? pug_evidence_source(list, evidence.source) : NULL;
    if (!source)
        return false;
    memcpy(evidence.pages, pages, size);
    source->evidence = evidence;
    return true;
}

struct pug_diagnosis_part *pug_diagnosis_unpack(const struct pug_diagnosis *diagnosis,
                                                struct pug_bytes *bytes)
{
    struct pug_diagnosis_part *part = pug_diagnosis_begin(diagnosis);
    bool good = part != NULL;
    for (uint64_t left = good ? pug_bytes_take_64(bytes) : 0; good && left > 0; left--)
        good = unpack_source(&part->sources, bytes);
    if (good)
        return part;
    pug_diagnosis_drop(part);
    return NULL;
}

bool pug_diagnosis_fold(struct pug_diagnosis_part *part, struct pug_diagnosis_part *later)
{
    bool good = true;
    for (size_t i = 0; good && i < later->sources.count; i++) {
        const struct pug_evidence *evidence = &later->sources.items[i]->evidence;
        struct pug_source_evidence *source = pug_evidence_source(&part->sources, evidence->source);
        good = source != NULL;
        if (good)
            pug_evidence_add(&source->evidence, evidence);
    }
    pug_diagnosis_drop(later);
    return good;
}
