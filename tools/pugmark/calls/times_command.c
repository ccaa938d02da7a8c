// SPDX-License-Identifier: MIT
#include "times_command.h"

#include "common/command.h"
#include "common/output.h"
#include "common/suggest.h"
#include "files/outfile.h"
#include "threads/kernel_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int save(const char *path, const struct pug_memory *text)
{
    errno = 0;
    const enum pug_status status =
        text->failed ? PUG_ERR_MEM : pug_outfile_save_any(path, text->bytes, text->count);
    if (status == PUG_OK)
        return EXIT_DONE;
    message_say("pugmark: %s: %s\n", path, errno ? strerror(errno) : pug_status_text(status));
    return EXIT_INPUT;
}

static int put(const struct times *times, struct pug_names *names, const char *operand,
               const struct times_options *options)
{
    struct pug_memory text = {0};
    struct pug_sink memory = pug_memory_sink(&text);
    struct pug_sink *sink = options->output ? &memory : output_sink();
    int code = EXIT_DONE;
    if (!options->histogram) {
        times_put(times, names, options->form, options->callers, options->rows, sink);
    } else if (!times_put_histogram(times, names, options->histogram, options->form, sink)) {
        struct suggestion near;
        suggest_begin(&near, options->histogram);
        for (uint32_t n = 0; n < times->function_count; n++)
            if (times->functions[n].name)
                suggest_offer(&near, times->functions[n].name);
        message_say("pugmark: %s: no whole call of a function '%s' is in it%s\n", operand,
                    options->histogram, near.question);
        code = EXIT_USAGE;
    }
    if (options->output && code == EXIT_DONE)
        code = save(options->output, &text);
    free(text.bytes);
    const int written = output_end();
    return written ? written : code;
}

int times_print(const struct input_options *input_options, const struct capture_options *capture,
                const char *operand, const struct times_options *options)
{
    const struct times_wanted wanted = {.histogram = options->histogram, .rtos = capture->rtos};
    struct input_options opening = *input_options;
    struct input input;
    struct times *times = NULL;
    opening.threads_later = true;
    if (!input_open(&input, &opening, operand))
        return input.failure;
    struct pug_names *names = capture_names(input_options, capture);
    int code = !names ? EXIT_FATAL
               : !kernel_choice(&input, names, capture->rtos)
                   ? EXIT_USAGE
                   : times_of(&input, names, &wanted, &times);
    if (times && times->function_count == 0) {
        message_say("pugmark: %s: no function ran in it: there is no program flow\n", operand);
        code = code == EXIT_DONE ? EXIT_TRACE_ERRORS : code;
    }
    if (times && code != EXIT_FATAL) {
        const int written = put(times, names, operand, options);
        code = written ? written : code;
    }
    times_free(times);
    capture_names_end(names);
    input_close(&input);
    return code;
}
