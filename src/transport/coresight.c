// SPDX-License-Identifier: MIT
/** @file The CoreSight frame demultiplexer as a transport: its settings and operations. */
#include "transport/coresight.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* DSTREAM: blocks of 512 bytes, the last 8 of which are a footer. */
#define DSTREAM_BLOCK 512u
#define DSTREAM_DATA  504u

static const struct {
    const char *name;
    uint32_t flag;
} flag_names[] = {
    {"fsyncs", PUG_CS_FSYNCS},
    {"hsyncs", PUG_CS_HSYNCS},
    {"mem_align", PUG_CS_MEM_ALIGN},
    {"reset_on_4x_fsync", PUG_CS_RESET_ON_4X_FSYNC},
};

/** The settings as flags; memory-aligned where none of them speaks of frames. */
static uint32_t read_flags(const struct pug_settings *settings)
{
    uint32_t flags = (uint32_t)pug_settings_number(settings, "flags", 0);
    if (pug_settings_find(settings, "flags"))
        return flags;
    for (size_t i = 0; i < sizeof(flag_names) / sizeof(flag_names[0]); i++)
        if (pug_settings_number(settings, flag_names[i].name, 0))
            flags |= flag_names[i].flag;
    if (!(flags & (PUG_CS_FSYNCS | PUG_CS_HSYNCS)) && !pug_settings_find(settings, "mem_align"))
        flags |= PUG_CS_MEM_ALIGN;
    return flags;
}

static enum pug_status check_flags(struct pug_coresight *cs)
{
    const char *wrong = NULL;
    if (cs->flags & ~(uint32_t)PUG_CS_ALL_FLAGS)
        wrong = "Unknown Config Flags";
    if (cs->flags == 0)
        wrong = "No Config Flags Set";
    if ((cs->flags & (PUG_CS_FSYNCS | PUG_CS_HSYNCS)) && (cs->flags & PUG_CS_MEM_ALIGN))
        wrong = "Invalid Config Flag Combination Set";
    if (!wrong)
        return PUG_OK;
    pug_cs_log(cs, PUG_SEV_ERROR, PUG_ERR_INVALID_PARAM_VAL, PUG_NO_INDEX, wrong);
    return PUG_ERR_INVALID_PARAM_VAL;
}

/** Resets everything except the configuration. */
static void forget(struct pug_coresight *cs)
{
    const size_t from = offsetof(struct pug_coresight, started);
    pug_cs_forget_gathered(cs);
    memset((char *)cs + from, 0, offsetof(struct pug_coresight, spliced) - from);
    cs->synced = !(cs->flags & PUG_CS_FSYNCS);
    cs->id = PUG_SOURCE_UNKNOWN;
    cs->from = PUG_CS_NO_FRAME;
}

static enum pug_status coresight_create(const struct pug_settings *settings,
                                        struct pug_transport_sink *sink, void **transport)
{
    struct pug_coresight *cs = malloc(sizeof(*cs));
    if (!cs)
        return PUG_ERR_MEM;
    cs->sink = sink;
    cs->used = 0;
    cs->gathering = NULL;
    cs->flags = read_flags(settings);
    cs->dstream = pug_settings_number(settings, "dstream", 0);
    cs->find_padding =
        (cs->flags & PUG_CS_RESET_ON_4X_FSYNC) || !sink->quirks.fsync_padding_is_data;
    enum pug_status status = check_flags(cs);
    if (status != PUG_OK) {
        free(cs);
        return status;
    }
    forget(cs);
    *transport = cs;
    return PUG_OK;
}

/** Returns the unit of which a block's size must be a multiple in the reference. */
static size_t unit(const struct pug_coresight *cs)
{
    return cs->flags & PUG_CS_HSYNCS ? 2 : cs->flags & PUG_CS_FSYNCS ? 4 : PUG_CS_FRAME_BYTES;
}

static bool check_block(struct pug_coresight *cs, uint64_t index, size_t size)
{
    if (cs->started && cs->index != index) {
        pug_cs_log(cs, PUG_SEV_ERROR, PUG_ERR_TRACE_GAP, index, "");
        return false;
    }
    cs->started = true;
    cs->index = index;
    if (cs->sink->quirks.strict_blocks && !cs->dstream && size % unit(cs) != 0) {
        char text[64];
        snprintf(text, sizeof(text), "Input block incorrect size, must be %zu byte multiple",
                 unit(cs));
        pug_cs_log(cs, PUG_SEV_ERROR, PUG_ERR_INVALID_PARAM_VAL, PUG_NO_INDEX, text);
        cs->used = 0;
        return false;
    }
    return true;
}

/** Take frames out of a piece of input; how many bytes it took. */
static size_t take(struct pug_coresight *cs, const uint8_t *bytes, size_t size)
{
    struct pug_cs_block block = {.at = bytes, .end = bytes + size};
    pug_cs_take_frames(cs, &block);
    return (size_t)(block.at - bytes);
}

/** The same with footers between the pieces. */
static size_t take_dstream(struct pug_coresight *cs, const uint8_t *bytes, size_t size)
{
    size_t used = 0;
    while (used < size && PUG_RESP_IS_CONT(cs->worst)) {
        bool footer = cs->column >= DSTREAM_DATA;
        size_t piece = (footer ? DSTREAM_BLOCK : DSTREAM_DATA) - cs->column;
        if (piece > size - used)
            piece = size - used;
        if (footer) {
            cs->index += piece;
            cs->sink->stats->framing += piece;
        } else {
            piece = take(cs, bytes + used, piece);
        }
        used += piece;
        cs->column = (uint16_t)((cs->column + piece) % DSTREAM_BLOCK);
    }
    return used;
}

static enum pug_response coresight_data(void *transport, uint64_t index, const uint8_t *bytes,
                                        size_t size, size_t *used)
{
    struct pug_coresight *cs = transport;
    *used = 0;
    if (!bytes)
        return PUG_RESP_FATAL_INVALID_PARAM;
    cs->worst = PUG_RESP_CONT;
    cs->knows_kinds = false;
    if (!check_block(cs, index, size)) {
        *used = cs->sink->quirks.strict_blocks ? cs->used : 0;
        return PUG_RESP_FATAL_INVALID_DATA;
    }
    if (cs->sink->quirks.strict_blocks)
        cs->in_padding = false;
    pug_cs_deliver(cs);
    *used = cs->dstream ? take_dstream(cs, bytes, size) : take(cs, bytes, size);
    cs->used = *used;
    return cs->worst;
}

static enum pug_response coresight_flush(void *transport)
{
    struct pug_coresight *cs = transport;
    cs->worst = PUG_RESP_CONT;
    pug_cs_deliver(cs);
    return cs->worst;
}

/** Reports what is incomplete at the end. */
static void report_end(struct pug_coresight *cs, size_t left)
{
    char text[64];
    if (left > 0) {
        snprintf(text, sizeof(text), "%zu bytes of a frame that is not whole.", left);
        pug_cs_log(cs, PUG_SEV_WARN, PUG_ERR_TRUNCATED, cs->frame_index, text);
    }
    if (!cs->synced && cs->started)
        pug_cs_log(cs, PUG_SEV_ERROR, PUG_ERR_FRAME_SYNC, cs->index,
                   "Not synchronised at the end of trace.");
}

/** A partial frame is dropped: what belongs to whom is only known with its last byte. */
static enum pug_response coresight_end(void *transport)
{
    struct pug_coresight *cs = transport;
    enum pug_response response = PUG_RESP_CONT;
    size_t left = (size_t)cs->fill + cs->odd;
    if (!cs->sink->quirks.end_does_not_wait)
        response = coresight_flush(cs);
    if (!cs->sink->quirks.silent_framing)
        report_end(cs, left);
    cs->sink->stats->dropped += left;
    cs->fill = 0;
    cs->odd = false;
    cs->half_sync = false;
    return response;
}

static void coresight_reset(void *transport)
{
    forget(transport);
}

/** Runs that wait are a consumer's that waits: there is no state to compare then. */
static void coresight_state(const void *transport, struct pug_state *state)
{
    const struct pug_coresight *cs = transport;
    state->failed |= cs->run_there || cs->from != PUG_CS_NO_FRAME || pug_cs_has_gathered(cs);
    pug_state_number(state, cs->column);
    pug_state_number(state, cs->synced);
    pug_state_number(state, cs->synced ? 0 : cs->skipped);
    pug_state_number(state, cs->flags & PUG_CS_MEM_ALIGN ? cs->in_padding : cs->shift);
    pug_state_number(state, cs->half_sync);
    pug_state_number(state, cs->half_sync && cs->half_sync_carried);
    pug_state_number(state, cs->odd ? 0x100u | cs->first : 0);
    pug_state_number(state, cs->id);
    pug_state_number(state, cs->fill);
    if (cs->fill > 0) {
        pug_state_number(state, cs->frame_index);
        pug_state_put(state, cs->frame, cs->fill);
    }
}

static bool coresight_reserved(uint16_t source)
{
    return pug_cs_is_reserved(source);
}

static void coresight_free(void *transport)
{
    struct pug_coresight *cs = transport;
    free(cs->gathering);
    free(cs);
}

const struct pug_transport pug_transport_coresight = {
    .name = "coresight",
    .title = "CoreSight frames, memory-aligned or from a trace port",
    .reserved = coresight_reserved,
    .state = coresight_state,
    .create = coresight_create,
    .free = coresight_free,
    .data = coresight_data,
    .flush = coresight_flush,
    .end = coresight_end,
    .reset = coresight_reset,
};
