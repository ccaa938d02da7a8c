// SPDX-License-Identifier: MIT
/**
 * @file live PROTOCOL PARAMS MEMORY ADDRESS: trace from standard input, as it comes, to the
 * addresses of the instructions that ran.
 *
 * The trace is framed as CoreSight does it. PARAMS is a file of registers, NAME = VALUE a line.
 * Program memory is asked for when it is needed, as a debugger would read it from its target: here
 * from the file MEMORY, which begins at ADDRESS.
 *
 * Build against an installed library: cc live.c $(pkg-config --cflags --libs pugmark)
 */
#include "pugmark/advanced/image.h"
#include "pugmark/advanced/params.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/element.h"
#include "pugmark/status.h"
#include "pugmark/walk.h"

#include <pugmark/pugmark.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 64u /* bytes: what a probe delivers at a time */

/** The target's memory. */
struct target {
    FILE *file;
    uint64_t address;
};

static uint32_t read_target(void *context, uint64_t address, const struct pug_reader_space *space,
                            uint32_t wanted, uint8_t *buffer)
{
    const struct target *target = context;
    (void)space; /* this target has one address space */
    if (address < target->address ||
        fseek(target->file, (long)(address - target->address), SEEK_SET) != 0)
        return 0;
    return (uint32_t)fread(buffer, 1, wanted, target->file);
}

static enum pug_response print_instructions(void *context, const struct pug_element *elements,
                                            size_t count, size_t *taken)
{
    struct pug_walk *walk = context;
    const struct pug_step *step;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        if (pug_walk_begin(walk, &elements[i]) != PUG_OK)
            continue; /* no range of instructions */
        while ((step = pug_walk_next(walk)))
            printf("%" PRIx64 "\n", step->address);
    }
    return PUG_RESP_CONT;
}

/** Block after block, until there are no more. */
static enum pug_response stream(struct pug_tree *tree)
{
    uint8_t bytes[BLOCK];
    uint64_t index = 0;
    size_t kept = 0, used = 0, got;
    enum pug_response response = PUG_RESP_CONT;
    while (PUG_RESP_IS_CONT(response) && (got = fread(bytes + kept, 1, BLOCK - kept, stdin)) > 0) {
        response = pug_tree_data(tree, index, bytes, kept + got, &used);
        kept = kept + got - used; /* less than a frame: it comes again, with what follows */
        memmove(bytes, bytes + used, kept);
        index += used;
    }
    return PUG_RESP_IS_CONT(response) ? pug_tree_end(tree) : response;
}

static enum pug_status make_tree(const char *protocol, const char *params_file,
                                 struct pug_image *image, struct pug_tree **tree)
{
    struct pug_params *params = NULL;
    enum pug_status status = pug_params_load(params_file, NULL, &params);
    if (status == PUG_OK)
        status =
            pug_tree_new(&(struct pug_tree_config){.transport = "coresight", .image = image}, tree);
    if (status == PUG_OK)
        status = pug_tree_add_source(
            *tree,
            &(struct pug_source_config){
                .protocol = protocol, .settings = *pug_params_settings(params), .decode = true},
            NULL);
    pug_params_free(params);
    return status;
}

int main(int argc, char **argv)
{
    struct target target = {.file = argc == 5 ? fopen(argv[3], "rb") : NULL,
                            .address = argc == 5 ? strtoull(argv[4], NULL, 0) : 0};
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = NULL;
    struct pug_walk *walk = NULL;
    if (!target.file || !image) {
        fprintf(stderr, "usage: live PROTOCOL PARAMS MEMORY ADDRESS <TRACE\n");
        pug_image_free(image);
        return EXIT_FAILURE;
    }
    enum pug_status status =
        pug_image_add_callback(image, NULL, 0, UINT64_MAX, read_target, &target);
    if (status == PUG_OK)
        status = make_tree(argv[1], argv[2], image, &tree);
    if (status == PUG_OK)
        status = pug_walk_new(&(struct pug_walk_config){.image = image}, &walk);
    enum pug_response response = PUG_RESP_FATAL_NOT_INIT;
    if (status == PUG_OK) {
        pug_tree_on_elements(tree, print_instructions, walk);
        response = stream(tree);
    } else {
        fprintf(stderr, "%s. %s\n", pug_status_text(status), pug_status_help(status));
    }
    pug_walk_free(walk);
    pug_tree_free(tree);
    pug_image_free(image);
    fclose(target.file);
    return PUG_RESP_IS_CONT(response) ? EXIT_SUCCESS : EXIT_FAILURE;
}
