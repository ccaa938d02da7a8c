// SPDX-License-Identifier: MIT
#include "log/records.h"

#include <stdlib.h>
#include <string.h>

static char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

void pug_log_records_keep(struct pug_log_records *records, const struct pug_log_record *record)
{
    if (records->count == records->room) {
        size_t room = records->room * 2 + 4;
        struct pug_log_record *grown = realloc(records->items, room * sizeof(*grown));
        if (!grown)
            return;
        records->items = grown;
        records->room = room;
    }
    struct pug_log_record *copy = &records->items[records->count++];
    *copy = *record;
    copy->component = copy_text(record->component);
    copy->text = copy_text(record->text);
}

void pug_log_records_give(const struct pug_log_records *records, struct pug_log *log)
{
    for (size_t i = 0; i < records->count; i++)
        pug_log_put(log, &records->items[i]);
}

void pug_log_records_join(struct pug_log_records *records, struct pug_log_records *later)
{
    for (size_t i = 0; i < later->count; i++)
        pug_log_records_keep(records, &later->items[i]);
    pug_log_records_free(later);
    *later = (struct pug_log_records){0};
}

/** A text, or none, with its end. */
static void pack_text(const char *text, struct pug_state *bytes)
{
    const uint64_t size = text ? strlen(text) + 1 : 0;
    pug_state_number(bytes, size);
    pug_state_put(bytes, text, (size_t)size);
}

static const char *unpack_text(struct pug_bytes *bytes)
{
    const size_t size = (size_t)pug_bytes_take_64(bytes);
    return size > 0 ? (const char *)pug_bytes_take(bytes, size) : NULL;
}

void pug_log_records_pack(const struct pug_log_records *records, struct pug_state *bytes)
{
    pug_state_number(bytes, records->count);
    for (size_t i = 0; i < records->count; i++) {
        pug_state_put(bytes, &records->items[i], sizeof(records->items[i]));
        pack_text(records->items[i].component, bytes);
        pack_text(records->items[i].text, bytes);
    }
}

void pug_log_records_unpack(struct pug_log_records *records, struct pug_bytes *bytes)
{
    for (uint64_t left = pug_bytes_take_64(bytes); left > 0 && !bytes->bad; left--) {
        struct pug_log_record record;
        const uint8_t *at = pug_bytes_take(bytes, sizeof(record));
        if (!at)
            return;
        memcpy(&record, at, sizeof(record));
        record.component = unpack_text(bytes);
        record.text = unpack_text(bytes);
        pug_log_records_keep(records, &record);
    }
}

void pug_log_records_free(struct pug_log_records *records)
{
    for (size_t i = 0; i < records->count; i++) {
        free((void *)(uintptr_t)records->items[i].component);
        free((void *)(uintptr_t)records->items[i].text);
    }
    free(records->items);
}
