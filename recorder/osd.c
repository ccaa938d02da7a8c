// SPDX-License-Identifier: MIT
#include "recorder/osd.h"

#include "pugmark/advanced/packet/osd.h"

#include <stdlib.h>
#include <string.h>

/** Packets of one module that wait for the link; words in their order on the link. */
struct queue {
    struct rec_bytes bytes;
    size_t sent;
};

struct rec_osd {
    struct rec_osd_options options;
    struct rec_random random;
    struct rec_bytes *out;
    struct queue queues[REC_OSD_MODULES];
};

struct rec_osd *rec_osd_new(const struct rec_osd_options *options, struct rec_bytes *out)
{
    struct rec_osd *osd = calloc(1, sizeof(*osd));
    if (!osd)
        return NULL;
    osd->options = *options;
    osd->random.state = options->seed;
    osd->out = out;
    return osd;
}

void rec_osd_free(struct rec_osd *osd)
{
    for (unsigned i = 0; osd && i < REC_OSD_MODULES; i++)
        rec_bytes_free(&osd->queues[i].bytes);
    free(osd);
}

/* ---- packets ---- */

static void queue_word(struct queue *queue, unsigned word)
{
    rec_put(&queue->bytes, (uint8_t)(word >> 8));
    rec_put(&queue->bytes, (uint8_t)word);
}

/** The next packet of a queue goes out. */
static void send(struct rec_osd *osd, struct queue *queue)
{
    const uint8_t *at = queue->bytes.data + queue->sent;
    size_t size = 2 * (((size_t)at[0] << 8 | at[1]) + 1);
    for (size_t i = 0; i < size; i += 2) {
        rec_put(osd->out, at[i + osd->options.dump]);
        rec_put(osd->out, at[i + !osd->options.dump]);
    }
    queue->sent += size;
    if (queue->sent == queue->bytes.size)
        queue->sent = queue->bytes.size = 0;
}

static bool waits(const struct queue *queue)
{
    return queue->sent < queue->bytes.size;
}

void rec_osd_finish(struct rec_osd *osd)
{
    for (unsigned left = REC_OSD_MODULES; left > 0;) {
        struct queue *queue = &osd->queues[rec_random_below(&osd->random, REC_OSD_MODULES)];
        if (waits(queue))
            send(osd, queue);
        for (left = REC_OSD_MODULES; left > 0 && !waits(&osd->queues[left - 1]); left--)
            continue;
    }
}

static void queue_packet(struct rec_osd *osd, unsigned module, unsigned dest, unsigned source,
                         unsigned flags, const uint16_t *words, unsigned count)
{
    struct queue *queue = &osd->queues[module];
    queue_word(queue, PUG_OSD_PACKET_HEADER + count);
    queue_word(queue, dest);
    queue_word(queue, source);
    queue_word(queue, flags);
    for (unsigned i = 0; i < count; i++)
        queue_word(queue, words[i]);
}

/** Where modules take turns, some waiting bytes may stay for a while. */
static void take_turns(struct rec_osd *osd)
{
    if (!osd->options.interleave) {
        rec_osd_finish(osd);
        return;
    }
    for (unsigned i = rec_random_below(&osd->random, 24); i > 0; i--) {
        struct queue *queue = &osd->queues[rec_random_below(&osd->random, REC_OSD_MODULES)];
        if (waits(queue))
            send(osd, queue);
    }
}

static void send_event(struct rec_osd *osd, unsigned module, const uint16_t *words, unsigned count)
{
    unsigned room = osd->options.longest - PUG_OSD_PACKET_HEADER;
    for (; count > room; words += room, count -= room)
        queue_packet(osd, module, osd->options.dest, module,
                     PUG_OSD_EVENT << 14 | PUG_OSD_CONT << 10, words, room);
    queue_packet(osd, module, osd->options.dest, module, PUG_OSD_EVENT << 14, words, count);
    take_turns(osd);
}

/* ---- events ---- */

static unsigned put(uint16_t *words, unsigned at, uint64_t value, unsigned bits)
{
    for (unsigned i = 0; i < bits / 16; i++)
        words[at++] = (uint16_t)(value >> 16 * i);
    return at;
}

void rec_osd_ctm(struct rec_osd *osd, unsigned module, unsigned width,
                 const struct rec_ctm_event *event)
{
    uint16_t words[16];
    unsigned at = put(words, 0, event->timestamp, 32);
    at = put(words, at, event->npc, width);
    at = put(words, at, event->pc, width);
    words[at++] =
        (uint16_t)(event->mode | event->ret << 2 | event->call << 3 | event->modechange << 4);
    send_event(osd, module, words, at);
}

void rec_osd_stm(struct rec_osd *osd, unsigned module, unsigned width, uint32_t timestamp,
                 uint16_t id, uint64_t value)
{
    uint16_t words[16];
    unsigned at = put(words, 0, timestamp, 32);
    words[at++] = id;
    send_event(osd, module, words, put(words, at, value, width));
}

void rec_osd_overflow(struct rec_osd *osd, unsigned module, uint16_t missed)
{
    queue_packet(osd, module, osd->options.dest, module,
                 PUG_OSD_EVENT << 14 | PUG_OSD_OVERFLOW << 10, &missed, 1);
    take_turns(osd);
}

void rec_osd_register(struct rec_osd *osd, unsigned module, uint16_t number, uint16_t value)
{
    queue_packet(osd, module, module, osd->options.dest, 0, &number, 1);
    queue_packet(osd, module, osd->options.dest, module, 8 << 10, &value, 1);
    take_turns(osd);
}

/* ---- cores ---- */

bool rec_osd_core_step(struct rec_osd_core *core, uint32_t time, uint64_t pc,
                       const struct pug_insn *insn, uint64_t next, uint8_t mode)
{
    bool direct = insn->type == PUG_INSTR_BR && !insn->conditional;
    struct rec_ctm_event event = {
        .timestamp = time,
        .npc = next,
        .pc = pc,
        .mode = mode,
        .call = direct,
        .ret = insn->type == PUG_INSTR_BR_INDIRECT && insn->kind != PUG_RV_XRET,
        .modechange = mode != core->mode,
    };
    core->mode = mode;
    if (!event.call && !event.ret && !event.modechange)
        return false;
    rec_osd_ctm(core->osd, core->module, core->width, &event);
    return true;
}
