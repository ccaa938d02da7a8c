// SPDX-License-Identifier: MIT
/**
 * @file Open SoC Debug streams against an encoder of its own, written from the description of the
 * packets: captures that begin anywhere in either byte order, lost bytes, modules without a name,
 * addresses of any width; and all fields of an event.
 */
#include "pugmark/advanced/jobs.h"
#include "pugmark/advanced/packet/osd.h"
#include "pugmark/advanced/transport.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"
#include "recorder/bytes.h"
#include "support/outcome.h"
#include "transport/osd_modules.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

/* ---- the encoder ---- */

#define HOST   0x0401u
#define EVENTS 400u

struct event {
    uint32_t time;
    uint64_t npc, pc;
    unsigned flags;
    size_t at, end; /* bytes */
};

struct link {
    struct rec_random random;
    bool little; /* least significant byte first */
    struct rec_bytes bytes;
};

static void put_word(struct link *link, unsigned word)
{
    rec_put(&link->bytes, (uint8_t)(link->little ? word : word >> 8));
    rec_put(&link->bytes, (uint8_t)(link->little ? word >> 8 : word));
}

static void put_packet(struct link *link, unsigned source, unsigned flags, const uint16_t *words,
                       unsigned count)
{
    put_word(link, 3 + count);
    put_word(link, HOST);
    put_word(link, source);
    put_word(link, flags);
    for (unsigned i = 0; i < count; i++)
        put_word(link, words[i]);
}

/** Up to nine words in a packet; all but the last one say that others follow. */
static void put_event(struct link *link, unsigned source, const uint16_t *words, unsigned count)
{
    for (; count > 9; words += 9, count -= 9)
        put_packet(link, source, 0x8400, words, 9);
    put_packet(link, source, 0x8000, words, count);
}

static unsigned put_field(uint16_t *words, unsigned at, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i += 16)
        words[at++] = (uint16_t)(value >> i);
    return at;
}

static void put_core(struct link *link, unsigned source, unsigned width, struct event *event)
{
    uint16_t words[16];
    unsigned at = put_field(words, 0, event->time, 32);
    at = put_field(words, at, event->npc, width);
    at = put_field(words, at, event->pc, width);
    words[at++] = (uint16_t)event->flags;
    event->at = link->bytes.size;
    put_event(link, source, words, at);
    event->end = link->bytes.size;
}

static void put_software(struct link *link, unsigned source, unsigned width, uint32_t time,
                         uint16_t id, uint64_t value)
{
    uint16_t words[16];
    unsigned at = put_field(words, 0, time, 32);
    words[at++] = id;
    put_event(link, source, words, put_field(words, at, value, width));
}

static struct event events[EVENTS];

/** Jumps of a core, as a program makes them. */
static void fill(struct link *link, unsigned width)
{
    uint64_t mask = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
    for (unsigned i = 0; i < EVENTS; i++) {
        struct event *event = &events[i];
        *event = (struct event){
            .time = 1000 * i + rec_random_below(&link->random, 1000),
            .pc =
                (UINT64_C(0xffffffff80000000) + 2 * rec_random_below(&link->random, 50000)) & mask,
            .npc =
                (UINT64_C(0xffffffff80000000) + 2 * rec_random_below(&link->random, 50000)) & mask,
            .flags = 3 | 4u << rec_random_below(&link->random, 2)};
        put_core(link, 1, width, event);
    }
}

/* ---- the reader ---- */

struct got {
    size_t count;
    struct pug_osd_packet packets[2 * EVENTS];
    uint64_t index[2 * EVENTS];
    uint32_t raw_size[2 * EVENTS];
    uint8_t raw[2 * EVENTS][64];
};

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct got *got = context;
    const struct pug_osd_packet *osd = packet ? packet->data : NULL;
    if (op != PUG_OP_DATA || !osd || osd->kind != PUG_OSD_KIND_EVENT)
        return;
    assert_true(got->count < 2 * EVENTS && packet->raw_size <= 64);
    got->packets[got->count] = *osd;
    got->index[got->count] = packet->index;
    got->raw_size[got->count] = packet->raw_size;
    memcpy(got->raw[got->count++], packet->raw, packet->raw_size);
}

static void read_core(const uint8_t *bytes, size_t size, uint32_t piece, struct got *got)
{
    const struct pug_setting id = {.name = "src_id", .value = 1};
    struct rec_random random = {piece};
    struct pug_tree *tree;
    struct pug_source *source;
    got->count = 0;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "osd"}, &tree), PUG_OK);
    struct pug_source_config config = {.protocol = "OSD-CTM", .settings = {&id, 1, NULL}};
    assert_int_equal(pug_tree_add_source(tree, &config, &source), PUG_OK);
    pug_source_monitor(source, on_packet, got);
    for (size_t at = 0, used; at < size; at += used) {
        size_t part = piece ? 1 + rec_random_below(&random, piece) : size;
        pug_tree_data(tree, at, bytes + at, part < size - at ? part : size - at, &used);
        assert_true(used > 0);
    }
    pug_tree_end(tree);
    pug_tree_free(tree);
}

static void read_any(const uint8_t *bytes, size_t size, struct got *got)
{
    static struct got other;
    static const uint32_t pieces[] = {1, 5, 100};
    read_core(bytes, size, 0, got);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        read_core(bytes, size, pieces[i], &other);
        assert_int_equal(other.count, got->count);
        for (size_t n = 0; n < got->count; n++) {
            assert_int_equal(other.index[n], got->index[n]);
            assert_int_equal(other.packets[n].pc, got->packets[n].pc);
        }
    }
}

static bool same(const struct event *event, const struct pug_osd_packet *packet)
{
    return packet->timestamp == event->time && packet->npc == event->npc &&
           packet->pc == event->pc && packet->mode == (event->flags & 3) &&
           packet->ret == (event->flags >> 2 & 1) && packet->call == (event->flags >> 3 & 1);
}

/** All events from `from` on came, and came last. */
static void assert_tail(const struct got *got, size_t from, const char *what, size_t number)
{
    size_t count = EVENTS - from;
    if (got->count < count)
        fail_msg("%s %zu: %zu of %zu events", what, number, got->count, count);
    for (size_t i = 0; i < count; i++)
        if (!same(&events[from + i], &got->packets[got->count - count + i]))
            fail_msg("%s %zu: event %zu is another", what, number, from + i);
}

static size_t first_behind(size_t at)
{
    size_t n = 0;
    while (n < EVENTS && events[n].at < at)
        n++;
    return n;
}

static const unsigned widths[] = {16, 32, 48, 64};

/** All that events say, of any width of address; their bytes are those of all their pieces. */
static void test_widths(void **state)
{
    static struct got got;
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        struct link link = {.random = {i}, .little = i >= 4};
        fill(&link, widths[i % 4]);
        read_any(link.bytes.data, link.bytes.size, &got);
        assert_int_equal(got.count, EVENTS);
        assert_tail(&got, 0, "width", widths[i % 4]);
        for (size_t n = 0; n < EVENTS; n++) {
            assert_int_equal(got.packets[n].width, widths[i % 4]);
            assert_int_equal(got.index[n], events[n].at);
            assert_int_equal(got.raw_size[n], events[n].end - events[n].at);
            if (!link.little)
                assert_memory_equal(got.raw[n], link.bytes.data + events[n].at, got.raw_size[n]);
        }
        rec_bytes_free(&link.bytes);
    }
}

/** Wherever a capture begins, at most the datagrams that it cuts are missing, and one more. */
static void test_cuts(void **state)
{
    static struct got got;
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        struct link link = {.random = {100 + i}, .little = i >= 4};
        fill(&link, widths[i % 4]);
        for (size_t cut = 0; cut < 120; cut++) {
            read_any(link.bytes.data + cut, link.bytes.size - cut, &got);
            assert_tail(&got, first_behind(cut), "cut", cut);
        }
        rec_bytes_free(&link.bytes);
    }
}

/**
 * Behind lost bytes, or ones too many, the datagram is found that follows the one that they cut.
 */
static void test_lost_bytes(void **state)
{
    static struct got got;
    (void)state;
    for (unsigned i = 0; i < 80; i++) {
        struct link link = {.random = {200 + i}, .little = i % 2};
        fill(&link, widths[i / 2 % 4]);
        size_t at = 200 + rec_random_below(&link.random, 2000);
        size_t lost = 1 + rec_random_below(&link.random, 5);
        memmove(link.bytes.data + at, link.bytes.data + at + lost, link.bytes.size - at - lost);
        read_any(link.bytes.data, link.bytes.size - lost, &got);
        assert_tail(&got, first_behind(at + lost) + 2, "loss", i);
        rec_bytes_free(&link.bytes);
    }
}

/** The log's reports of damage, and the transport's of the bytes. */
struct doubts {
    size_t losses, in_doubt;
    unsigned long long at;
};

static void on_log(void *context, const struct pug_log_record *record)
{
    static const char doubt[] = "the packet before them, at ";
    struct doubts *doubts = context;
    const char *found = strstr(record->text, doubt);
    doubts->losses += strncmp(record->text, "framing lost", 12) == 0;
    doubts->in_doubt += found != NULL;
    if (found)
        doubts->at = strtoull(found + sizeof(doubt) - 1, NULL, 10);
}

/**
 * A packet whose last bytes differ, and after it bytes that are not a packet: nothing in it shows
 * the damage, so it is delivered, and reported as doubtful. Every byte is counted once.
 */
static void test_damaged_tail(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        struct link link = {.random = {300 + i}, .little = i % 2};
        struct pug_log *log = pug_log_new(PUG_SEV_INFO);
        struct doubts doubts = {0};
        struct pug_tree *tree;
        size_t used;
        fill(&link, 32);
        const struct event *event = &events[20 + rec_random_below(&link.random, EVENTS - 40)];
        const size_t from = event->end - 1 - rec_random_below(&link.random, 8);
        memset(link.bytes.data + from, 0, event->end - from + 30);
        const size_t size = i % 4 < 2 ? link.bytes.size : event->end + 30;
        pug_log_set_sink(log, on_log, &doubts);
        const struct pug_tree_config config = {.transport = "osd", .log = log};
        assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
        pug_tree_data(tree, 0, link.bytes.data, size, &used);
        pug_tree_end(tree);
        assert_int_equal(doubts.losses, 1);
        assert_int_equal(doubts.in_doubt, 1);
        assert_int_equal(doubts.at, event->at);
        const struct pug_transport_stats *stats = pug_tree_transport_stats(tree);
        assert_int_equal(stats->no_decoder + stats->skipped + stats->dropped, size);
        pug_tree_free(tree);
        pug_log_free(log);
        rec_bytes_free(&link.bytes);
    }
}

/* ---- modules ---- */

static enum pug_response note_run(void *context, const struct pug_run *run)
{
    pug_osd_modules_note(context, run);
    return PUG_RESP_CONT;
}

static void on_run(void *context, const struct pug_run *run)
{
    note_run(context, run);
}

static void put_overflow(struct link *link, unsigned source, uint16_t missed)
{
    put_packet(link, source, 0x9400, &missed, 1);
}

/** Modules are known by what they send; small values do not make a software trace a core's. */
static void test_modules(void **state)
{
    struct link link = {.random = {7}};
    struct pug_tree *tree;
    size_t used;
    (void)state;
    for (unsigned i = 0; i < 50; i++) {
        for (unsigned n = 0; n < 4; n++) { /* cores 1 to 4 */
            struct event event = {
                .time = 10 * i, .pc = 2 * i + 0x1000, .npc = 0x2000, .flags = i == 0 ? 0x13 : 7};
            put_core(&link, 1 + n, widths[n], &event);
        }
        static const unsigned values[] = {16, 32, 64};
        for (unsigned n = 0; n < 3; n++) { /* software 5 to 7, with small values; 8 to 10, any */
            put_software(&link, 5 + n, values[n], 10 * i, 4, 'a' + i % 26);
            put_software(&link, 8 + n, values[n], 10 * i, (uint16_t)rec_random(&link.random),
                         rec_random(&link.random));
        }
        const uint16_t character = 'x';
        put_packet(&link, 11, 0x8000, &character, 1); /* a UART */
        put_overflow(&link, 12, 1);
    }
    static const uint16_t asked[] = {1}, type[] = {5};
    put_word(&link, 4); /* read request of MOD_TYPE, from the host to module 12 */
    put_word(&link, 12);
    put_word(&link, HOST);
    put_word(&link, 0x0000);
    put_word(&link, asked[0]);
    put_packet(&link, 12, 0x2000, type, 1);
    struct pug_osd_modules *modules = pug_osd_modules_new();
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "osd"}, &tree), PUG_OK);
    pug_tree_on_runs(tree, on_run, modules);
    pug_tree_data(tree, 0, link.bytes.data, link.bytes.size, &used);
    pug_tree_end(tree);
    for (uint16_t n = 1; n <= 4; n++)
        assert_int_equal(pug_osd_module(modules, n), PUG_OSD_MODULE_CTM);
    for (uint16_t n = 5; n <= 10; n++)
        assert_int_equal(pug_osd_module(modules, n), PUG_OSD_MODULE_STM);
    assert_int_equal(pug_osd_module(modules, 11), PUG_OSD_MODULE_OTHER);
    assert_int_equal(pug_osd_module(modules, 12), PUG_OSD_MODULE_CTM);
    assert_int_equal(pug_osd_module(modules, 13), PUG_OSD_MODULE_SILENT);
    pug_osd_modules_free(modules);
    pug_tree_free(tree);
    rec_bytes_free(&link.bytes);
}

/** What a module is whose four events are of a core, and what one is that sends small values. */
static void expect_of(const struct pug_osd_expected *expected, unsigned width, unsigned flags,
                      uint64_t npc, enum pug_osd_module core)
{
    struct link link = {.random = {3}};
    struct pug_tree *tree;
    size_t used;
    for (unsigned i = 0; i < 4; i++) {
        struct event event = {.time = 10 * i, .pc = 0x1000 + 2 * i, .npc = npc, .flags = flags};
        put_core(&link, 1, width, &event);
        put_software(&link, 2, 16, 10 * i, 4, 'a' + i);
        put_software(&link, 3, 64, 10 * i, 4, 'a' + i);
    }
    struct pug_osd_modules *modules = pug_osd_modules_new();
    pug_osd_modules_expect(modules, expected);
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "osd"}, &tree), PUG_OK);
    pug_tree_on_runs(tree, on_run, modules);
    pug_tree_data(tree, 0, link.bytes.data, link.bytes.size, &used);
    pug_tree_end(tree);
    assert_int_equal(pug_osd_module(modules, 1), core);
    assert_int_equal(pug_osd_module(modules, 2), PUG_OSD_MODULE_STM);
    assert_int_equal(pug_osd_module(modules, 3), PUG_OSD_MODULE_STM);
    pug_osd_modules_free(modules);
    pug_tree_free(tree);
    rec_bytes_free(&link.bytes);
}

/** Lengths that no software's events have, and what the user says, count for more than flags. */
static void test_expected_modules(void **state)
{
    const struct pug_osd_expected nothing = {.width = 0}, x86 = {.odd = true},
                                  core = {.module = PUG_OSD_MODULE_CTM},
                                  narrow = {.module = PUG_OSD_MODULE_CTM, .width = 16},
                                  wide = {.module = PUG_OSD_MODULE_CTM, .width = 32};
    (void)state;
    for (unsigned width = 48; width <= 64; width += 16) /* 9 and 11 words */
        for (unsigned flags = 0; flags < 32; flags++)
            expect_of(&nothing, width, flags, 0x2001, PUG_OSD_MODULE_CTM);
    expect_of(&nothing, 32, 3, 0x2000, PUG_OSD_MODULE_STM);
    expect_of(&nothing, 32, 7, 0x2001, PUG_OSD_MODULE_STM);
    expect_of(&nothing, 32, 7, 0x2000, PUG_OSD_MODULE_CTM);
    expect_of(&x86, 32, 7, 0x2001, PUG_OSD_MODULE_CTM);
    expect_of(&core, 32, 3, 0x2001, PUG_OSD_MODULE_CTM);
    expect_of(&wide, 32, 3, 0x2001, PUG_OSD_MODULE_CTM);
    expect_of(&narrow, 32, 3, 0x2001, PUG_OSD_MODULE_STM);
    expect_of(&narrow, 16, 1, 0x2001, PUG_OSD_MODULE_CTM);
}

/* ---- registers ---- */

enum { VENDOR = 0x0000, MOD_TYPE = 0x0001, MODULE_WIDTH = 0x0200 };

/** The host reads a register of module 1. */
static void put_request(struct link *link, unsigned number)
{
    put_word(link, 4);
    put_word(link, 1);
    put_word(link, HOST);
    put_word(link, 0x0000);
    put_word(link, number);
}

static void put_answers(struct link *link, uint16_t value, unsigned count)
{
    for (; count > 0; count--)
        put_packet(link, 1, 0x2000, &value, 1);
}

/** Events of 32 bits after the registers, and their effect on module 1. */
static void expect_narrow_core(struct link *link)
{
    const struct pug_setting id = {.name = "src_id", .value = 1};
    struct pug_source_config config = {.protocol = "OSD-CTM", .settings = {&id, 1, NULL}};
    struct pug_osd_modules *modules = pug_osd_modules_new();
    struct pug_source *source;
    struct pug_tree *tree;
    size_t used;
    fill(link, 32);
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "osd"}, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &config, &source), PUG_OK);
    pug_tree_on_runs(tree, on_run, modules);
    pug_tree_data(tree, 0, link->bytes.data, link->bytes.size, &used);
    pug_tree_end(tree);
    assert_int_equal(pug_source_stats(source)->bad_sequences, 0);
    assert_int_equal(pug_osd_module(modules, 1), PUG_OSD_MODULE_CTM);
    pug_osd_modules_free(modules);
    pug_tree_free(tree);
    rec_bytes_free(&link->bytes);
}

/** For requests beyond those that are kept, the answers belong to none, not to later requests. */
static void test_many_requests(void **state)
{
    (void)state;
    for (unsigned many = 1; many < 60; many++) {
        struct link link = {.random = {11}};
        for (unsigned i = 0; i < many; i++)
            put_request(&link, VENDOR);
        put_answers(&link, 64, 1);
        put_request(&link, MODULE_WIDTH);
        put_request(&link, MOD_TYPE);
        put_answers(&link, 64, many - 1);
        put_answers(&link, 32, 1);
        put_answers(&link, PUG_OSD_MODULE_CTM, 1);
        put_request(&link, MOD_TYPE); /* nothing waits any more */
        put_answers(&link, PUG_OSD_MODULE_CTM, 1);
        expect_narrow_core(&link);
    }
}

/** An answer that was lost does not make the next one that of its register. */
static void test_lost_answers(void **state)
{
    struct link link = {.random = {12}};
    (void)state;
    put_request(&link, MODULE_WIDTH);
    put_request(&link, MOD_TYPE);
    put_word(&link, 0xffff);
    put_request(&link, VENDOR);
    put_answers(&link, 64, 1);
    put_request(&link, VENDOR);
    put_answers(&link, 4, 1);
    expect_narrow_core(&link);
}

/* ---- elements ---- */

struct told {
    size_t count;
    struct pug_element elements[64];
};

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct told *told = context;
    (void)taken;
    for (size_t i = 0; i < count; i++)
        if (elements[i].type == PUG_ELEM_I_RANGE_NOPATH || elements[i].type == PUG_ELEM_TRACE_ON)
            told->elements[told->count++] = elements[i];
    return PUG_RESP_CONT;
}

/** The first event, and the first one after a loss, report where the core was and what it did. */
static void test_entries(void **state)
{
    static const unsigned flags[] = {0x1b, 0x07, 0x0b, 0x0f};
    const struct pug_setting id = {.name = "src_id", .value = 1};
    struct link link = {.random = {9}};
    struct told told = {0};
    struct pug_tree *tree;
    size_t used;
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct event event = {
            .time = i, .pc = 0x1000 + 0x100 * i, .npc = 0x8000 + 0x100 * i, .flags = flags[i]};
        if (i > 0)
            put_overflow(&link, 1, (uint16_t)(40 + i));
        put_core(&link, 1, 32, &event);
    }
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "osd"}, &tree), PUG_OK);
    struct pug_source_config config = {
        .protocol = "OSD-CTM", .settings = {&id, 1, NULL}, .decode = true};
    assert_int_equal(pug_tree_add_source(tree, &config, NULL), PUG_OK);
    pug_tree_on_elements(tree, on_elements, &told);
    pug_tree_data(tree, 0, link.bytes.data, link.bytes.size, &used);
    pug_tree_end(tree);
    assert_int_equal(told.count, 8);
    for (unsigned i = 0; i < 4; i++) {
        const struct pug_element *on = &told.elements[2 * i], *entry = on + 1;
        assert_int_equal(on->type, PUG_ELEM_TRACE_ON);
        assert_int_equal(on->number, i > 0 ? 40 + i : 0);
        assert_int_equal(entry->reason, PUG_NOPATH_ENTRY);
        assert_int_equal(entry->start, 0x1000 + 0x100 * i);
        assert_int_equal(entry->value, entry->start);
        assert_int_equal(entry->end, 0x8000 + 0x100 * i);
        assert_int_equal(PUG_JUMP_FLAGS(entry), (flags[i] >> 3 & 1) | (flags[i] >> 1 & 2));
    }
    pug_tree_free(tree);
    rec_bytes_free(&link.bytes);
}

/* ---- modules that sleep, on several threads ---- */

#define ROUNDS 40u /* of EVENTS */
#define TRIES  40u /* until two share: on a busy machine one may do all before the other begins */

static enum pug_response take_elements(void *context, const struct pug_element *elements,
                                       size_t count, size_t *taken)
{
    struct outcome *outcome = context;
    *taken = count;
    for (size_t i = 0; i < count; i++)
        outcome_add(outcome, outcome_hash(&elements[i]));
    return PUG_RESP_CONT;
}

static struct outcome decode_modules(const struct link *link, unsigned threads)
{
    struct outcome outcome = {0};
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "osd", .log = log}, &tree),
                     PUG_OK);
    for (unsigned i = 1; i <= 4; i++) { /* the last one never speaks */
        const struct pug_setting id = {.name = "src_id", .value = i};
        struct pug_source_config config = {
            .protocol = "OSD-CTM", .settings = {&id, 1, NULL}, .decode = true};
        assert_int_equal(pug_tree_add_source(tree, &config, NULL), PUG_OK);
    }
    const struct pug_jobs jobs = {.threads = threads, .block = 256, .piece = 131072};
    struct pug_jobs_result result;
    pug_log_set_sink(log, outcome_record, &outcome);
    pug_tree_on_elements(tree, take_elements, &outcome);
    assert_int_equal(pug_tree_decode(tree, &jobs, link->bytes.data, link->bytes.size, &result),
                     PUG_OK);
    outcome.repeated = result.repeated;
    outcome.response = result.response;
    outcome.at = result.at;
    pug_tree_free(tree);
    pug_log_free(log);
    return outcome;
}

/** What is lost while a module sleeps is reported when it wakes, and only that. */
static void test_sleepers(void **state)
{
    struct link link = {.random = {77}};
    struct event event;
    (void)state;
    for (unsigned i = 0; i < ROUNDS * EVENTS; i++) {
        event = (struct event){.time = i, .npc = 0x1000 + i % 4096, .pc = 0x8000, .flags = 3 | 4};
        put_core(&link, i < EVENTS / 2 ? 3 : i / EVENTS % 8 == 0 ? 2 : 1, 64, &event);
    }
    uint64_t least = link.bytes.size; /* decoded twice by two */
    for (unsigned lost = 0; lost < 3; lost++) {
        if (lost > 0) /* while the one sleeps, then while the other does */
            memset(link.bytes.data + link.bytes.size / ROUNDS * (lost == 1 ? 13 : 16) + 99, 0, 50);
        const struct outcome alone = decode_modules(&link, 1);
        for (unsigned threads = 2; threads <= 4; threads++) {
            const struct outcome together = decode_modules(&link, threads);
            assert_true(outcome_equals(&together, &alone));
            if (threads == 2 && together.repeated < least)
                least = together.repeated;
        }
    }
    for (unsigned i = 0; i < TRIES && least >= link.bytes.size / 5; i++)
        least = decode_modules(&link, 2).repeated;
    assert_true(least < link.bytes.size / 5);
    rec_bytes_free(&link.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widths),           cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_lost_bytes),       cmocka_unit_test(test_modules),
        cmocka_unit_test(test_expected_modules), cmocka_unit_test(test_many_requests),
        cmocka_unit_test(test_lost_answers),     cmocka_unit_test(test_entries),
        cmocka_unit_test(test_damaged_tail),     cmocka_unit_test(test_sleepers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
