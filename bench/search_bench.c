// SPDX-License-Identifier: MIT
/**
 * @file Searching for synchronisation: zeros, 0xff and noise to each protocol's reader, to the
 * wrappings of E-Trace and to the framing of CoreSight, in bytes a second.
 *
 *     search_bench [MEGABYTES [ONLY]]
 *
 * ONLY: what has this in its name, which is kind and reader with a space between.
 */
#include "bench.h"
#include "pugmark/author/protocol.h"

static const char *const kinds[] = {"zeros", "0xff", "noise"};

/* E-Trace comes in one of them. */
static const char *const wrappings[] = {"encapsulation", "smi", "esp32", "pulp", "raw"};

static void fill(struct bench_bytes *bytes, unsigned kind)
{
    uint64_t state = 1;
    memset(bytes->at, kind == 1 ? 0xff : 0, bytes->size);
    for (size_t i = 0; kind == 2 && i < bytes->size; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        bytes->at[i] = (uint8_t)(state >> 56);
    }
}

/** Seconds for all bytes, in blocks as a file is read; what is answered does not matter. */
static double search(const char *transport, const char *protocol, const struct bench_bytes *bytes)
{
    struct pug_tree *tree;
    const struct pug_tree_config config = {.transport = transport};
    bench_good(pug_tree_new(&config, &tree));
    const struct pug_setting settings[] = {{.name = "TRCTRACEIDR", .value = 0x10},
                                           {.name = "ETMTRACEIDR", .value = 0x10},
                                           {.name = "ETMIDR", .value = 0x4114f250},
                                           {.name = "ETMCR", .value = 0},
                                           {.name = "ETMCCER", .value = 0}};
    const struct pug_source_config source = {
        .protocol = protocol,
        .settings = {.items = settings, .count = sizeof(settings) / sizeof(settings[0])},
        .decode = true};
    if (pug_tree_add_source(tree, &source, NULL) != PUG_OK) {
        pug_tree_free(tree);
        return 0;
    }
    const double start = bench_seconds();
    size_t used = 1;
    for (size_t at = 0; at < bytes->size && used > 0; at += used) {
        const size_t left = bytes->size - at, block = (size_t)1 << 20;
        enum pug_response answer =
            pug_tree_data(tree, at, bytes->at + at, left < block ? left : block, &used);
        if (PUG_RESP_IS_FATAL(answer))
            break;
    }
    const double taken = bench_seconds() - start;
    pug_tree_free(tree);
    return taken;
}

struct run {
    const struct bench_bytes *bytes;
    const char *kind, *only;
};

static void measure(const struct run *run, const char *name, const char *transport,
                    const char *protocol)
{
    char whole[64];
    snprintf(whole, sizeof(whole), "%s %s", run->kind, name);
    if (!strstr(whole, run->only))
        return;
    const double taken = search(transport, protocol, run->bytes);
    if (taken > 0)
        printf("%-8s %-13s %7.0f MB/s\n", run->kind, name, (double)run->bytes->size / taken / 1e6);
}

int main(int argc, char **argv)
{
    const struct bench_arguments arguments = bench_begin(argc, argv, "[MEGABYTES [ONLY]]");
    const size_t megabytes = bench_number(&arguments, 1, 16);
    struct bench_bytes bytes = {.at = malloc(megabytes << 20), .size = megabytes << 20};
    const struct pug_protocol *protocol;
    if (!bytes.at)
        return 2;
    for (unsigned kind = 0; kind < 3; kind++) {
        const struct run run = {&bytes, kinds[kind], bench_text(&arguments, 2, "")};
        fill(&bytes, kind);
        for (size_t n = 0; (protocol = pug_protocol_at(n)) != NULL; n++)
            measure(&run, protocol->name, "plain", protocol->name);
        for (size_t n = 0; n < sizeof(wrappings) / sizeof(wrappings[0]); n++)
            measure(&run, wrappings[n], wrappings[n], "E-Trace");
        measure(&run, "frames", "coresight", "ETMV4I");
    }
    free(bytes.at);
    return 0;
}
