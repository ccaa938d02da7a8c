// SPDX-License-Identifier: MIT
/** @file What events were recorded with, and so what is at the end of their records (section 5). */
#include "perfdata/perfdata.h"

#include <stdlib.h>

/* Bits of sample_type. */
#define SAMPLE_TID        0x2u
#define SAMPLE_TIME       0x4u
#define SAMPLE_ID         0x40u
#define SAMPLE_CPU        0x80u
#define SAMPLE_STREAM_ID  0x200u
#define SAMPLE_IDENTIFIER 0x10000u

/* Bits of an attribute's flags. */
#define SAMPLE_ID_ALL (UINT64_C(1) << 18)
#define USE_CLOCKID   (UINT64_C(1) << 25)

/* ---- attributes ---- */

/** Where fields of the sample id block are. All attributes of a file agree about the event id's. */
static void lay_out(struct pug_perf_attr *attr)
{
    static const uint32_t fields[] = {SAMPLE_TID,       SAMPLE_TIME, SAMPLE_ID,
                                      SAMPLE_STREAM_ID, SAMPLE_CPU,  SAMPLE_IDENTIFIER};
    int8_t size = 0, id_at = -1;
    attr->tid_at = attr->time_at = attr->cpu_at = -1;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (!(attr->sample_type & fields[i]))
            continue;
        switch (fields[i]) {
        case SAMPLE_TID: attr->tid_at = size; break;
        case SAMPLE_TIME: attr->time_at = size; break;
        case SAMPLE_CPU: attr->cpu_at = size; break;
        case SAMPLE_ID:
        case SAMPLE_IDENTIFIER: id_at = size; break;
        default: break;
        }
        size = (int8_t)(size + 8);
    }
    attr->sample_size = (uint8_t)size;
    attr->id_from_end = (uint8_t)(id_at < 0 ? 0 : size - id_at);
}

/** Returns the name of the clock of records' times, if it is not perf's own. */
static const char *clock_called(uint32_t id)
{
    static const char *const names[] = {[0] = "CLOCK_REALTIME",
                                        [1] = "CLOCK_MONOTONIC",
                                        [4] = "CLOCK_MONOTONIC_RAW",
                                        [7] = "CLOCK_BOOTTIME",
                                        [11] = "CLOCK_TAI"};
    const char *name = id < sizeof(names) / sizeof(names[0]) ? names[id] : NULL;
    return name ? name : "another clock";
}

enum pug_status pug_perf_take_attr(struct pug_perf *perf, const uint8_t *attr, size_t size,
                                   const uint8_t *ids, size_t id_count)
{
    if (size < 64 || perf->attrs.count >= PUG_PERF_ATTRS ||
        perf->ids.count + id_count > PUG_PERF_IDS)
        return PUG_ERR_LIMIT;
    struct pug_perf_attr *taken = pug_capture_add(perf->capture, &perf->attrs, sizeof(*taken));
    if (!taken)
        return PUG_ERR_MEM;
    *taken = (struct pug_perf_attr){.type = pug_bytes_32(attr),
                                    .config = pug_bytes_64(attr + 8),
                                    .config2 = size >= 72 ? pug_bytes_64(attr + 64) : 0,
                                    .sample_type = pug_bytes_64(attr + 24),
                                    .flags = pug_bytes_64(attr + 40)};
    lay_out(taken);
    if ((taken->flags & USE_CLOCKID) && size >= 96)
        perf->own_clock = clock_called(pug_bytes_32(attr + 92));
    perf->has_times |= (taken->flags & SAMPLE_ID_ALL) && (taken->sample_type & SAMPLE_TIME);
    for (size_t i = 0; i < id_count; i++) {
        struct pug_perf_id *id = pug_capture_add(perf->capture, &perf->ids, sizeof(*id));
        if (!id)
            return PUG_ERR_MEM;
        *id = (struct pug_perf_id){pug_bytes_64(ids + 8 * i), (uint32_t)perf->attrs.count - 1};
    }
    perf->ids_sorted = perf->has_last_id = false;
    return PUG_OK;
}

static int by_id(const void *left, const void *right)
{
    const struct pug_perf_id *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

void pug_perf_sort_ids(struct pug_perf *perf)
{
    if (!perf->ids_sorted && perf->ids.count > 0)
        qsort(perf->ids.items, perf->ids.count, sizeof(struct pug_perf_id), by_id);
    perf->ids_sorted = true;
}

/** The attribute of an event id, mostly that of the record before; NULL: unknown. */
static const struct pug_perf_attr *find_attr(struct pug_perf *perf, uint64_t id)
{
    const struct pug_perf_attr *attrs = perf->attrs.items;
    const struct pug_perf_id key = {.id = id};
    if (perf->has_last_id && perf->last_id == id)
        return &attrs[perf->last_attr];
    pug_perf_sort_ids(perf);
    const struct pug_perf_id *found =
        perf->ids.count == 0 ? NULL
                             : bsearch(&key, perf->ids.items, perf->ids.count, sizeof(key), by_id);
    if (!found)
        return NULL;
    perf->has_last_id = true;
    perf->last_id = id;
    perf->last_attr = found->attr;
    return &attrs[found->attr];
}

/** The event id at the record's end; 0: it has none. */
static uint64_t event_id(const struct pug_perf_attr *attr, const struct pug_perf_record *record)
{
    const size_t from_end = attr->id_from_end;
    return from_end > 0 && record->size >= from_end
               ? pug_bytes_64(record->body + record->size - from_end)
               : 0;
}

/** The attribute of a record; id 0 and unknown ids have the first one. */
static const struct pug_perf_attr *attr_of(struct pug_perf *perf,
                                           const struct pug_perf_record *record)
{
    const struct pug_perf_attr *first = perf->attrs.items;
    if (perf->attrs.count < 2)
        return first;
    const uint64_t id = event_id(first, record);
    const struct pug_perf_attr *found = find_attr(perf, id);
    if (!found && id != 0 && !perf->told_id)
        pug_perf_damage(perf, record->file, record->offset, record->type,
                        "its event id is no event's; it is read, as others like it, as the first "
                        "event's");
    perf->told_id |= !found && id != 0;
    return found ? found : first;
}

/* ---- the sample id block ---- */

bool pug_perf_take_sample(struct pug_perf *perf, struct pug_perf_record *record,
                          struct pug_perf_sample *sample)
{
    *sample = (struct pug_perf_sample){.pid = -1, .tid = -1, .cpu = PUG_NO_CPU};
    if (perf->attrs.count == 0)
        return true;
    const struct pug_perf_attr *attr = attr_of(perf, record);
    if (!(attr->flags & SAMPLE_ID_ALL))
        return true;
    if (record->size < attr->sample_size)
        return false;
    record->size -= attr->sample_size;
    const uint8_t *block = record->body + record->size;
    if (attr->tid_at >= 0) {
        sample->pid = (int32_t)pug_bytes_32(block + attr->tid_at);
        sample->tid = (int32_t)pug_bytes_32(block + attr->tid_at + 4);
    }
    if (attr->time_at >= 0)
        sample->time = pug_bytes_64(block + attr->time_at);
    if (attr->cpu_at >= 0)
        sample->cpu = (int32_t)pug_bytes_32(block + attr->cpu_at);
    return true;
}

bool pug_perf_sample_size(struct pug_perf *perf, const struct pug_perf_record *record, size_t *size)
{
    const struct pug_perf_attr *attr = perf->attrs.items;
    if (perf->attrs.count > 1) {
        const uint64_t id = event_id(attr, record);
        const struct pug_perf_attr *found = find_attr(perf, id);
        if (!found && id != 0)
            return false;
        attr = found ? found : attr;
    }
    *size = attr && (attr->flags & SAMPLE_ID_ALL) ? attr->sample_size : 0u;
    return true;
}
