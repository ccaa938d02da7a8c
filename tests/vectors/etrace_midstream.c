// SPDX-License-Identifier: MIT
/**
 * @file Every E-Trace vector, begun in the middle: what comes out is the tail of what the whole
 * stream gives, but for what the decoder itself says is doubtful. A capture that begins after the
 * packet with the options may be misread; then there are errors, and such cuts are few. Exits
 * 0, 1, or 77 if the vectors are not here.
 *
 *     etrace_midstream [OFFSETS [FOLDER [NAME.params [OFFSET]]]]
 */
#include "pugmark/advanced/params.h"
#include "pugmark/advanced/settings.h"
#include "pugmark/advanced/tree.h"
#include "vector_files.h"

#include <dirent.h>
#include <inttypes.h>

#define OFFSETS 4u /* of each stream */

struct pcs {
    const struct pug_image *image;
    bool doubted; /* the log has said it: what came before the flow was lost does not count */
    uint64_t *items;
    size_t count, room;
    unsigned errors; /* logged */
    size_t lost_at;  /* how many there were when the flow was lost last */
};

struct stream {
    const char *name;
    struct pug_params *params;
    struct pug_image *image;
    uint8_t *bytes;
    size_t size;
};

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct pcs *pcs = context;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        if (elements[i].type == PUG_ELEM_NO_SYNC && elements[i].reason == PUG_UNSYNC_BAD_IMAGE)
            pcs->lost_at = pcs->count;
        if (elements[i].type != PUG_ELEM_INSTR_RANGE)
            continue;
        uint64_t pc = elements[i].start;
        for (uint32_t n = 0; n < elements[i].count; n++) {
            if (pcs->count == pcs->room) {
                pcs->room = pcs->room ? 2 * pcs->room : 4096;
                pcs->items = realloc(pcs->items, pcs->room * sizeof(*pcs->items));
            }
            pcs->items[pcs->count++] = pc;
            pc += vector_insn_size(pcs->image, elements[i].source, pc);
        }
    }
    return PUG_RESP_CONT;
}

static void on_log(void *context, const struct pug_log_record *record)
{
    struct pcs *pcs = context;
    pcs->doubted |= strstr(record->text, "doubtful") != NULL;
    pcs->errors += record->severity == PUG_SEV_ERROR;
}

static void decode(const struct stream *stream, size_t from, struct pcs *pcs, bool verbose)
{
    const struct pug_settings *settings = pug_params_settings(stream->params);
    struct pug_log *log = pug_log_new(verbose ? PUG_SEV_INFO : PUG_SEV_WARN);
    struct pug_tree *tree;
    size_t used = 0;
    if (verbose)
        pug_log_set_file(log, stdout);
    pug_log_set_sink(log, on_log, pcs);
    struct pug_tree_config config = {.transport = pug_params_transport(stream->params),
                                     .settings = *settings,
                                     .image = stream->image,
                                     .log = log};
    struct pug_source_config source = {
        .protocol = "E-Trace", .settings = *settings, .decode = true};
    if (pug_tree_new(&config, &tree) != PUG_OK ||
        pug_tree_add_source(tree, &source, NULL) != PUG_OK)
        vector_fatal("no tree", stream->name);
    pcs->image = stream->image;
    pug_tree_on_elements(tree, on_elements, pcs);
    pug_tree_data(tree, from, stream->bytes + from, stream->size - from, &used);
    pug_tree_end(tree);
    pug_tree_free(tree);
    pug_log_free(log);
}

/** Forget the doubtful ones. */
static void forget_doubtful(struct pcs *pcs)
{
    if (!pcs->doubted)
        return;
    pcs->count -= pcs->lost_at;
    memmove(pcs->items, pcs->items + pcs->lost_at, pcs->count * sizeof(*pcs->items));
}

static bool is_tail(const struct pcs *whole, const struct pcs *part)
{
    return part->count <= whole->count &&
           (part->count == 0 || memcmp(whole->items + whole->count - part->count, part->items,
                                       part->count * sizeof(*part->items)) == 0);
}

struct totals {
    unsigned cuts, failed, empty, doubted, said;
};

static void check(const struct stream *stream, const struct pcs *whole, size_t from, bool verbose,
                  struct totals *totals)
{
    struct pcs part = {0};
    decode(stream, from, &part, verbose);
    forget_doubtful(&part);
    totals->cuts++;
    totals->doubted += part.doubted;
    totals->empty += part.count == 0;
    if (!is_tail(whole, &part) && part.errors > 0) {
        totals->said++;
    } else if (!is_tail(whole, &part)) {
        size_t same = 0;
        while (same < part.count && same < whole->count &&
               part.items[part.count - 1 - same] == whole->items[whole->count - 1 - same])
            same++;
        printf("%s from %zu of %zu: %zu of %zu at the end are right\n", stream->name, from,
               stream->size, same, part.count);
        totals->failed++;
    }
    free(part.items);
}

/** Pseudo-random, but the same each time. */
static size_t next_offset(uint64_t *state, size_t size)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 1 + (size_t)(*state >> 33) % (size - 1);
}

/** By the stream's own name and its folder's, wherever that is. */
static uint64_t seed_of(const char *params)
{
    const char *name = strrchr(params, '/'), *from = name;
    uint64_t seed = UINT64_C(0xcbf29ce484222325);
    while (from > params && from[-1] != '/')
        from--;
    for (; *from; from++)
        seed = (seed ^ (unsigned char)*from) * UINT64_C(0x100000001b3);
    return seed;
}

static void run(const char *folder, const char *params, const char *trace, unsigned offsets,
                const char *only, struct totals *totals)
{
    struct stream stream = {.name = params, .image = pug_image_new()};
    struct pcs whole = {0};
    uint64_t state = seed_of(params);
    if (pug_params_load(params, NULL, &stream.params) != PUG_OK)
        vector_fatal("cannot be read", params);
    const struct pug_settings *settings = pug_params_settings(stream.params);
    bool usable = pug_params_sources(stream.params) == 0 && pug_settings_find(settings, "pcs") &&
                  !pug_settings_find(settings, "note") &&
                  !pug_settings_number(settings, "resync_disabled", 0);
    if (usable || pug_settings_find(settings, "address_mode")) {
        stream.bytes = whole_file(trace, &stream.size);
        vector_program(stream.image, folder, -1);
        decode(&stream, 0, &whole, false);
        for (unsigned i = 0; i < offsets && !only; i++)
            check(&stream, &whole, next_offset(&state, stream.size), false, totals);
        if (only)
            check(&stream, &whole, strtoul(only, NULL, 0), true, totals);
    }
    free(whole.items);
    free(stream.bytes);
    pug_params_free(stream.params);
    pug_image_free(stream.image);
}

static void run_folder(const char *folder, unsigned offsets, const char *name, const char *only,
                       struct totals *totals)
{
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char params[1400], trace[1400];
        size_t length = strlen(names[i]->d_name);
        snprintf(params, sizeof(params), "%s/%s", folder, names[i]->d_name);
        if (length > 7 && strcmp(names[i]->d_name + length - 7, ".params") == 0 &&
            (!name || strcmp(name, names[i]->d_name) == 0) &&
            vector_trace_of(params, false, trace, sizeof(trace)))
            run(folder, params, trace, offsets, only, totals);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

int main(int argc, char **argv)
{
    const char *root = PUG_SOURCE_DIR "/../shared/vectors/etrace";
    unsigned offsets = argc > 1 ? (unsigned)atoi(argv[1]) : OFFSETS;
    struct totals totals = {0};
    struct dirent **names;
    int count = scandir(root, &names, NULL, alphasort);
    if (count < 0) {
        printf("skipped: no vectors at %s\n", root);
        return 77;
    }
    for (int i = 0; i < count; i++) {
        char folder[1024];
        snprintf(folder, sizeof(folder), "%s/%s", root, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && (argc < 3 || strcmp(argv[2], names[i]->d_name) == 0))
            run_folder(folder, offsets, argc > 3 ? argv[3] : NULL, argc > 4 ? argv[4] : NULL,
                       &totals);
        free(names[i]);
    }
    free(names);
    printf("%u cuts, %u failed, %u misread with errors, %u doubted, %u without a synchronisation "
           "behind them\n",
           totals.cuts, totals.failed, totals.said, totals.doubted, totals.empty);
    return totals.failed > 0 || totals.cuts == 0 ||
           (totals.said + totals.doubted) * 500 > totals.cuts;
}
