// SPDX-License-Identifier: MIT
/** @file A source that is read for marks alone, as an index does. */
#include "tree/tree_internal.h"

static void add_packet(struct pug_source *source, const struct pug_packet *packet)
{
    const struct pug_protocol *protocol = source->protocol;
    struct pug_mark_list *list = source->stage.marks;
    struct pug_mark marks[PUG_MARK_LIMIT];
    size_t count = 0;
    if (!(packet->flags & PUG_PACKET_MONITOR) || packet->raw_size == 0)
        return;
    if (!pug_mark_list_ready(list))
        list->full(list);
    if (packet->flags & PUG_PACKET_SYNC)
        pug_mark_list_add(list, PUG_MARK_SYNC, packet->index, 0);
    if (protocol->packet_marks)
        count = protocol->packet_marks(source->config, packet->data, marks);
    for (size_t i = 0; i < count; i++)
        pug_mark_list_add(list, marks[i].kind, packet->index, marks[i].value);
}

void pug_source_take_marks(struct pug_source *source, struct pug_span *span)
{
    const struct pug_protocol *protocol = source->protocol;
    struct pug_mark_list *list = source->stage.marks;
    struct pug_packet packet;
    for (;;) {
        const uint8_t *from = span->at;
        if (protocol->fast_path) {
            protocol->fast_path(source->reader, NULL, span, PUG_WANT_MARKS);
            if (!pug_mark_list_ready(list))
                list->full(list);
            if (span->at != from) {
                if (span->at == span->end)
                    return;
                continue;
            }
        }
        if (!protocol->read(source->reader, span, &packet))
            return;
        add_packet(source, &packet);
    }
}

void pug_source_end_marks(struct pug_source *source)
{
    struct pug_packet packet;
    while (source->protocol->read_end && source->protocol->read_end(source->reader, &packet))
        add_packet(source, &packet);
}

void pug_source_marks(struct pug_source *source, struct pug_mark_list *list)
{
    source->stage.marks = list;
}
