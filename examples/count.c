// SPDX-License-Identifier: MIT
/**
 * @file count INPUT: how many elements of each type a capture has, and how many instructions ran.
 *
 * Build against an installed library: cc count.c $(pkg-config --cflags --libs pugmark)
 */
#include "pugmark/capture.h"
#include "pugmark/element.h"
#include "pugmark/log.h"
#include "pugmark/status.h"

#include <pugmark/pugmark.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TYPES 64

struct totals {
    uint64_t of_type[TYPES], instructions;
};

static bool take(void *context, const struct pug_origin *origin, const struct pug_element *elements,
                 size_t count)
{
    struct totals *totals = context;
    (void)origin; /* which buffer, source and thread these elements are of */
    for (size_t i = 0; i < count; i++) {
        if (elements[i].type < TYPES)
            totals->of_type[elements[i].type]++;
        if (elements[i].type == PUG_ELEM_INSTR_RANGE)
            totals->instructions += elements[i].count;
    }
    return true; /* more, please */
}

static void print(const struct totals *totals)
{
    for (int type = 0; type < TYPES; type++)
        if (totals->of_type[type] > 0)
            printf("%10" PRIu64 "  %s\n", totals->of_type[type],
                   pug_element_type_name((enum pug_element_type)type));
    printf("%10" PRIu64 "  instructions\n", totals->instructions);
}

int main(int argc, char **argv)
{
    struct totals totals = {.instructions = 0};
    struct pug_capture *capture = NULL;
    struct pug_log *log = pug_log_new(PUG_SEV_WARN);
    if (log)
        pug_log_set_file(log, stderr); /* says what is wrong, and where */
    enum pug_status status = PUG_ERR_INVALID_PARAM_VAL;
    if (argc == 2)
        status = pug_capture_open(argv[1], &(struct pug_capture_options){.log = log}, &capture);
    if (status == PUG_OK)
        status = pug_capture_elements(capture, take, &totals);
    if (status != PUG_OK)
        fprintf(stderr, "usage: count INPUT\n%s. %s\n", pug_status_text(status),
                pug_status_help(status));
    else
        print(&totals);
    pug_capture_free(capture);
    pug_log_free(log);
    return status == PUG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
