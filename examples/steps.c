// SPDX-License-Identifier: MIT
/**
 * @file steps INPUT [OFFSET]: the first instructions that ran from an offset of the trace on.
 *
 * Build against an installed library: cc steps.c $(pkg-config --cflags --libs pugmark)
 */
#include <pugmark/pugmark.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 8

static void print(struct pug_cursor *cursor)
{
    const struct pug_cursor_step *step;
    unsigned printed = 0;
    while (printed < MOST && (step = pug_cursor_step(cursor)) != NULL) {
        if (!step->step)
            continue; /* an element that is no instruction, such as an exception */
        printf("%6" PRIu64 "  0x%" PRIx64 "  %u bytes\n", step->element->index, step->step->address,
               step->step->insn.size);
        printed++;
    }
}

int main(int argc, char **argv)
{
    struct pug_capture *capture = NULL;
    struct pug_cursor *cursor = NULL;
    enum pug_status status = PUG_ERR_INVALID_PARAM_VAL;
    if (argc == 2 || argc == 3)
        status = pug_capture_open(argv[1], NULL, &capture);
    if (status == PUG_OK)
        status = pug_capture_cursor(capture, 0, &cursor);
    if (status == PUG_OK && argc == 3)
        status = pug_cursor_seek(cursor, strtoull(argv[2], NULL, 0));
    if (status == PUG_OK) {
        print(cursor);
        status = pug_cursor_status(cursor);
    }
    if (status != PUG_OK)
        fprintf(stderr, "usage: steps INPUT [OFFSET]\n%s. %s\n", pug_status_text(status),
                pug_status_help(status));
    pug_cursor_free(cursor);
    pug_capture_free(capture);
    return status == PUG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
