// SPDX-License-Identifier: MIT
#include "log/records.h"

#include <stdlib.h>
#include <string.h>

/* Traces say few things, some of them very often. */
#define RECENT 32u

struct pug_log_texts {
    char **items;
    size_t count, room, bytes;
    const char *recent[RECENT]; /* by hash */
};

static unsigned hash_of(const char *text)
{
    uint32_t hash = 0;
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * UINT32_C(0x01000193);
    return (hash >> 16) % RECENT;
}

/** Room for one more; false: no memory. */
static bool grow_texts(struct pug_log_texts *texts)
{
    if (texts->count < texts->room)
        return true;
    const size_t room = texts->room * 2 + 4;
    char **grown = realloc(texts->items, room * sizeof(*grown));
    if (!grown)
        return false;
    texts->items = grown;
    texts->room = room;
    return true;
}

/** A copy that lives as long as the records; NULL: no text, or no memory. */
static const char *keep_text(struct pug_log_records *records, const char *text)
{
    if (!records->texts)
        records->texts = calloc(1, sizeof(*records->texts));
    struct pug_log_texts *texts = records->texts;
    if (!text || !texts)
        return NULL;
    const char **recent = &texts->recent[hash_of(text)];
    if (*recent && strcmp(*recent, text) == 0)
        return *recent;
    char *copy = grow_texts(texts) ? strdup(text) : NULL;
    if (copy) {
        texts->bytes += strlen(copy) + 1;
        texts->items[texts->count++] = copy;
        *recent = copy;
    }
    return copy;
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
    copy->component = keep_text(records, record->component);
    copy->text = keep_text(records, record->text);
}

size_t pug_log_records_size(const struct pug_log_records *records)
{
    return records->room * sizeof(*records->items) + (records->texts ? records->texts->bytes : 0);
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
    for (size_t i = 0; records->texts && i < records->texts->count; i++)
        free(records->texts->items[i]);
    if (records->texts)
        free(records->texts->items);
    free(records->texts);
    free(records->items);
}
