// SPDX-License-Identifier: MIT
/** @file The reference's packet lister, rebuilt on libpugmark: same options, same listing. */
#include "lister.h"
#include "listing/listing.h"

#include <stdlib.h>
#include <string.h>

#define REFERENCE_VERSION "1.8.0"

static void print_header(struct output *output, int argc, char **argv)
{
    output_print(output,
                 "Trace Packet Lister: CS Decode library testing\n"
                 "-----------------------------------------------\n\n"
                 "** Library Version : " REFERENCE_VERSION "\n\n"
                 "Test Command Line:-\n%s   ",
                 argv[0]);
    for (int i = 1; i < argc; i++)
        output_print(output, "%s  ", argv[i]);
    output_print(output, "\n\n");
}

/** Keep an error's text, for the end of a listing that it ended. */
static void keep_error(struct lister *lister, const struct pug_log_record *record)
{
    struct pug_text text = PUG_TEXT(NULL, 0);
    pug_listing_error(&text, record);
    char *kept = realloc(lister->last_error, text.length + 1);
    if (!kept)
        return;
    lister->last_error = kept;
    text = PUG_TEXT(kept, text.length + 1);
    pug_listing_error(&text, record);
    pug_text_end(&text);
}

/** The reference's lister does not see the demultiplexer's messages. */
static void on_log(void *context, const struct pug_log_record *record)
{
    struct lister *lister = context;
    struct pug_text text;
    if (record->component && strcmp(record->component, "DFMT_CSFRAMES") == 0)
        return;
    if (record->code != PUG_OK)
        keep_error(lister, record);
    do {
        text = output_begin(&lister->output);
        pug_listing_log(&text, record);
        pug_text_tame(text.buffer, text.length < text.size ? text.length : text.size);
    } while (!output_end(&lister->output, &text));
}

/** Reads the variables that the reference takes from its environment. */
static void read_environment(struct options *options)
{
    const char *limit = getenv("OPENCSD_INSTR_RANGE_LIMIT");
    long number = limit ? strtol(limit, NULL, 0) : 0;
    if (number > 0)
        options->decoder.range_limit = (uint32_t)number;
    if (getenv("OPENCSD_ERR_ON_AA64_BAD_OPCODE"))
        options->decoder.check_opcode = true;
}

static int run(struct lister *lister, int argc, char **argv)
{
    print_header(&lister->output, argc, argv);
    if (!options_read(argc, argv, &lister->output, &lister->options))
        return EXIT_BAD_OPTION;
    read_environment(&lister->options);
    lister->log = pug_log_new(PUG_SEV_INFO);
    if (!lister->log)
        return EXIT_FAILURE;
    pug_log_set_sink(lister->log, on_log, lister);
    int code = session_run(lister);
    pug_tree_free(lister->tree);
    pug_image_free(lister->image);
    pug_snapshot_free(lister->snapshot);
    pug_log_free(lister->log);
    free(lister->last_error);
    return code;
}

int main(int argc, char **argv)
{
    struct lister lister = {.log = NULL};
    if (!options_output(argc, argv, &lister.output)) {
        fputs("Bad logger command line options\nProgram Exiting\n", stdout);
        return EXIT_BAD_LOGGER;
    }
    int code = run(&lister, argc, argv);
    bool written = output_close(&lister.output);
    return written || code != EXIT_SUCCESS ? code : EXIT_FAILURE;
}
