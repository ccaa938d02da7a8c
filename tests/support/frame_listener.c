// SPDX-License-Identifier: MIT
#include "support/frame_listener.h"

#include "listing/listing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

uint32_t frame_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static enum pug_response on_run(void *context, const struct pug_run *run, size_t *used)
{
    struct frame_listener *l = context;
    bool wait = l->waits && frame_random(&l->random) % l->waits == 0;
    *used = wait ? frame_random(&l->random) % (run->size + 1) : run->size;
    for (size_t i = 0; i < *used && l->count < MOST_BYTES; i++)
        l->bytes[l->count++] = (struct frame_byte){run->index + i, run->source, run->bytes[i]};
    return wait ? PUG_RESP_WAIT : PUG_RESP_CONT;
}

static void on_reset(void *context, uint64_t index)
{
    struct frame_listener *l = context;
    l->resets++;
    pug_text_format(&l->out, "RESET %llu\n", (unsigned long long)index);
}

static void on_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                     uint16_t source, const uint8_t *bytes, size_t size)
{
    struct frame_listener *l = context;
    assert_int_equal(op, PUG_OP_DATA);
    pug_listing_frame(&l->out, index, kind, source, bytes, size);
}

static void on_log(void *context, const struct pug_log_record *record)
{
    struct frame_listener *l = context;
    pug_listing_log(&l->out, record);
    pug_text_put(&l->out, "\n");
}

struct frame_listener *frame_listen(uint32_t flags, bool dstream, const struct pug_quirks *quirks)
{
    struct pug_setting items[] = {{.name = "dstream", .value = dstream},
                                  {.name = "flags", .value = flags}};
    struct frame_listener *l = calloc(1, sizeof(*l));
    l->out = PUG_TEXT(l->text, sizeof(l->text));
    l->log = pug_log_new(PUG_SEV_INFO);
    pug_log_set_sink(l->log, on_log, l);
    l->sink = (struct pug_transport_sink){.context = l,
                                          .run = on_run,
                                          .reset = on_reset,
                                          .frame = on_frame,
                                          .frame_context = l,
                                          .want = flags >> 3 & 3,
                                          .log = l->log,
                                          .quirks = *quirks,
                                          .stats = &l->stats};
    l->transport = pug_transport_find("coresight");
    assert_non_null(l->transport);
    struct pug_settings settings = {.items = items, .count = 2};
    assert_int_equal(l->transport->create(&settings, &l->sink, &l->state), PUG_OK);
    return l;
}

void frame_dismiss(struct frame_listener *l)
{
    l->transport->free(l->state);
    pug_log_free(l->log);
    free(l);
}

const char *frame_heard(struct frame_listener *l)
{
    pug_text_end(&l->out);
    l->out.length = 0;
    return l->text;
}

enum pug_response frame_feed(struct frame_listener *l, uint64_t index, const uint8_t *bytes,
                             size_t size, size_t *used)
{
    *used = 0;
    return l->transport->data(l->state, index, bytes, size, used);
}

void frame_feed_split(struct frame_listener *l, const uint8_t *bytes, size_t size, size_t block)
{
    for (size_t at = 0, used; at < size; at += used) {
        size_t piece = 1 + frame_random(&l->random) % block;
        enum pug_response response =
            frame_feed(l, at, bytes + at, piece < size - at ? piece : size - at, &used);
        while (PUG_RESP_IS_WAIT(response))
            response = l->transport->flush(l->state);
        assert_false(PUG_RESP_IS_FATAL(response));
    }
    l->transport->end(l->state);
}
