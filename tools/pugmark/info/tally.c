// SPDX-License-Identifier: MIT
#include "tally.h"

#include "capture/capture.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/author/protocol.h"

#include <inttypes.h>
#include <stdio.h>

/** Global timestamps of an ITM are no times where its local ones are. */
static bool are_others(const struct tally *tally, const struct pug_capture *capture)
{
    const struct pug_description *has = tally->protocol ? tally->protocol->description : NULL;
    return has && has->steps_apart && capture->local_hertz > 0 && capture->global_hertz == 0;
}

static void take_time(struct tally *tally, uint64_t time)
{
    if (time == 0)
        return; /* there is no counter */
    if (tally->timestamps++ == 0 || time < tally->first_time)
        tally->first_time = time;
    if (time > tally->last_time)
        tally->last_time = time;
}

static void take_times(struct tally *tally, const struct pug_packet *packet)
{
    const struct pug_protocol *protocol = pug_source_protocol(tally->source);
    struct pug_mark marks[PUG_MARK_LIMIT];
    const size_t count =
        protocol->packet_marks
            ? protocol->packet_marks(pug_source_config(tally->source), packet->data, marks)
            : 0;
    for (size_t i = 0; i < count; i++)
        if (marks[i].kind == PUG_MARK_TIMESTAMP)
            take_time(tally, marks[i].value);
}

static void take_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct tally *tally = context;
    if (op != PUG_OP_DATA)
        return;
    tally->packets++;
    tally->bad += (packet->flags & PUG_PACKET_BAD) != 0;
    if ((packet->flags & PUG_PACKET_SYNC) && tally->syncs++ == 0)
        tally->first_sync = packet->index;
    take_times(tally, packet);
}

void tally_source(struct tally *tally, struct pug_source *source)
{
    tally->source = source;
    tally->protocol = pug_source_protocol(source);
    pug_source_monitor(source, take_packet, tally);
}

const char *tally_times(const struct tally *tally, const struct pug_capture *capture, char *text,
                        size_t size)
{
    uint64_t first = tally->first_time, last = tally->last_time;
    if (tally->timestamps == 0 || are_others(tally, capture))
        return "";
    (void)pug_capture_clock(capture, first, &first);
    (void)pug_capture_clock(capture, last, &last);
    snprintf(text, size, "times %" PRIu64 " to %" PRIu64, first, last);
    return text;
}
