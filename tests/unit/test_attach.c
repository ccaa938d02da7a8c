// SPDX-License-Identifier: MIT
/** @file What a program can attach: a transport, a classifier, packets, and a bus trace's elements.
 */
#include "pugmark/advanced/isa.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/author/transport.h"
#include "pugmark/pugmark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a bus trace: each byte is a transfer of that address ---- */

struct bus {
    struct pug_stage *stage;
    uint8_t byte; /* the packet */
};

static enum pug_status bus_config(const struct pug_settings *settings, struct pug_log *log,
                                  void **config)
{
    static uint16_t ids[8];
    (void)log;
    uint64_t id = pug_settings_number(settings, "id", 1);
    ids[id % 8] = (uint16_t)id;
    *config = &ids[id % 8];
    return PUG_OK;
}

static uint16_t bus_id(const void *config)
{
    return *(const uint16_t *)config;
}

static enum pug_status bus_new(const void *config, struct pug_stage *stage, void **made)
{
    struct bus *bus = calloc(1, sizeof(*bus));
    (void)config;
    bus->stage = stage;
    *made = bus;
    return PUG_OK;
}

static bool bus_read(void *reader, struct pug_span *span, struct pug_packet *packet)
{
    struct bus *bus = reader;
    if (span->at == span->end)
        return false;
    bus->byte = *span->at;
    *packet = (struct pug_packet){.index = pug_span_index(span),
                                  .data = &bus->byte,
                                  .raw = &bus->byte,
                                  .raw_size = 1,
                                  .flags = PUG_PACKET_DECODE | PUG_PACKET_MONITOR};
    span->at++;
    return true;
}

static enum pug_response bus_decode(void *decoder, const struct pug_packet *packet)
{
    struct bus *bus = decoder;
    struct pug_element *e = pug_out_push(&bus->stage->out, PUG_ELEM_BUS_TRANSFER, packet->index);
    const uint8_t *byte = packet->data;
    e->start = (uint64_t)*byte << 8;
    e->reason = *byte & 1 ? PUG_ACCESS_STORE : PUG_ACCESS_LOAD;
    e->last_size = 4;
    e->value = *byte;
    e->flags = PUG_ELEM_HAS_VALUE | PUG_ELEM_HAS_TS;
    e->timestamp = 1000u - *byte;
    PUG_BUS_MASTER(e) = 3;
    return *byte == 0xff && bus->stage->options.halt_on_bad_packet ? PUG_RESP_FATAL_INVALID_DATA
                                                                   : PUG_RESP_CONT;
}

static enum pug_response bus_end(void *decoder)
{
    struct bus *bus = decoder;
    pug_out_push(&bus->stage->out, PUG_ELEM_EO_TRACE, 0);
    return PUG_RESP_CONT;
}

static void bus_reset(void *decoder)
{
    (void)decoder;
}

static const struct pug_protocol bus_protocol = {
    .abi = PUG_AUTHOR_ABI,
    .name = "BUS",
    .title = "transfers on a bus",
    .config_new = bus_config,
    .trace_id = bus_id,
    .reader_new = bus_new,
    .reader_free = free,
    .read = bus_read,
    .decoder_new = bus_new,
    .decoder_free = free,
    .decode = bus_decode,
    .decode_end = bus_end,
    .decoder_reset = bus_reset,
};

/* ---- elements as text ---- */

struct heard {
    char text[2048];
    unsigned wait; /* answer WAIT to the n-th */
    unsigned count;
};

static enum pug_response note(void *context, const struct pug_element *e)
{
    struct heard *heard = context;
    size_t length = strlen(heard->text);
    length += (size_t)snprintf(heard->text + length, sizeof(heard->text) - length, "%u/%x ",
                               (unsigned)e->index, e->source);
    length += pug_element_text(e, heard->text + length, sizeof(heard->text) - length);
    snprintf(heard->text + length, sizeof(heard->text) - length, "\n");
    return ++heard->count == heard->wait ? PUG_RESP_WAIT : PUG_RESP_CONT;
}

static struct pug_tree *bus_tree(struct heard *heard, bool decode, struct pug_source **source)
{
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "plain"}, &tree), PUG_OK);
    const struct pug_source_config config = {.definition = &bus_protocol, .decode = decode};
    assert_int_equal(pug_tree_add_source(tree, &config, source), PUG_OK);
    pug_tree_on_element(tree, note, heard);
    return tree;
}

#define TRANSFER(text) "BUS_TRANSFER(" text ")\n"

static void test_bus_transfers(void **state)
{
    struct heard heard = {.wait = 0};
    struct pug_source *source;
    size_t used;
    (void)state;
    struct pug_tree *tree = bus_tree(&heard, true, &source);
    assert_int_equal(pug_tree_data(tree, 0, (const uint8_t *)"\x10\x11", 2, &used), PUG_RESP_CONT);
    assert_string_equal(
        heard.text,
        "0/1 " TRANSFER("load addr=0x1000 size=4 value=0x10 master=0x3 [ "
                        "TS=0x0000000003d8]") "1/1 " TRANSFER("store addr=0x1100 size=4 value=0x11 "
                                                              "master=0x3 [ TS=0x0000000003d7]"));
    assert_string_equal(pug_element_type_name(PUG_ELEM_BUS_TRANSFER), "BUS_TRANSFER");
    pug_tree_free(tree);
}

/** Packets from somebody else: no byte of trace is there. */
static void test_packets(void **state)
{
    struct heard heard = {.wait = 2};
    struct pug_source *source;
    uint8_t byte = 2;
    struct pug_packet packet = {.index = 40, .data = &byte};
    (void)state;
    struct pug_tree *tree = bus_tree(&heard, true, &source);
    assert_int_equal(pug_source_packet(source, PUG_OP_DATA, &packet), PUG_RESP_CONT);
    byte = 4;
    packet.index = 41;
    assert_int_equal(pug_source_packet(source, PUG_OP_DATA, &packet), PUG_RESP_WAIT);
    assert_int_equal(pug_source_packet(source, PUG_OP_FLUSH, NULL), PUG_RESP_CONT);
    assert_int_equal(pug_source_packet(source, PUG_OP_RESET, NULL), PUG_RESP_CONT);
    assert_int_equal(pug_source_packet(source, PUG_OP_END, NULL), PUG_RESP_CONT);
    assert_string_equal(
        heard.text,
        "40/1 " TRANSFER(
            "load addr=0x200 size=4 value=0x2 master=0x3 "
            "[ TS=0x0000000003e6]") "41/1 " TRANSFER("load addr=0x400 size=4 value=0x4 master=0x3 "
                                                     "[ "
                                                     "TS=0x0000000003e4]") "0/1 EO_TRACE( "
                                                                           "[undefined])\n");
    assert_int_equal(pug_source_packet(source, PUG_OP_DATA, NULL), PUG_RESP_FATAL_INVALID_PARAM);
    assert_int_equal(pug_source_packet(NULL, PUG_OP_END, NULL), PUG_RESP_FATAL_INVALID_PARAM);
    assert_int_equal(pug_source_packet(source, (enum pug_op)9, NULL), PUG_RESP_FATAL_INVALID_OP);
    pug_tree_free(tree);
    tree = bus_tree(&heard, false, &source); /* one that does not decode */
    assert_int_equal(pug_source_packet(source, PUG_OP_DATA, &packet), PUG_RESP_FATAL_INVALID_OP);
    pug_tree_free(tree);
}

/** Options are those of the operation, not of the making. */
static void test_options(void **state)
{
    struct heard heard = {.wait = 0};
    struct pug_source *source;
    size_t used;
    (void)state;
    struct pug_tree *tree = bus_tree(&heard, true, &source);
    assert_int_equal(pug_tree_data(tree, 0, (const uint8_t *)"\xff", 1, &used), PUG_RESP_CONT);
    struct pug_decode_options options = *pug_source_options(source);
    options.halt_on_bad_packet = true;
    assert_int_equal(pug_source_set_options(source, &options), PUG_OK);
    assert_true(pug_source_options(source)->halt_on_bad_packet);
    assert_int_equal(pug_tree_data(tree, 1, (const uint8_t *)"\xff", 1, &used),
                     PUG_RESP_FATAL_INVALID_DATA);
    assert_int_equal(pug_source_set_options(NULL, &options), PUG_ERR_INVALID_PARAM_VAL);
    pug_tree_free(tree);
}

/* ---- a transport: pairs of bytes, a source's id and a byte of it ---- */

struct pairs {
    struct pug_transport_sink *sink;
};

static enum pug_status pairs_create(const struct pug_settings *settings,
                                    struct pug_transport_sink *sink, void **made)
{
    struct pairs *pairs = calloc(1, sizeof(*pairs));
    (void)settings;
    pairs->sink = sink;
    *made = pairs;
    return PUG_OK;
}

static enum pug_response pairs_data(void *transport, uint64_t index, const uint8_t *bytes,
                                    size_t size, size_t *used)
{
    const struct pairs *pairs = transport;
    enum pug_response answer = PUG_RESP_CONT;
    for (*used = 0; *used + 2 <= size && answer < PUG_RESP_WAIT; *used += 2) {
        size_t taken = 0;
        struct pug_run run = {.index = index + *used + 1,
                              .bytes = bytes + *used + 1,
                              .size = 1,
                              .source = bytes[*used]};
        answer = pairs->sink->run(pairs->sink->context, &run, &taken);
    }
    return answer;
}

static enum pug_response pairs_nothing(void *transport)
{
    (void)transport;
    return PUG_RESP_CONT;
}

static void pairs_reset(void *transport)
{
    (void)transport;
}

static const struct pug_transport pairs_transport = {
    .abi = PUG_AUTHOR_ABI,
    .name = "pairs",
    .title = "pairs of id and byte",
    .create = pairs_create,
    .free = free,
    .data = pairs_data,
    .flush = pairs_nothing,
    .end = pairs_nothing,
    .reset = pairs_reset,
};

static void test_transport(void **state)
{
    struct heard heard = {.wait = 0};
    struct pug_tree *tree;
    size_t used, known = 0;
    (void)state;
    while (pug_transport_at(known))
        known++;
    assert_null(pug_transport_find("pairs"));
    assert_int_equal(pug_transport_register(&pairs_transport), PUG_OK);
    assert_int_equal(pug_transport_register(&pairs_transport), PUG_ERR_NAME_TAKEN);
    assert_int_equal(pug_transport_register(&(struct pug_transport){.name = "half"}),
                     PUG_ERR_INVALID_PARAM_VAL);
    assert_ptr_equal(pug_transport_at(known), &pairs_transport);
    assert_ptr_equal(pug_transport_find("pairs"), &pairs_transport);
    assert_null(pug_transport_at(known + 1));
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "pairs"}, &tree), PUG_OK);
    for (uint64_t id = 1; id <= 2; id++) {
        const struct pug_setting setting = {"id", id, NULL};
        assert_int_equal(
            pug_tree_add_source(tree,
                                &(struct pug_source_config){.definition = &bus_protocol,
                                                            .settings = {&setting, 1, NULL},
                                                            .decode = true},
                                NULL),
            PUG_OK);
    }
    pug_tree_on_element(tree, note, &heard);
    assert_int_equal(pug_tree_data(tree, 0, (const uint8_t *)"\2\4\1\2\3\6", 6, &used),
                     PUG_RESP_CONT);
    assert_int_equal(used, 6);
    assert_string_equal(
        heard.text,
        "1/2 " TRANSFER("load addr=0x400 size=4 value=0x4 master=0x3 [ "
                        "TS=0x0000000003e4]") "3/1 " TRANSFER("load addr=0x200 size=4 value=0x2 "
                                                              "master=0x3 [ TS=0x0000000003e6]"));
    assert_int_equal(pug_tree_transport_stats(tree)->no_decoder, 1); /* source 3 */
    pug_tree_free(tree);
    assert_int_equal(pug_transport_unregister("pairs"), PUG_OK);
    assert_int_equal(pug_transport_unregister("pairs"), PUG_ERR_UNKNOWN_NAME);
    assert_null(pug_transport_at(known));
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "pairs"}, &tree),
                     PUG_ERR_UNKNOWN_NAME);
}

/* ---- classifiers ---- */

static enum pug_status count_calls(void *context, const struct pug_isa_config *config,
                                   enum pug_isa isa, uint64_t address, const uint8_t *bytes,
                                   unsigned avail, uint8_t *it, struct pug_insn *insn)
{
    ++*(unsigned *)context;
    return pug_isa_classify(config, isa, address, bytes, avail, it, insn);
}

/** A source's own classifier goes before that of the tree; a clone has it, too. */
static void test_classifiers(void **state)
{
    static const uint8_t trace[] = {
        0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0x80, /* A-sync */
        0x01, 0x00, 0x04,                                                 /* trace info, trace on */
        0x85, 0x00, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,             /* address 0x1000 */
        0x31, /* EL1, non-secure, AArch64 */
        0xf7, /* atom E */
    };
    static const uint8_t program[] = {0x1f, 0x20, 0x03, 0xd5, 0x00, 0x00, 0x00, 0x14};
    unsigned of_tree = 0, of_source = 0, before;
    struct heard heard = {.wait = 0};
    struct pug_tree *tree, *clone;
    size_t used;
    (void)state;
    if (!pug_protocol_find("ETMV4I"))
        skip();
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_buffer(image, &(struct pug_place){.space = PUG_SPACE_ANY},
                                          0x1000, program, sizeof(program)),
                     PUG_OK);
    const struct pug_tree_config config = {
        .image = image, .classify = count_calls, .classify_context = &of_tree};
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    const struct pug_source_config source = {.protocol = "ETMV4I",
                                             .decode = true,
                                             .classify = count_calls,
                                             .classify_context = &of_source};
    assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    pug_tree_on_element(tree, note, &heard);
    pug_tree_data(tree, 0, trace, sizeof(trace), &used);
    pug_tree_end(tree);
    if (!strstr(heard.text, "exec range=0x1000:[0x1008]"))
        fail_msg("no range in:\n%s", heard.text);
    assert_int_equal(of_tree, 0);
    assert_int_equal(of_source, 2);
    before = of_source;
    assert_int_equal(pug_tree_clone(tree, NULL, &clone), PUG_OK);
    pug_tree_data(clone, 0, trace, sizeof(trace), &used);
    pug_tree_end(clone);
    assert_int_equal(of_source, 2 * before);
    assert_int_equal(of_tree, 0);
    pug_tree_free(clone);
    pug_tree_free(tree);
    pug_image_free(image);
}

/* Who forgot a function hears of it at once, by either way into a tree. */
static void test_whole(void **state)
{
    const struct pug_protocol whole = bus_protocol;
    struct pug_protocol lacks[10];
    (void)state;
    for (size_t i = 0; i < 10; i++)
        lacks[i] = whole;
    lacks[0].name = NULL;
    lacks[1].config_new = NULL;
    lacks[2].trace_id = NULL;
    lacks[3].reader_new = NULL;
    lacks[4].reader_free = NULL;
    lacks[5].read = NULL;
    lacks[6].decoder_free = NULL;
    lacks[7].decode = NULL;
    lacks[8].decode_end = NULL;
    lacks[9].decoder_reset = NULL;
    for (size_t i = 0; i < 10; i++) {
        struct pug_source_config config = {.definition = &lacks[i], .decode = true};
        struct pug_tree *tree;
        assert_int_equal(pug_protocol_register(&lacks[i]), PUG_ERR_INVALID_PARAM_VAL);
        assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "plain"}, &tree),
                         PUG_OK);
        assert_int_equal(pug_tree_add_source(tree, &config, NULL), PUG_ERR_INVALID_PARAM_VAL);
        pug_tree_free(tree);
    }
    assert_int_equal(pug_protocol_register(&whole), PUG_OK);
    assert_int_equal(pug_protocol_unregister("BUS"), PUG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),     cmocka_unit_test(test_bus_transfers),
        cmocka_unit_test(test_packets),   cmocka_unit_test(test_options),
        cmocka_unit_test(test_transport), cmocka_unit_test(test_classifiers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
