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

void pug_log_records_free(struct pug_log_records *records)
{
    for (size_t i = 0; i < records->count; i++) {
        free((void *)(uintptr_t)records->items[i].component);
        free((void *)(uintptr_t)records->items[i].text);
    }
    free(records->items);
}
