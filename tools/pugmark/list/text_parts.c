// SPDX-License-Identifier: MIT
#include "text_parts.h"

#include "input/input.h"
#include "schedule/peers.h"

#include <stdlib.h>
#include <string.h>

struct text_part {
    struct text_printer *printer;
    bool placed; /* in a segment */
    uint32_t segment;
    unsigned worker;
    struct output_text_buffer text;
    struct pug_piece *piece;
    bool kept; /* by another process, there: */
    uint32_t process;
    uint64_t at, size;
};

static struct text_part *part_of(struct output_text_buffer *text)
{
    return (struct text_part *)((char *)text - offsetof(struct text_part, text));
}

/** The text so far is a chunk; without a reader it is lost. */
static void hand_on(struct output_text_buffer *text)
{
    struct text_part *part = part_of(text), *chunk = malloc(sizeof(*chunk));
    const size_t size = text->room;
    if (chunk) {
        *chunk = *part;
        *text = (struct output_text_buffer){.full = hand_on};
    }
    output_to(NULL); /* it may be taken at once, with a head in front of it */
    text->failed = !pug_piece_emit(part->piece, chunk, size);
    output_to(text);
}

static struct text_part *new_part(struct text_printer *printer, unsigned worker)
{
    struct text_part *part = calloc(1, sizeof(*part));
    if (part) {
        part->printer = printer;
        part->worker = worker;
    }
    return part;
}

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    struct text_printer *printer = context;
    struct text_part *part = new_part(printer, worker);
    if (!part)
        return NULL;
    part->piece = piece;
    part->text.full = hand_on;
    if (printer->begin)
        printer->begin(printer->context, worker, &part->text);
    return part;
}

static void print(void *context, const struct pug_origin *origin,
                  const struct pug_element *elements, size_t count)
{
    struct text_part *part = context;
    const struct text_printer *printer = part->printer;
    output_to(&part->text);
    if (origin) {
        part->placed = true;
        part->segment = origin->segment;
        printer->situated(printer->context, part->worker, origin, elements, count);
    } else {
        printer->print(printer->context, part->worker, elements, count);
    }
    output_to(NULL);
}

static bool watch(void *context, unsigned worker, struct pug_tree *tree)
{
    const struct text_printer *printer = context;
    return printer->watch(printer->context, worker, tree);
}

static void drop(void *context)
{
    struct text_part *part = context;
    free(part->text.bytes);
    free(part);
}

static bool take(void *context, void *taken)
{
    struct text_part *part = taken;
    struct text_printer *printer = context;
    if (printer->head && part->placed && (!printer->begun || printer->segment != part->segment)) {
        printer->head(printer->context, part->segment);
        printer->begun = true;
        printer->segment = part->segment;
    }
    if (part->kept)
        output_place(part->process, part->at, part->size);
    else
        output_buffer(&part->text);
    drop(part);
    return output_wanted();
}

/* ---- other processes ---- */

/** In front of a text, or in place of one that stays where it is. */
struct header {
    uint64_t segment; /* plus 1; 0: in none */
    bool kept;
    uint32_t process;
    uint64_t at, size;
};

static void pack(const void *context, struct pug_state *bytes)
{
    const struct text_part *part = context;
    const struct output_target *file = output_where();
    struct header header = {.segment = part->placed ? part->segment + UINT64_C(1) : 0,
                            .kept = file && part->text.count > 0 && pug_peers_helps(input_peers()),
                            .size = part->text.count};
    bytes->failed |= part->text.failed;
    if (header.kept) {
        header.process = input_peers()->number;
        bytes->failed |= !file->keep(file->context, part->text.bytes, part->text.count, &header.at);
    }
    pug_state_put(bytes, &header, sizeof(header));
    if (!header.kept)
        pug_state_put(bytes, part->text.bytes, part->text.count);
}

static void *unpack(void *context, const uint8_t *bytes, size_t size)
{
    struct text_part *part = new_part(context, 0);
    struct header header;
    if (!part)
        return NULL;
    memcpy(&header, bytes, sizeof(header));
    part->placed = header.segment > 0;
    part->segment = (uint32_t)(header.segment - 1);
    part->kept = header.kept;
    part->process = header.process;
    part->at = header.at;
    part->size = header.size;
    part->text.count = part->text.room = size - sizeof(header);
    part->text.bytes = malloc(part->text.count + 1);
    if (part->text.bytes)
        return memcpy(part->text.bytes, bytes + sizeof(header), part->text.count), part;
    drop(part);
    return NULL;
}

struct pug_consumer text_consumer(struct text_printer *printer)
{
    return (struct pug_consumer){.context = printer, /* words have times as packets do */
                                 .attach = printer->watch ? watch : NULL,
                                 .begin = begin,
                                 .elements = print,
                                 .take = take,
                                 .drop = drop,
                                 .pack = pack,
                                 .unpack = unpack};
}

struct pug_capture_decode text_decode(struct text_printer *printer)
{
    printer->consumer = text_consumer(printer);
    return (struct pug_capture_decode){.consumers = &printer->consumer, .consumer_count = 1};
}
