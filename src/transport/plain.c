// SPDX-License-Identifier: MIT
/** @file No transport at all: every byte belongs to the one source. */
#include "transport/builtin.h"

#include <stdlib.h>

static enum pug_status plain_create(const struct pug_settings *settings,
                                    struct pug_transport_sink *sink, void **transport)
{
    (void)settings;
    *transport = sink;
    return PUG_OK;
}

static void plain_free(void *transport)
{
    (void)transport;
}

static enum pug_response plain_data(void *transport, uint64_t index, const uint8_t *bytes,
                                    size_t size, size_t *used)
{
    struct pug_transport_sink *sink = transport;
    struct pug_run run = {.index = index, .bytes = bytes, .size = size};
    return sink->run(sink->context, &run, used);
}

static enum pug_response plain_nothing(void *transport)
{
    (void)transport;
    return PUG_RESP_CONT;
}

static void plain_reset(void *transport)
{
    (void)transport;
}

static void plain_state(const void *transport, struct pug_state *state)
{
    (void)transport;
    (void)state;
}

const struct pug_transport pug_transport_plain = {
    .name = "plain",
    .title = "one source, no framing",
    .single = true,
    .state = plain_state,
    .create = plain_create,
    .free = plain_free,
    .data = plain_data,
    .flush = plain_nothing,
    .end = plain_nothing,
    .reset = plain_reset,
};
