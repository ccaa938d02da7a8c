// SPDX-License-Identifier: MIT
/**
 * @file Damaged trace of a recorded program, one protocol and instruction set a target: the capture
 * is the one that the program is called after (fuzz_trace_etmv4_a64: etmv4-a64), with its
 * registers, its program, loops and all, and the limits that everybody has.
 *
 * The first byte of an input chooses: bits 0 to 1 how it is decoded (in blocks with a consumer that
 * waits, block by block with each packet in words, on several threads, which must give what one
 * gives, or as the second byte says), the others the size of blocks. Trace follows. If the second
 * byte asks for them, settings that override the capture's come first, "NAME=VALUE,NAME=VALUE" up
 * to a zero byte.
 */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "driver.h"
#include "feed.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/counts.h"
#include "pugmark/advanced/index.h"
#include "pugmark/advanced/jobs.h"
#include "pugmark/pugmark.h"
#include "support/outcome.h"

#include "pugmark/author/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *folder(void)
{
    static const char *const places[] = {"tests/captures", "fuzz/captures"};
    static char path[512];
    char name[64] = "";
    if (*path)
        return path;
    sscanf(program_invocation_short_name, "fuzz_trace_%63s", name);
    for (char *at = name; (at = strchr(at, '_')) != NULL;)
        *at = '-';
    for (size_t i = 0; i < 2 && access(path, F_OK) != 0; i++)
        snprintf(path, sizeof(path), "%s/%s/%s", PUG_SOURCE_DIR, places[i], name);
    return path;
}

/* As commands have them; but a byte may stand for less, so that a run is bounded. */
#define ALL_ELEMENTS                                                                               \
    {                                                                                              \
        .data_elements = true, .join_payloads = true, .expansion = 1 << 16                         \
    }

static struct pug_capture *opened(void)
{
    static struct pug_capture *capture;
    static const struct pug_capture_options options = {.decode = ALL_ELEMENTS};
    if (!capture && pug_capture_open(folder(), &options, &capture) != PUG_OK) {
        fprintf(stderr, "%s cannot be opened\n", folder());
        exit(2);
    }
    return capture;
}

static struct pug_capture *altered; /**< with the input's own settings; or NULL */

/** NULL: the input's settings are none of the protocol's. */
static struct pug_tree *new_tree(bool decode, struct pug_log *log)
{
    struct pug_tree *tree = NULL;
    if (pug_capture_tree(altered ? altered : opened(), 0, decode, log, &tree) != PUG_OK && !altered)
        abort();
    return tree;
}

/* A consumer has seen enough then: a few bytes may stand for very much. */
#define MOST_ELEMENTS (UINT64_C(1) << 19)

/* ---- one thread ---- */

struct consumer {
    unsigned wait_once_in;
    struct rec_random random;
    struct outcome outcome;
    struct pug_dwt dwt;
    char text[512];
};

/** Writes in words what hardware packets of an ITM mean together. */
static void take_meaning(struct consumer *consumer, const struct pug_element *element)
{
    const size_t count =
        element->type == PUG_ELEM_ITMTRACE ? pug_dwt_push(&consumer->dwt, element) : 0;
    for (size_t i = 0; i < count; i++)
        pug_dwt_text(&consumer->dwt.events[i], consumer->text, sizeof(consumer->text));
}

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct consumer *consumer = context;
    *taken = count;
    for (size_t i = 0; i < count; i++) {
        if (consumer->outcome.elements == MOST_ELEMENTS)
            return PUG_RESP_FATAL_SYS_ERR;
        outcome_add(&consumer->outcome, outcome_hash(&elements[i]));
        take_meaning(consumer, &elements[i]);
        if ((consumer->outcome.elements & 1023) == 0)
            pug_element_words(&elements[i], consumer->text, sizeof(consumer->text));
        if (consumer->wait_once_in &&
            rec_random_once_in(&consumer->random, consumer->wait_once_in)) {
            *taken = i + 1;
            return PUG_RESP_WAIT;
        }
    }
    return PUG_RESP_CONT;
}

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    char text[512];
    const struct pug_protocol *protocol = context;
    if (op == PUG_OP_DATA && protocol->packet_text)
        protocol->packet_text(packet->data, text, sizeof(text));
}

static void decode_blocks(uint8_t choice, const uint8_t *bytes, size_t size, bool packets,
                          bool decode)
{
    struct consumer consumer = {.wait_once_in = choice & 4 ? 3 + (choice >> 3) : 0,
                                .random = {choice}};
    struct pug_tree *tree = new_tree(decode, NULL);
    struct pug_source *source;
    if (!tree)
        return;
    pug_dwt_init(&consumer.dwt, choice & 8);
    pug_tree_on_elements(tree, take, &consumer);
    for (size_t n = 0; packets && (source = pug_tree_source_at(tree, n)) != NULL; n++)
        pug_source_monitor(source, on_packet, (void *)(uintptr_t)pug_source_protocol(source));
    fuzz_feed(tree, bytes, size, choice & 4 ? (size_t)16 << (choice >> 5) : size);
    pug_tree_free(tree);
}

/* ---- several threads ---- */

static struct outcome decode_threads(uint8_t choice, const uint8_t *bytes, size_t size,
                                     unsigned threads)
{
    struct consumer consumer = {.wait_once_in = 0};
    pug_dwt_init(&consumer.dwt, true);
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_tree *tree = new_tree(true, log);
    const struct pug_jobs jobs = {
        .threads = threads, .block = 64, .piece = (size_t)256 << (choice >> 6)};
    struct pug_jobs_result result;
    pug_log_set_sink(log, outcome_record, &consumer.outcome);
    if (tree)
        pug_tree_on_elements(tree, take, &consumer);
    if (tree && pug_tree_decode(tree, &jobs, bytes, size, &result) != PUG_OK)
        abort();
    if (consumer.outcome.elements == MOST_ELEMENTS) /* where it stopped is not the same */
        consumer.outcome.records = consumer.outcome.record_hash = 0;
    else if (tree)
        consumer.outcome.at = result.at, consumer.outcome.response = result.response;
    pug_tree_free(tree);
    pug_log_free(log);
    return consumer.outcome;
}

static void compare_threads(uint8_t choice, const uint8_t *bytes, size_t size)
{
    const struct outcome one = decode_threads(choice, bytes, size, 1);
    const struct outcome many = decode_threads(choice, bytes, size, 2 + (choice >> 2) % 3);
    if (outcome_equals(&one, &many))
        return;
    fprintf(stderr, "%s: not what one thread gives\n", folder());
    abort();
}

/* ---- counts and indexes ---- */

static void count(uint8_t choice, const uint8_t *bytes, size_t size)
{
    struct pug_counts *counts = pug_counts_new();
    struct pug_tree *tree = new_tree(true, NULL);
    if (tree) {
        pug_tree_count(tree, counts);
        fuzz_feed(tree, bytes, size, choice & 4 ? (size_t)16 << (choice >> 5) : size);
    }
    pug_tree_free(tree);
    pug_counts_free(counts);
}

static struct pug_index *indexed(uint8_t choice, const uint8_t *bytes, size_t size, unsigned jobs)
{
    struct pug_index *index = NULL;
    struct pug_tree *tree = new_tree(choice & 8, NULL);
    const struct pug_index_options options = {
        .block = PUG_INDEX_BLOCK_MIN, .full = choice & 4, .elements = choice & 8, .jobs = jobs};
    if (tree && pug_index_build(tree, bytes, size, &options, &index) != PUG_OK)
        abort();
    pug_tree_free(tree);
    return index;
}

static void compare_indexes(uint8_t choice, const uint8_t *bytes, size_t size)
{
    struct pug_index *one = indexed(choice, bytes, size, 1);
    struct pug_index *many = indexed(choice, bytes, size, 2 + (choice >> 4) % 3);
    size_t one_size = 0, many_size = 0;
    const void *first = one ? pug_index_bytes(one, &one_size) : "";
    const void *other = many ? pug_index_bytes(many, &many_size) : "";
    if (one_size != many_size || memcmp(first, other, one_size) != 0) {
        fprintf(stderr, "%s: not the index that one thread makes\n", folder());
        abort();
    }
    pug_index_free(one);
    pug_index_free(many);
}

/* ---- other settings ---- */

#define MOST_SETTINGS 16

/** Those that text lists, which is changed for that. */
static size_t parse_settings(char *text, struct pug_setting *items)
{
    char *rest = NULL, *end;
    size_t count = 0;
    for (char *item = strtok_r(text, ",", &rest); item && count < MOST_SETTINGS;
         item = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(item, '=');
        if (!value)
            continue;
        *value++ = 0;
        const uint64_t number = strtoull(value, &end, 0);
        items[count++] = (struct pug_setting){item, number, *end || !*value ? value : NULL};
    }
    return count;
}

/** Open the capture with the settings that data begin with; how long these were. */
static size_t alter(const uint8_t *data, size_t size)
{
    static char text[512]; /* both belong to the capture while it is open */
    static struct pug_setting items[MOST_SETTINGS];
    const size_t most = size < sizeof(text) ? size : sizeof(text) - 1;
    const uint8_t *end = memchr(data, 0, most);
    const size_t length = end ? (size_t)(end - data) : most;
    memcpy(text, data, length);
    text[length] = 0;
    const struct pug_capture_options options = {
        .decode = ALL_ELEMENTS, .settings = {.items = items, .count = parse_settings(text, items)}};
    if (pug_capture_open(folder(), &options, &altered) != PUG_OK)
        altered = NULL;
    return length < size ? length + 1 : length;
}

static void try_altered(uint8_t choice, uint8_t way, const uint8_t *data, size_t size)
{
    const size_t used = alter(data, size);
    const uint8_t *bytes = data + used;
    size -= used;
    switch (way % 5) {
    case 0: decode_blocks(choice, bytes, size, true, true); break;
    case 1: compare_threads(choice, bytes, size); break;
    case 2: count(choice, bytes, size); break;
    case 3: compare_indexes(choice, bytes, size); break;
    default: decode_blocks(choice, bytes, size, true, false);
    }
    pug_capture_free(altered);
    altered = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const uint8_t way = data[0] & 3;
    if (way == 3)
        compare_threads(data[0], data + 1, size - 1);
    else if (way == 2)
        try_altered(data[0], data[1], data + 2, size - 2);
    else
        decode_blocks(data[0], data + 1, size - 1, way == 1, true);
    return 0;
}

/* ---- inputs ---- */

/** What the captures' recorders do not do, by what the captures' names begin with. */
static const char *const more_settings[][2] = {
    {"etmv4", "TRCIDR0=0x28000ea1,TRCCONFIGR=0x18a9f"},
    {"etmv4", "TRCIDR8=64,TRCIDR0=0x2801eea1"},
    {"ete", "TRCIDR8=32,TRCCONFIGR=0x3009f"},
    {"etmv3", "ETMCR=0x1000d00e"},
    {"etmv3", "ETMCR=0x1000140c,ETMIDR=0x4114f250"},
    {"etmv3", "ETMCR=0x1010004c"},
    {"etmv3", "ETMCR=0x1000002,ETMIDR=0x4104f215,ETMCCER=0x204018a2"},
    {"ptm", "ETMCR=0x3000d400,ETMIDR=0x411cf310"},
    {"etrace", "container=esp32,layout=esp32_1"},
    {"etrace", "container=pulp,layout=pulp"},
    {"etrace", "container=raw,layout=esp32_2"},
    {"etrace", "container=smi"},
    {"etrace", "only_data=1"},
    {"etrace", "only_data=1,format_set=mmacas,data_width_p=64,daddress_width_p=64,dtype_width_p=4"},
    {"etrace", "only_data=1,noaddr=1,split=1,lrid_width_p=3"},
    {"etrace", "only_data=1,full_daddress=1,compression=diff,daddr_units=bytes,nodata=1"},
    {"etrace", "implicit_exception=1,implicit_exception_vector=0x1000,zcmt=1,jvt_base=0x2000"},
    {"etrace", "bpred_size_p=4,cache_size_p=4,f0s_width_p=1,call_counter_size_p=3"},
    {"etrace", "bit_stream=1,type_bits=2,timestamp_bytes=4"},
    {"ntrace", "dialect=sifive-pre1,ts=1,ts_width=40"},
    {"ntrace", "btm=btm,all_jumps=1,implicit_return=2"},
    {"ntrace", "btm=htm,zcmt=1,jvt_base=0x1000,align=search,extend_addr_msb=0"},
    {"stm", "STMHEMASTR=0x40,hw_event=1,STMFEAT1R=1"},
    {"itm", "assume_sync=1,DWT_COMP0=0x20000000"},
    {"dwt", "assume_sync=1,DWT_COMP1=0x20000000"},
    {"osd", "ADDR_WIDTH=32,xlen=32"},
    {"osd", "isa=none"},
};

#define MORE (sizeof(more_settings) / sizeof(more_settings[0]))

/** Settings for the capture, now and then none, and a zero byte; how long they are. */
static size_t settings_for(uint8_t *data, struct rec_random *random)
{
    static const char *fitting[MORE];
    static size_t count;
    static bool listed;
    for (size_t n = 0; n < MORE && !listed; n++)
        if (strncmp(strrchr(folder(), '/') + 1, more_settings[n][0], strlen(more_settings[n][0])) ==
            0)
            fitting[count++] = more_settings[n][1];
    listed = true;
    const size_t n = rec_random_below(random, (uint32_t)count + 1);
    const char *text = n < count ? fitting[n] : "";
    memcpy(data, text, strlen(text) + 1);
    return strlen(text) + 1;
}

/** A window of the recorded trace. */
size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    const uint64_t all = pug_capture_segment_at(opened(), 0)->size;
    enum pug_status status;
    uint64_t from = 0;
    size_t most = 256u << rec_random_below(random, 6);
    most = most < room - 1 ? most : room - 1;
    if (all > most && !rec_random_once_in(random, 3))
        from = rec_random_below(random, (uint32_t)(all - most)) & ~UINT64_C(15);
    data[0] = (uint8_t)rec_random(random);
    data[1] = (uint8_t)rec_random(random);
    const size_t head = (data[0] & 3) == 2 ? 2 + settings_for(data + 2, random) : 1;
    most = most < room - head ? most : room - head;
    return head + pug_capture_bytes(opened(), 0, from, data + head, most, &status);
}
