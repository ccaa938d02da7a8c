// SPDX-License-Identifier: MIT
#include "trace_near.h"

#include "log/records.h"

/* Shorter traces are decoded whole, which takes no time. */
#define WHOLE_MOST (UINT64_C(4) << 20)

static void keep_record(void *context, const struct pug_log_record *record)
{
    pug_log_records_keep(context, record);
}

/** Does the window have as much as was asked for, before its event and after it? */
static bool is_full(const struct trace_parts *parts, struct trace_item *first, bool to_the_end)
{
    const struct trace_window *window = &parts->window;
    uint64_t weight = 0;
    if (window->limits.until_wanted && !window->found)
        return false;
    for (const struct trace_item *item = first; item; item = item->next) {
        weight += item->weight;
        if (item->wanted && parts->wanted->end == TRACE_END_OFFSET)
            break;
    }
    return weight >= window->limits.before && (window->to_come == 0 || to_the_end);
}

/** Was every source understood when the window begins, in the segment that was cut? */
static bool is_understood(const struct trace_parts *parts, const struct trace_item *first)
{
    for (size_t i = 0; i < parts->begins.count; i++) {
        const struct trace_begin *begin = &parts->begins.items[i];
        if (begin->segment == first->where->segment && begin->index > first->element.index)
            return false;
    }
    return true;
}

/** Messages of what the window shows; those before it are of a beginning that is none. */
static void give_records(const struct pug_log_records *records, const struct trace_item *first,
                         struct pug_log *log)
{
    for (size_t i = 0; i < records->count; i++)
        if (records->items[i].index >= first->element.index)
            pug_log_put(log, &records->items[i]);
}

/** Try it with the bytes [from, to). */
static bool try_part(struct trace_parts *parts, struct pug_capture_decode *decode, uint64_t total,
                     enum pug_status *status, struct pug_capture_result *result)
{
    struct pug_log_records records = {0};
    struct pug_log *log = decode->log;
    decode->log = pug_log_new(PUG_SEV_INFO);
    if (!decode->log)
        return false;
    pug_log_set_sink(decode->log, keep_record, &records);
    pug_trace_parts_decode(parts, decode);
    *status = pug_capture_decode(parts->capture, decode, result);
    struct trace_item *first = pug_trace_window_items(&parts->window);
    const bool good = *status == PUG_OK && !parts->failed && first &&
                      is_full(parts, first, decode->to == 0 || decode->to >= total) &&
                      (decode->from == 0 || is_understood(parts, first));
    if (good)
        give_records(&records, first, log);
    else
        pug_trace_parts_clear(parts);
    pug_log_records_free(&records);
    pug_log_free(decode->log);
    return good;
}

bool trace_near(struct trace_parts *parts, const struct pug_capture_decode *decode, uint64_t total,
                enum pug_status *status, struct pug_capture_result *result)
{
    const bool around = parts->wanted->end == TRACE_END_OFFSET;
    const uint64_t middle = around ? parts->wanted->value : total;
    if (parts->wanted->limits.all || total < WHOLE_MOST || middle > total)
        return false;
    for (uint64_t size = UINT64_C(1) << 20; size <= total / 4; size <<= 4) {
        struct pug_capture_decode part = *decode;
        part.from = middle > size ? middle - size : 0;
        part.to = around ? middle + size : 0;
        if (try_part(parts, &part, total, status, result))
            return true;
    }
    return false;
}
