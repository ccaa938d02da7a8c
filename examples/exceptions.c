// SPDX-License-Identifier: MIT
/**
 * @file exceptions INPUT: each exception of a capture, with the source line that it returns to.
 *
 * Build against an installed library: cc exceptions.c $(pkg-config --cflags --libs pugmark)
 */
#include "pugmark/capture.h"
#include "pugmark/element.h"
#include "pugmark/names.h"
#include "pugmark/status.h"

#include <pugmark/pugmark.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct search {
    struct pug_capture *capture;
    struct pug_names *names; /* functions and lines, read when they are needed */
};

static bool take(void *context, const struct pug_origin *origin, const struct pug_element *elements,
                 size_t count)
{
    struct search *search = context;
    struct pug_names_line line;
    for (size_t i = 0; i < count; i++) {
        if (elements[i].type != PUG_ELEM_EXCEPTION)
            continue;
        printf("exception %" PRIu32 ", returns to 0x%" PRIx64, elements[i].number, elements[i].end);
        if (pug_capture_line(search->capture, origin, elements[i].end, search->names, &line, NULL))
            printf(", %s:%" PRIu32, line.path, line.line);
        printf("\n");
    }
    return true;
}

int main(int argc, char **argv)
{
    struct search search = {.names = pug_names_new(NULL)};
    enum pug_status status = PUG_ERR_INVALID_PARAM_VAL;
    if (argc == 2)
        status = pug_capture_open(argv[1], NULL, &search.capture);
    if (status == PUG_OK)
        status = pug_capture_elements(search.capture, take, &search);
    if (status != PUG_OK)
        fprintf(stderr, "usage: exceptions INPUT\n%s. %s\n", pug_status_text(status),
                pug_status_help(status));
    pug_capture_free(search.capture);
    pug_names_free(search.names);
    return status == PUG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
