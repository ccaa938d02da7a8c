// SPDX-License-Identifier: MIT
/**
 * @file Any bytes through any protocol, transport and block size: nothing may crash, hang, leak, or
 * deliver an element twice.
 *
 * Of the target's bytes of an input (inputs.h) the first is the block size, the second how the
 * consumer waits.
 */
#include "driver.h"
#include "feed.h"
#include "inputs.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"
#include "recorder/bytes.h"

struct consumer {
    unsigned wait_once_in;
    struct rec_random random;
    uint64_t elements;
};

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct consumer *consumer = context;
    char text[512];
    for (size_t i = 0; i < count; i++) {
        consumer->elements++;
        if ((consumer->elements & 63) == 0)
            pug_element_text(&elements[i], text, sizeof(text));
        if (consumer->wait_once_in &&
            rec_random_once_in(&consumer->random, consumer->wait_once_in)) {
            *taken = i + 1;
            return PUG_RESP_WAIT;
        }
    }
    return PUG_RESP_CONT;
}

static void monitor(void *context, enum pug_op op, const struct pug_packet *packet)
{
    const struct pug_protocol *protocol = context;
    char text[512];
    if (op == PUG_OP_DATA && protocol->packet_text)
        protocol->packet_text(packet->data, text, sizeof(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pug_image *image;
    if (!image)
        image = fuzz_image(true);
    if (size < FUZZ_HEADER || !image)
        return 0;
    const struct pug_protocol *protocol = fuzz_protocol(data);
    struct pug_setting items[FUZZ_SETTINGS];
    struct pug_settings settings = {.items = items, .count = fuzz_settings(data, items)};
    struct pug_tree_config config = {.transport = fuzz_transport(data)->name,
                                     .settings = settings,
                                     .image = image,
                                     .code_limit = 1 << 20};
    if (data[3] & 0x80)
        config.quirks = pug_quirks_reference();
    struct pug_tree *tree;
    if (pug_tree_new(&config, &tree) != PUG_OK)
        return 0;
    struct pug_source *source;
    struct pug_source_config described = {.protocol = protocol->name,
                                          .settings = settings,
                                          .decode = true,
                                          .options = {.data_elements = true}};
    if (pug_tree_add_source(tree, &described, &source) == PUG_OK) {
        struct consumer consumer = {.wait_once_in = data[3] & 0x3f, .random = {data[3] + 1u}};
        pug_tree_on_elements(tree, take, &consumer);
        if (data[3] & 0x40)
            pug_source_monitor(source, monitor, (void *)(uintptr_t)protocol);
        /* Some transports want whole words. */
        size_t block = data[2] ? (size_t)data[2] * 16 : 1;
        fuzz_feed(tree, data + FUZZ_HEADER, size - FUZZ_HEADER, block);
    }
    pug_tree_free(tree);
    return 0;
}
