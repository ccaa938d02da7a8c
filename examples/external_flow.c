// SPDX-License-Identifier: MIT
/**
 * @file A protocol of program flow that lives outside the library.
 *
 * "Steps" is made up: a core sends its start (0xA0 and the address, 8 bytes, little-endian) and for
 * each branch whether it was taken ('E') or not ('N'). What ran between is in the program, which
 * the decoder walks with the library's code map, block by block. Indirect branches are followed by
 * a new beginning.
 *
 * Build against an installed library: cc external_flow.c $(pkg-config --cflags --libs pugmark)
 */
#include "pugmark/advanced/image.h"
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/settings.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/author/flow.h"
#include "pugmark/author/protocol.h"
#include "pugmark/element.h"
#include "pugmark/setting.h"
#include "pugmark/status.h"

#include <pugmark/author/flow.h>
#include <pugmark/pugmark.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the packet reader ---- */

enum { STEPS_BEGIN = 0xa0, STEPS_TAKEN = 'E', STEPS_NOT_TAKEN = 'N' };

struct steps_reader {
    uint8_t bytes[9]; /* of the packet so far: it may be cut anywhere */
    uint32_t count;
    uint64_t index;
};

static enum pug_status config_new(const struct pug_settings *settings, struct pug_log *log,
                                  void **config)
{
    (void)log;
    uint16_t *id = malloc(sizeof(*id));
    if (!id)
        return PUG_ERR_MEM;
    *id = (uint16_t)pug_settings_number(settings, "id", 1);
    *config = id;
    return PUG_OK;
}

static uint16_t trace_id(const void *config)
{
    return *(const uint16_t *)config;
}

static enum pug_status reader_new(const void *config, struct pug_stage *stage, void **reader)
{
    (void)config;
    (void)stage;
    *reader = calloc(1, sizeof(struct steps_reader));
    return *reader ? PUG_OK : PUG_ERR_MEM;
}

static bool read_packet(void *state, struct pug_span *span, struct pug_packet *packet)
{
    struct steps_reader *reader = state;
    while (span->at < span->end) {
        if (reader->count == 0)
            reader->index = pug_span_index(span);
        reader->bytes[reader->count++] = *span->at++;
        const uint8_t type = reader->bytes[0];
        if (type == STEPS_BEGIN && reader->count < 9)
            continue;
        *packet = (struct pug_packet){
            .index = reader->index,
            .data = reader->bytes,
            .raw = reader->bytes,
            .raw_size = reader->count,
            .type = type,
            .flags = PUG_PACKET_MONITOR | PUG_PACKET_DECODE |
                     (type == STEPS_BEGIN ? PUG_PACKET_SYNC : 0),
        };
        reader->count = 0;
        return true;
    }
    return false;
}

static void reader_reset(void *state)
{
    ((struct steps_reader *)state)->count = 0;
}

/* ---- the decoder ---- */

struct steps_decoder {
    struct pug_stage *stage;
    bool known;       /* where the core is */
    uint64_t address; /* and there it is */
    uint64_t index;   /* of the packet in hand */
    bool walking;     /* the letter belongs to a branch that is not reached yet */
    bool taken;
};

static void decoder_reset(void *state)
{
    struct steps_decoder *decoder = state;
    struct pug_stage *stage = decoder->stage;
    *decoder = (struct steps_decoder){.stage = stage};
    stage->out.blank = (struct pug_element){.source = stage->source, .isa = PUG_ISA_RV64};
}

static enum pug_status decoder_new(const void *config, struct pug_stage *stage, void **out)
{
    struct steps_decoder *decoder = calloc(1, sizeof(*decoder));
    (void)config;
    if (!decoder)
        return PUG_ERR_MEM;
    decoder->stage = stage;
    decoder_reset(decoder);
    *out = decoder;
    return PUG_OK;
}

/** One block on the way to the branch; the consumer is ready. */
static void walk(struct steps_decoder *decoder)
{
    struct pug_flow_block block;
    pug_flow_block(decoder->stage, decoder->address, PUG_ISA_RV64, 0, &block);
    const bool branch = block.ending == PUG_FLOW_BRANCH;
    const bool taken = branch && decoder->taken;
    if (block.count > 0)
        pug_flow_push(decoder->stage, decoder->index, &block, taken || !branch);
    decoder->address = taken ? block.insn.target : block.end;
    decoder->walking = block.ending == PUG_FLOW_LONG;
    if (taken && block.insn.type == PUG_INSTR_BR_INDIRECT)
        decoder->known = false; /* a packet gives its target */
    if (block.ending == PUG_FLOW_NO_MEMORY) {
        struct pug_element *missing =
            pug_out_push(&decoder->stage->out, PUG_ELEM_ADDR_NACC, decoder->index);
        missing->start = block.end;
        missing->number = PUG_SPACE_ANY;
        decoder->known = false;
    }
}

static enum pug_response resume(void *state)
{
    struct steps_decoder *decoder = state;
    while (decoder->walking) {
        if (!pug_out_ready(&decoder->stage->out)) {
            decoder->stage->pending = true; /* the consumer waits: this is called again */
            break;
        }
        walk(decoder);
    }
    return PUG_RESP_CONT;
}

static enum pug_response decode(void *state, const struct pug_packet *packet)
{
    struct steps_decoder *decoder = state;
    const uint8_t *bytes = packet->data;
    decoder->index = packet->index;
    if (packet->type == STEPS_BEGIN) {
        decoder->address = 0;
        for (unsigned i = 0; i < 8; i++)
            decoder->address |= (uint64_t)bytes[1 + i] << 8 * i;
        pug_out_push(&decoder->stage->out, PUG_ELEM_TRACE_ON, packet->index);
        decoder->known = true;
    } else if (decoder->known) {
        decoder->taken = packet->type == STEPS_TAKEN;
        decoder->walking = true;
    }
    return resume(decoder);
}

static enum pug_response decode_end(void *state)
{
    struct steps_decoder *decoder = state;
    pug_out_push(&decoder->stage->out, PUG_ELEM_EO_TRACE, decoder->index)->reason = PUG_UNSYNC_EOT;
    return PUG_RESP_CONT;
}

static const struct pug_protocol steps = {
    .abi = PUG_AUTHOR_ABI,
    .name = "Steps",
    .title = "branches of a made-up core",
    .program_flow = true,
    .config_new = config_new,
    .config_free = free,
    .trace_id = trace_id,
    .reader_new = reader_new,
    .reader_free = free,
    .read = read_packet,
    .reader_reset = reader_reset,
    .decoder_new = decoder_new,
    .decoder_free = free,
    .decode = decode,
    .resume = resume,
    .decode_end = decode_end,
    .decoder_reset = decoder_reset,
};

/* ---- and its use ---- */

static enum pug_response print_element(void *context, const struct pug_element *element)
{
    char text[256];
    (void)context;
    pug_element_text(element, text, sizeof(text));
    printf("offset %" PRIu64 ": %s\n", element->index, text);
    return PUG_RESP_CONT;
}

/* At 0x1000: addi a0,a0,-1; bnez a0,.-4; ret */
static const uint8_t program[] = {0x13, 0x05, 0xf5, 0xff, 0xe3, 0x1e, 0x05, 0xfe, 0x82, 0x80};
/* Two rounds of the loop, out of it, and the return. */
static const uint8_t capture[] = {0xa0, 0x00, 0x10, 0, 0, 0, 0, 0, 0, 'E', 'E', 'N', 'E'};

int main(void)
{
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree;
    size_t used;
    if (pug_image_add_buffer(image, NULL, 0x1000, program, sizeof(program)) != PUG_OK ||
        pug_protocol_register(&steps) != PUG_OK ||
        pug_tree_new(&(struct pug_tree_config){.image = image}, &tree) != PUG_OK ||
        pug_tree_add_source(tree, &(struct pug_source_config){.protocol = "Steps", .decode = true},
                            NULL) != PUG_OK)
        return EXIT_FAILURE;
    pug_tree_on_element(tree, print_element, NULL);
    enum pug_response response = pug_tree_data(tree, 0, capture, sizeof(capture), &used);
    if (PUG_RESP_IS_CONT(response))
        response = pug_tree_end(tree);
    pug_tree_free(tree);
    pug_image_free(image);
    return PUG_RESP_IS_CONT(response) ? EXIT_SUCCESS : EXIT_FAILURE;
}
