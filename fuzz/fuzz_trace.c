// SPDX-License-Identifier: MIT
/**
 * @file Damaged trace of a recorded program, one protocol and instruction set a target: the capture
 * is the one that FUZZ_CAPTURE names, with its registers, its program, loops and
 * all, and the limits that everybody has.
 *
 * The first byte of an input chooses: bits 0 to 1 how it is decoded (in blocks with a consumer that
 * waits, block by block with each packet in words, or on several threads, which must give what one
 * gives), the others the size of blocks. Trace follows.
 */
#include "driver.h"
#include "feed.h"
#include "pugmark/pugmark.h"
#include "support/outcome.h"

#include "pugmark/author/protocol.h"

#include <stdio.h>
#include <stdlib.h>

#define FOLDER PUG_SOURCE_DIR "/" FUZZ_CAPTURE

static struct pug_capture *opened(void)
{
    static struct pug_capture *capture;
    if (!capture &&
        pug_capture_open(FOLDER, &(struct pug_capture_options){0}, &capture) != PUG_OK) {
        fprintf(stderr, "%s cannot be opened\n", FOLDER);
        exit(2);
    }
    return capture;
}

static struct pug_tree *new_tree(struct pug_log *log)
{
    struct pug_tree *tree = NULL;
    if (pug_capture_tree(opened(), 0, true, log, &tree) != PUG_OK)
        abort();
    return tree;
}

/* ---- one thread ---- */

struct consumer {
    unsigned wait_once_in;
    struct rec_random random;
    struct outcome outcome;
    char text[512];
};

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct consumer *consumer = context;
    *taken = count;
    for (size_t i = 0; i < count; i++) {
        outcome_add(&consumer->outcome, outcome_hash(&elements[i]));
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

static void decode_blocks(uint8_t choice, const uint8_t *bytes, size_t size, bool packets)
{
    struct consumer consumer = {.wait_once_in = choice & 4 ? 3 + (choice >> 3) : 0,
                                .random = {choice}};
    struct pug_tree *tree = new_tree(NULL);
    struct pug_source *source;
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
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_tree *tree = new_tree(log);
    const struct pug_jobs jobs = {
        .threads = threads, .block = 64, .piece = (size_t)256 << (choice >> 6)};
    struct pug_jobs_result result;
    pug_log_set_sink(log, outcome_record, &consumer.outcome);
    pug_tree_on_elements(tree, take, &consumer);
    if (pug_tree_decode(tree, &jobs, bytes, size, &result) != PUG_OK)
        abort();
    consumer.outcome.at = result.at;
    consumer.outcome.response = result.response;
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
    fprintf(stderr, "%s: not what one thread gives\n", FUZZ_CAPTURE);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    if ((data[0] & 3) == 3)
        compare_threads(data[0], data + 1, size - 1);
    else
        decode_blocks(data[0], data + 1, size - 1, data[0] & 1);
    return 0;
}

/** A window of the recorded trace. */
size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    const uint64_t all = pug_capture_stretch_at(opened(), 0)->size;
    enum pug_status status;
    uint64_t from = 0;
    size_t most = 256u << rec_random_below(random, 6);
    most = most < room - 1 ? most : room - 1;
    if (all > most && !rec_random_once_in(random, 3))
        from = rec_random_below(random, (uint32_t)(all - most)) & ~UINT64_C(15);
    data[0] = (uint8_t)rec_random(random);
    return 1 + pug_capture_bytes(opened(), 0, from, data + 1, most, &status);
}
