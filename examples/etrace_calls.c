// SPDX-License-Identifier: MIT
/**
 * @file etrace_calls PARAMS PROGRAM TRACE: the calls that a RISC-V hart made, from its E-Trace.
 *
 * PARAMS is a file of the encoder's parameters, NAME = VALUE a line; PROGRAM an ELF file.
 *
 * Build against an installed library: cc etrace_calls.c $(pkg-config --cflags --libs pugmark)
 */
#include "pugmark/advanced/image.h"
#include "pugmark/advanced/params.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/element.h"
#include "pugmark/status.h"

#include <pugmark/pugmark.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_call(void *context, const struct pug_call_event *event)
{
    const struct pug_function *function = &event->frame->function;
    (void)context;
    if (event->kind == PUG_CALL_GAP) {
        printf("%*s(%s)\n", (int)(2 * event->depth), "",
               pug_call_gap_name((enum pug_call_gap)event->gap));
        return;
    }
    if (event->kind == PUG_CALL_LEAVE)
        return;
    printf("%*s", (int)(2 * event->depth), "");
    if (event->frame->in_exception)
        printf("(exception %u) ", event->frame->exception);
    if (function->name)
        printf("%s\n", function->name);
    else
        printf("0x%" PRIx64 "\n", function->start);
}

static enum pug_response follow(void *context, const struct pug_element *elements, size_t count,
                                size_t *taken)
{
    (void)taken;
    return pug_calls_take(context, 0, elements, count) == PUG_OK ? PUG_RESP_CONT
                                                                 : PUG_RESP_FATAL_SYS_ERR;
}

/** The whole trace, in one block. */
static enum pug_response feed(struct pug_tree *tree, FILE *file)
{
    uint8_t *bytes = NULL;
    size_t size = 0, got = 1;
    while (got > 0) {
        uint8_t *grown = realloc(bytes, size + 65536);
        if (!grown) {
            free(bytes);
            return PUG_RESP_FATAL_SYS_ERR;
        }
        bytes = grown;
        got = fread(bytes + size, 1, 65536, file);
        size += got;
    }
    uint64_t at = 0;
    enum pug_response response = pug_tree_feed(tree, bytes, &at, size);
    if (PUG_RESP_IS_CONT(response))
        response = pug_tree_end(tree);
    free(bytes);
    return response;
}

/** An image of the program, and a tree for a stream of its E-Trace packets. */
static enum pug_status prepare(char **argv, struct pug_image *image, struct pug_tree **tree)
{
    struct pug_params *params = NULL;
    enum pug_status status = pug_image_add_elf(image, NULL, argv[2], 0);
    if (status == PUG_OK)
        status = pug_params_load(argv[1], NULL, &params);
    if (status == PUG_OK)
        status = pug_tree_new(&(struct pug_tree_config){.image = image}, tree);
    if (status == PUG_OK)
        status = pug_tree_add_source(
            *tree,
            &(struct pug_source_config){
                .protocol = "E-Trace", .settings = *pug_params_settings(params), .decode = true},
            NULL);
    pug_params_free(params);
    return status;
}

int main(int argc, char **argv)
{
    FILE *trace = argc == 4 ? fopen(argv[3], "rb") : NULL;
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = NULL;
    struct pug_calls *calls = NULL;
    if (!trace || !image) {
        fprintf(stderr, "usage: etrace_calls PARAMS PROGRAM TRACE\n");
        pug_image_free(image);
        return EXIT_FAILURE;
    }
    enum pug_status status = prepare(argv, image, &tree);
    if (status == PUG_OK)
        status =
            pug_calls_new(&(struct pug_calls_config){.image = image, .event = print_call}, &calls);
    enum pug_response response = PUG_RESP_FATAL_NOT_INIT;
    if (status == PUG_OK) {
        pug_tree_on_elements(tree, follow, calls);
        response = feed(tree, trace);
        pug_calls_end(calls);
    } else {
        fprintf(stderr, "%s. %s\n", pug_status_text(status), pug_status_help(status));
    }
    pug_calls_free(calls);
    pug_tree_free(tree);
    pug_image_free(image);
    fclose(trace);
    return PUG_RESP_IS_CONT(response) ? EXIT_SUCCESS : EXIT_FAILURE;
}
