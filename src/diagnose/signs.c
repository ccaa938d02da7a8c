// SPDX-License-Identifier: MIT
#include "diagnose/signs.h"

#include "pugmark/advanced/diagnose.h"

#include <stdio.h>

static bool is_bad_packet(enum pug_status code)
{
    return code == PUG_ERR_BAD_PACKET_SEQ || code == PUG_ERR_INVALID_PCKT_HDR ||
           code == PUG_ERR_BAD_DECODE_PKT;
}

/** Beyond the room for sources nothing is kept. */
static struct pug_misset *misset_of(struct pug_signs *signs, const struct pug_log_record *record)
{
    for (size_t i = 0; i < signs->misset_count; i++)
        if (signs->missets[i].source == record->source)
            return &signs->missets[i];
    if (signs->misset_count == PUG_MISSETS)
        return NULL;
    struct pug_misset *misset = &signs->missets[signs->misset_count++];
    *misset = (struct pug_misset){.source = record->source, .index = record->index};
    snprintf(misset->text, sizeof(misset->text), "%s", record->text);
    return misset;
}

static void take_misset(struct pug_signs *signs, const struct pug_log_record *record)
{
    struct pug_misset *misset = misset_of(signs, record);
    uint64_t end;
    if (!misset)
        return;
    misset->count++;
    misset->looked += pug_diagnosis_looks(record->index, &end);
}

static void take_misfit(struct pug_signs *signs, const struct pug_log_record *record)
{
    if (signs->misfits++ > 0)
        return;
    signs->misfit.index = record->index;
    snprintf(signs->misfit.text, sizeof(signs->misfit.text), "%s", record->text);
}

void pug_signs_take(struct pug_signs *signs, const struct pug_log_record *record)
{
    signs->bad_packets += is_bad_packet(record->code);
    if (record->code == PUG_ERR_TRACE_MISMATCH)
        take_misfit(signs, record);
    signs->cut += record->code == PUG_ERR_TRUNCATED;
    signs->frames_cut += record->code == PUG_ERR_TRUNCATED && record->source == PUG_NO_SOURCE;
    if (record->code == PUG_ERR_TRACE_SETTINGS)
        take_misset(signs, record);
}
