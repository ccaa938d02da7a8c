// SPDX-License-Identifier: MIT
/**
 * @file Any bytes on several threads, and packet by packet: elements, messages and the answer must
 * be those of one, whose decoders are ahead of what is delivered.
 *
 * Of the target's bytes of an input (inputs.h) the first chooses the sizes of blocks and pieces,
 * the second the number of threads.
 */
#include "driver.h"
#include "inputs.h"
#include "pugmark/advanced/jobs.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"
#include "support/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum pug_response take_elements(void *context, const struct pug_element *elements,
                                       size_t count, size_t *taken)
{
    (void)taken;
    for (size_t i = 0; i < count; i++)
        outcome_add(context, outcome_hash(&elements[i]));
    return PUG_RESP_CONT;
}

/** A source of the protocol and, where there can be more than one, another. */
static bool add_sources(struct pug_tree *tree, const uint8_t *data)
{
    struct pug_setting items[FUZZ_SETTINGS];
    const struct pug_setting other = {.name = "STMTCSR", .value = 0x110005};
    const struct pug_source_config first = {
        .protocol = fuzz_protocol(data)->name,
        .settings = {.items = items, .count = fuzz_settings(data, items)},
        .decode = true,
        .options = {.data_elements = true}};
    const struct pug_source_config second = {
        .protocol = "STM", .settings = {.items = &other, .count = 1}, .decode = true};
    if (pug_tree_add_source(tree, &first, NULL) != PUG_OK)
        return false;
    if (!fuzz_transport(data)->single)
        (void)pug_tree_add_source(tree, &second, NULL);
    return true;
}

static struct outcome decode(const uint8_t *data, size_t size, struct pug_image *image,
                             unsigned threads, bool each_packet)
{
    struct outcome outcome = {0};
    struct pug_setting items[FUZZ_SETTINGS];
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_tree *tree = NULL;
    const struct pug_tree_config config = {
        .transport = fuzz_transport(data)->name,
        .settings = {.items = items, .count = fuzz_settings(data, items)},
        .image = image,
        .log = log,
        .code_limit = 1 << 20};
    if (pug_tree_new(&config, &tree) == PUG_OK && add_sources(tree, data)) {
        const struct pug_jobs jobs = {
            .threads = threads, .block = 16 + data[2] % 64, .piece = 128 + 8 * (data[2] / 64)};
        struct pug_jobs_result result;
        pug_log_set_sink(log, outcome_record, &outcome);
        pug_tree_on_elements(tree, take_elements, &outcome);
        pug_tree_deliver_each_packet(tree, each_packet);
        (void)pug_tree_decode(tree, &jobs, data + FUZZ_HEADER, size - FUZZ_HEADER, &result);
        outcome.at = result.at;
        outcome.response = result.response;
    }
    pug_tree_free(tree);
    pug_log_free(log);
    return outcome;
}

/** An event of Open SoC Debug is as long as its run, and other transports' runs may be cut. */
static bool depends_on_cuts(const uint8_t *data)
{
    return strncmp(fuzz_protocol(data)->name, "OSD", 3) == 0 &&
           strcmp(fuzz_transport(data)->name, "osd") != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pug_image *image;
    if (!image)
        image = fuzz_image(false);
    if (size < FUZZ_HEADER || !image || depends_on_cuts(data))
        return 0;
    const struct outcome one = decode(data, size, image, 1, false);
    const struct outcome many = decode(data, size, image, 2 + data[3] % 3, false);
    const struct outcome each = decode(data, size, image, 1, true);
    const bool same = outcome_equals(&one, &many);
    if (same && outcome_equals(&one, &each))
        return 0;
    fprintf(stderr, "%s in %s: not what %s gives\n", fuzz_protocol(data)->name,
            fuzz_transport(data)->name, same ? "packet by packet" : "one thread");
    abort();
}
