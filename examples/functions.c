// SPDX-License-Identifier: MIT
/**
 * @file functions SNAPSHOT: how many instructions each function ran, the most first.
 *
 * Build against an installed library: cc functions.c $(pkg-config --cflags --libs pugmark)
 */
#include "pugmark/advanced/image.h"
#include "pugmark/advanced/snapshot.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/element.h"
#include "pugmark/status.h"
#include "pugmark/walk.h"

#include <pugmark/pugmark.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 65536u /* bytes of trace that are read at a time */

struct function {
    struct pug_symbol symbol; /* name NULL: code without symbols */
    uint64_t instructions;
};

struct counting {
    struct pug_image *image;
    struct pug_walk *walk;
    struct function *functions;
    size_t count, current; /* current: of the last instruction */
    bool failed;
};

static bool is_in(const struct pug_symbol *symbol, uint64_t address)
{
    return address - symbol->start < symbol->size;
}

/** Make the function at an address the current one. */
static void find_function(struct counting *counting, uint64_t address)
{
    struct pug_symbol symbol = {.name = NULL};
    if (counting->current < counting->count &&
        is_in(&counting->functions[counting->current].symbol, address))
        return;
    (void)pug_image_symbol(counting->image, address, &symbol);
    for (counting->current = 0; counting->current < counting->count; counting->current++)
        if (counting->functions[counting->current].symbol.start == symbol.start)
            return;
    struct function *grown =
        realloc(counting->functions, (counting->count + 1) * sizeof(struct function));
    counting->failed |= !grown;
    if (!grown)
        return;
    counting->functions = grown;
    counting->functions[counting->count++] = (struct function){.symbol = symbol};
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct counting *counting = context;
    const struct pug_step *step;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        if (pug_walk_begin(counting->walk, &elements[i]) != PUG_OK)
            continue; /* no range of instructions */
        while ((step = pug_walk_next(counting->walk)) && !counting->failed) {
            find_function(counting, step->address);
            if (!counting->failed)
                counting->functions[counting->current].instructions++;
        }
    }
    return counting->failed ? PUG_RESP_FATAL_SYS_ERR : PUG_RESP_CONT;
}

/** All of a trace buffer through its tree. */
static void feed(struct pug_tree *tree, struct pug_trace *trace)
{
    static uint8_t bytes[BLOCK];
    enum pug_status status = PUG_OK;
    enum pug_response response = PUG_RESP_CONT;
    uint64_t index = 0;
    size_t kept = 0, used = 0, got;
    while (PUG_RESP_IS_CONT(response) &&
           (got = pug_trace_read(trace, bytes + kept, BLOCK - kept, &status)) > 0) {
        response = pug_tree_data(tree, index, bytes, kept + got, &used);
        kept = kept + got - used; /* less than a frame: it comes again, with what follows */
        memmove(bytes, bytes + used, kept);
        index += used;
    }
    if (PUG_RESP_IS_CONT(response))
        (void)pug_tree_end(tree);
}

static void count_buffer(struct counting *counting, const struct pug_snapshot *snapshot,
                         const struct pug_snapshot_buffer *buffer)
{
    const struct pug_snapshot_tree_config config = {.image = counting->image, .decode = true};
    struct pug_tree *tree = NULL;
    struct pug_trace *trace = NULL;
    enum pug_status status = pug_snapshot_tree(snapshot, buffer, &config, &tree);
    if (status == PUG_OK)
        status = pug_trace_open(snapshot, buffer, &trace);
    if (status == PUG_OK) {
        pug_tree_on_elements(tree, on_elements, counting);
        feed(tree, trace);
        pug_trace_close(trace);
    } else {
        fprintf(stderr, "%s: %s. %s\n", buffer->name, pug_status_text(status),
                pug_status_help(status));
    }
    pug_tree_free(tree);
}

static int by_instructions(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    return x->instructions < y->instructions ? 1 : x->instructions > y->instructions ? -1 : 0;
}

static void print(struct counting *counting)
{
    if (counting->count > 0)
        qsort(counting->functions, counting->count, sizeof(struct function), by_instructions);
    for (size_t i = 0; i < counting->count; i++)
        printf("%10" PRIu64 "  %s\n", counting->functions[i].instructions,
               counting->functions[i].symbol.name ? counting->functions[i].symbol.name
                                                  : "[unknown]");
}

int main(int argc, char **argv)
{
    struct pug_snapshot *snapshot = NULL;
    struct counting counting = {.image = pug_image_new()};
    enum pug_status status = PUG_ERR_INVALID_PARAM_VAL;
    const struct pug_snapshot_buffer *buffer;
    if (argc == 2 && counting.image)
        status = pug_walk_new(&(struct pug_walk_config){.image = counting.image}, &counting.walk);
    if (status == PUG_OK)
        status = pug_snapshot_open(argv[1], &(struct pug_snapshot_options){0}, &snapshot);
    if (status != PUG_OK) {
        fprintf(stderr, "usage: functions SNAPSHOT\n%s\n", pug_status_text(status));
        pug_walk_free(counting.walk);
        pug_image_free(counting.image);
        return EXIT_FAILURE;
    }
    for (size_t n = 0; (buffer = pug_snapshot_buffer_at(snapshot, n)) != NULL; n++)
        count_buffer(&counting, snapshot, buffer);
    print(&counting);
    pug_snapshot_free(snapshot);
    pug_walk_free(counting.walk);
    pug_image_free(counting.image);
    free(counting.functions);
    return counting.failed || counting.count == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
