// SPDX-License-Identifier: MIT
/** @file STM: what the quirks do, and what is right; resets and settings. */
#include "pugmark/advanced/packet/stm.h"
#include "pugmark/author/protocol.h"
#include "pugmark/pugmark.h"
#include "support/stm_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void bad_packets(void **state)
{
    (void)state;
    const char *stream = STM_SYNC "1 41 C 1 F1 C 2 " STM_SYNC "C 3 0";
    stm_assert_lines(stream, (struct stream_run){0},
                     (const char *const[]){
                         "0 NO_SYNC( [init-decoder])",
                         "14 SWTRACE( (Ma:0x41; Ch:0x00) 0x1; )",
                         "! 15 STM: Unsupported or Reserved STPv2 Header",
                         "16 NO_SYNC( [bad-packet])",
                         "30 SWTRACE((Ma:0x\?\?; Ch:0x\?\?) 0x3; )",
                         "31 EO_TRACE( [end-of-trace])",
                         NULL,
                     });
    static const struct stream_run fatal = {.quirks = {.bad_software_packet_fatal = 1}};
    stm_assert_lines(stream, fatal,
                     (const char *const[]){
                         "0 NO_SYNC( [init-decoder])",
                         "14 SWTRACE( (Ma:0x41; Ch:0x00) 0x1; )",
                         "! 15 STM: Unsupported or Reserved STPv2 Header",
                         NULL,
                     });
}

/** The texts of all packets, in one line. */
static enum pug_response collect_texts(void *context, enum pug_op op,
                                       const struct pug_packet *packet)
{
    char text[256];
    char *all = context;
    if (op != PUG_OP_DATA)
        return PUG_RESP_CONT;
    pug_protocol_find("STM")->packet_text(packet->data, text, sizeof(text));
    text[strcspn(text, ":")] = '\0';
    const char *bracket = strchr(text + strlen(text) + 1, '[');
    size_t length = strlen(all);
    snprintf(all + length, 4096 - length, "%llu %s%s ", (unsigned long long)packet->index, text,
             bracket ? bracket : "");
    return PUG_RESP_CONT;
}

static void assert_packets(const char *stream, size_t block, struct pug_quirks quirks,
                           const char *wanted)
{
    struct rec_bytes bytes = stm_nibbles(stream);
    struct stream_lines lines = {0};
    struct stream_run run = stm_run(&lines, &bytes);
    char all[4096] = "";
    run.quirks = quirks;
    run.block = block;
    run.sink = collect_texts;
    run.sink_context = all;
    stream_run(&run);
    assert_string_equal(all, wanted);
    stream_lines_free(&lines);
    rec_bytes_free(&bytes);
}

static void index_of_a_high_nibble(void **state)
{
    (void)state;
    const char *stream = STM_SYNC "0 4 11 4 22";
    assert_packets(stream, 0, (struct pug_quirks){0},
                   "0 ASYNC 11 VERSION 13 NULL 13 D8 15 D8 16 NULL ");
    assert_packets(stream, 0, (struct pug_quirks){.stm_index_of_next_byte = 1},
                   "0 ASYNC 11 VERSION 13 NULL 14 D8 15 D8 17 NULL ");
}

/** The bytes of all packets, in one line. */
static void collect_bytes(void *context, enum pug_op op, const struct pug_packet *packet)
{
    char *all = context;
    size_t length = strlen(all);
    if (op != PUG_OP_DATA)
        return;
    for (uint32_t i = 0; i < packet->raw_size; i++)
        length += (size_t)snprintf(all + length, 256 - length, "%02x", packet->raw[i]);
    snprintf(all + length, 256 - length, " ");
}

/** Decode in blocks of `block` bytes; how many are used in all, and the bytes of all packets. */
static size_t bytes_used(const char *stream, size_t block, struct pug_quirks quirks, char all[256])
{
    struct rec_bytes bytes = stm_nibbles(stream);
    struct pug_tree *tree;
    struct pug_source *source;
    struct pug_source_config config = {.protocol = "STM", .settings = stm_settings, .decode = true};
    enum pug_response response = PUG_RESP_CONT;
    size_t done = 0;
    quirks.unattached_is_fatal = 0;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.quirks = quirks}, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &config, &source), PUG_OK);
    all[0] = '\0';
    pug_source_monitor(source, collect_bytes, all);
    while (done < bytes.size && PUG_RESP_IS_CONT(response)) {
        size_t used, size = bytes.size - done < block ? bytes.size - done : block;
        response = pug_tree_data(tree, done, bytes.data + done, size, &used);
        done += used;
    }
    pug_tree_free(tree);
    rec_bytes_free(&bytes);
    return done;
}

/** A byte whose low nibble is used counts as used in the reference, wherever decoding stops. */
static void half_used_bytes(void **state)
{
    (void)state;
    char all[256];
    struct pug_quirks none = {0}, reference = pug_quirks_reference();
    for (size_t block = 1; block <= 32; block++) {
        assert_int_equal(bytes_used(STM_SYNC "0 F1 C5 C5 0", block, reference, all), 15);
        assert_int_equal(bytes_used(STM_SYNC "0 F1 C5 C5 0", block, none, all), 17);
        /* The rest of the byte does not disturb the packet's own. */
        bytes_used(STM_SYNC "6 11223344 C 5 6 55667788 0 D 5 0", block, reference, all);
        assert_string_equal(all, "ffffffffffffffffffff0f 0f30 16213243c4 c065 6055667788 d0 d005 ");
    }
}

static void last_index(void *context, enum pug_op op, const struct pug_packet *packet)
{
    if (op == PUG_OP_DATA)
        *(uint64_t *)context = packet->index;
}

static enum pug_response wait_at_no_sync(void *context, const struct pug_element *elements,
                                         size_t count, size_t *taken)
{
    (void)context;
    *taken = count;
    return elements[0].type == PUG_ELEM_NO_SYNC ? PUG_RESP_WAIT : PUG_RESP_CONT;
}

/** … also where a consumer waits at a NOTSYNC: the nibble is of the next block then. */
static void half_used_byte_of_a_wait(void **state)
{
    (void)state;
    struct rec_bytes bytes = stm_nibbles("1 FFFFFFFFFFFFFFFFFFFFF0 F 003 F");
    struct pug_tree_config tree_config = {.quirks = pug_quirks_reference()};
    struct pug_source_config config = {.protocol = "STM", .settings = stm_settings, .decode = true};
    struct pug_source *source;
    struct pug_tree *tree;
    uint64_t index;
    size_t used;
    assert_int_equal(pug_tree_new(&tree_config, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &config, &source), PUG_OK);
    pug_source_monitor(source, last_index, &index);
    pug_tree_on_elements(tree, wait_at_no_sync, NULL);
    assert_int_equal(pug_tree_data(tree, 0, bytes.data, 12, &used), PUG_RESP_WAIT);
    assert_int_equal(used, 12);
    assert_int_equal(pug_tree_flush(tree), PUG_RESP_CONT);
    assert_int_equal(pug_tree_data(tree, 100, bytes.data + 12, 1, &used), PUG_RESP_CONT);
    assert_int_equal(index, 0); /* ASYNC */
    assert_int_equal(pug_tree_data(tree, 101, bytes.data + 13, 1, &used), PUG_RESP_CONT);
    assert_int_equal(index, 100); /* VERSION */
    pug_tree_free(tree);
    rec_bytes_free(&bytes);
}

static void counting_while_unsynced(void **state)
{
    (void)state;
    struct pug_quirks none = {0}, in_8_bits = {.stm_counts_in_8_bits = 1};
    /* F beyond the 21st. */
    assert_packets("FF FFFFFFFFFFFFFFFFFFFFF0 0", 0, none, "0 ASYNC 12 NULL 12 NULL ");
    assert_packets("FF FFFFFFFFFFFFFFFFFFFFF0 0", 0, in_8_bits,
                   "0 NOTSYNC 0 ASYNC 12 NULL 12 NULL ");
    /* A block of 256 nibbles and one of 2, none of them F. */
    char stream[400] = "";
    memset(stream, '1', 258);
    assert_packets(stream, 128, none,
                   "0 NOTSYNC 16 NOTSYNC 32 NOTSYNC 48 NOTSYNC 64 NOTSYNC 80 NOTSYNC 96 NOTSYNC "
                   "112 NOTSYNC 128 NOTSYNC ");
    assert_packets(stream, 128, in_8_bits, "128 NOTSYNC ");
    /* A sync after 128 bytes of one block. */
    memset(stream, '1', 256);
    snprintf(stream + 256, sizeof(stream) - 256, "%s", "FFFFFFFFFFFFFFFFFFFFF0");
    assert_packets(stream, 0, in_8_bits, "0 ASYNC ");
    /* 260 F are no sync for a counter of 8 bits. */
    memset(stream, 'F', 260);
    snprintf(stream + 260, sizeof(stream) - 260, "%s", "01 FFFFFFFFFFFFFFFFFFFFF0");
    assert_packets(stream, 0, none, "0 ASYNC 130 M8 132 ASYNC ");
    /* … and an ASYNC after a NOTSYNC waits for one more nibble. */
    assert_packets(stream, 0, in_8_bits, "0 NOTSYNC ");
    size_t end = strlen(stream);
    snprintf(stream + end, sizeof(stream) - end, "00");
    assert_packets(stream, 0, in_8_bits, "0 NOTSYNC 3 ASYNC 142 NULL 142 NULL ");
}

static void name_of_a_broken_async(void **state)
{
    (void)state;
    const char *stream = STM_SYNC "C 1 FFFFF1 4 11";
    assert_packets(stream, 0, (struct pug_quirks){0},
                   "0 ASYNC 11 VERSION 13 D4 14 BAD_SEQUENCE[ASYNC] 17 NOTSYNC ");
    struct pug_quirks quirks = {.stm_stale_error_type = 1, .bad_software_packet_fatal = 1};
    assert_packets(stream, 0, quirks,
                   "0 ASYNC 11 VERSION 13 D4 14 BAD_SEQUENCE[D4] 17 D8 18 NULL ");
}

/** Nibbles that a packet used count for the ASYNC after it: it is found even so. */
static void async_in_a_payload(void **state)
{
    (void)state;
    assert_packets(STM_SYNC "7 FFFFFFFFFFFFFFFF FFFFF0 C 1", 0, (struct pug_quirks){0},
                   "0 ASYNC 11 VERSION 13 D64 21 ASYNC 24 D4 25 NULL ");
    assert_packets(STM_SYNC "B FFFFFFFFFFFFFFFF F FFFF0 C 1", 0, (struct pug_quirks){0},
                   "0 ASYNC 11 VERSION 13 BAD_SEQUENCE[D64M] 13 ASYNC 24 D4 25 NULL ");
}

static void resets(void **state)
{
    (void)state;
    struct stream_run run = {.resets = 1};
    stm_assert_lines(STM_SYNC "1 22 C 1 0", run,
                     (const char *const[]){
                         "0 NO_SYNC( [init-decoder])",
                         "14 SWTRACE( (Ma:0x22; Ch:0x00) 0x1; )",
                         "15 EO_TRACE( [end-of-trace])",
                         "0 NO_SYNC( [reset-decoder])",
                         "14 SWTRACE( (Ma:0x22; Ch:0x00) 0x1; )",
                         "15 EO_TRACE( [end-of-trace])",
                         NULL,
                     });
}

static void configuration(void **state)
{
    (void)state;
    const struct pug_protocol *stm = pug_protocol_find("STM");
    void *config;
    /* Only the trace id is needed. */
    const struct pug_setting id = {.name = "src_id", .value = 5};
    assert_int_equal(
        stm->config_new(&(struct pug_settings){.items = &id, .count = 1}, NULL, &config), PUG_OK);
    assert_int_equal(stm->trace_id(config), 5);
    stm->config_free(config);
    const struct pug_setting items[] = {{.name = "STMTCSR", .value = 0x0030000f},
                                        {.name = "STMFEAT1R", .value = 0x80000},
                                        {.name = "STMHEMASTR", .value = 0x80},
                                        {.name = "STMDEVID", .value = 0x3f},
                                        {.name = "hw_event", .value = 2}};
    assert_int_equal(
        stm->config_new(&(struct pug_settings){.items = items, .count = 5}, NULL, &config), PUG_OK);
    assert_int_equal(stm->trace_id(config), 0x30);
    char text[256];
    stm->config_text(config, text, sizeof(text));
    assert_string_equal(text, "STMTCSR=0x0030000f: trace id 0x30\n"
                              "masters 0 to 0x3f, channels 0 to 0xffff\n"
                              "hardware events on master 0x80\n");
    stm->config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_packets),
        cmocka_unit_test(index_of_a_high_nibble),
        cmocka_unit_test(half_used_bytes),
        cmocka_unit_test(half_used_byte_of_a_wait),
        cmocka_unit_test(counting_while_unsynced),
        cmocka_unit_test(name_of_a_broken_async),
        cmocka_unit_test(async_in_a_payload),
        cmocka_unit_test(resets),
        cmocka_unit_test(configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
