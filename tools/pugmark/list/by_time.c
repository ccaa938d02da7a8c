// SPDX-License-Identifier: MIT
#include "by_time.h"
#include "common/messages.h"

#include "base/text.h"
#include "common/command.h"
#include "common/output.h"
#include "common/progress.h"

#include <inttypes.h>
#include <stdio.h>

/** The exit code: how decoding ended, and what was logged meanwhile. */
static int result_of(struct input *input, enum pug_status status)
{
    if (status == PUG_ERR_NO_SOURCE || status == PUG_ERR_MEM)
        message_say("pugmark: %s: %s\n", pug_capture_path(input->capture),
                    status == PUG_ERR_MEM ? pug_status_text(status)
                                          : "none of its sources can be decoded");
    if (status == PUG_ERR_DECODING_STOPPED)
        return EXIT_FATAL;
    return status == PUG_OK ? input_result(input) : EXIT_INPUT;
}

int by_time_run(struct input *input, struct pug_correlate *correlate)
{
    struct progress progress =
        progress_begin(input_bytes(input), input->options->quiet, output_wanted);
    const struct pug_correlate_choice choice = {
        .sources = input->lists.sources,
        .source_count = input->options->sources.count,
        .log = input->log,
        .selection = input_selects(input) ? &input->lists.selection : NULL,
        .progress = progress_show,
        .progress_context = &progress};
    enum pug_status status = pug_correlate_capture(correlate, input->capture, &choice);
    progress_end(&progress);
    return result_of(input, status);
}

#define TOLD 32u /* lines of what is uncertain; the rest is added up */

struct told {
    unsigned lines;
    uint64_t more, elements; /* lines that are not shown, and what they are of */
};

static void tell(const struct input *input, const struct pug_correlate_stream *stream,
                 uint64_t number, const char *what, struct told *told)
{
    const struct pug_capture_buffer *buffer = pug_capture_buffer_at(input->capture, stream->buffer);
    if (number == 0)
        return;
    if (told->lines == TOLD) {
        told->more++;
        told->elements += number;
        return;
    }
    told->lines++;
    message_say("pugmark: source 0x%02x of %s: %" PRIu64 " %s\n", stream->source,
                buffer && buffer->name ? buffer->name : "?", number, what);
}

void by_time_tell(const struct input *input, const struct pug_correlate *correlate)
{
    struct pug_correlate_stream stream;
    struct told told = {.lines = 0};
    size_t own = 0;
    for (size_t n = 0; pug_correlate_stream(correlate, n, &stream) && !input->options->quiet; n++) {
        const uint64_t timeless =
            stream.when[PUG_WHEN_BEFORE] + stream.when[PUG_WHEN_UNKNOWN] - stream.late_times;
        tell(input, &stream, timeless,
             stream.timestamps ? "elements before its first timestamp"
             : stream.own_clock
                 ? "elements and local timestamps alone, which count a clock of its own: when they "
                   "were beside other sources is not known"
             : stream.when[PUG_WHEN_UNKNOWN]
                 ? "elements and no timestamps: when they were is not known"
                 : "elements and no timestamps: they are before the end of "
                   "their stretch",
             &told);
        own += stream.own_clock && stream.timestamps;
        tell(input, &stream, stream.backwards, "timestamps are less than the one before", &told);
        tell(input, &stream, stream.late, "elements are behind later ones of other sources", &told);
    }
    if (own > 1)
        message_say("pugmark: local timestamps of %zu sources count a clock of their own each: how "
                    "their times lie beside each other is not known\n",
                    own);
    if (told.more > 0)
        message_say("pugmark: %" PRIu64 " more of these lines, of %" PRIu64
                    " elements, are not shown\n",
                    told.more, told.elements);
}

void by_time_text(const struct pug_correlated *element, char text[48])
{
    static const char *const marks[] = {"", "", ">", "<", "?"};
    struct pug_text words = PUG_TEXT(text, 48);
    pug_text_put(&words, marks[element->when]);
    if (element->when != PUG_WHEN_UNKNOWN) {
        pug_text_decimal(&words, element->time);
        if (element->cycles) {
            pug_text_put(&words, "+");
            pug_text_decimal(&words, element->cycles);
        }
    }
    (void)pug_text_end(&words);
}
