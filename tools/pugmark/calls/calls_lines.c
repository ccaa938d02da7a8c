// SPDX-License-Identifier: MIT
#include "calls_lines.h"

#include "common/output.h"
#include "pugmark/names.h"

#define COLUMN       12u
#define INDENT_LIMIT 64u /* deeper calls stay in that column */

void calls_put_number(bool known, uint64_t value)
{
    struct pug_sink *sink = output_sink();
    pug_sink_text(sink, " ");
    if (known)
        pug_sink_decimal_right(sink, value, COLUMN);
    else
        pug_sink_blanks(sink, COLUMN);
}

void calls_put_indent(uint32_t depth)
{
    pug_sink_blanks(output_sink(), 2 + 2 * (size_t)(depth < INDENT_LIMIT ? depth : INDENT_LIMIT));
}

/** A name as people write it, where it is one of C++ or Rust. */
static void put_readable(const char *name)
{
    char readable[1024];
    const size_t length = pug_demangle(name, readable, sizeof(readable));
    pug_sink_printable(output_sink(), length > 0 && length < sizeof(readable) ? readable : name);
    pug_sink_text(output_sink(), "()");
}

void calls_put_exception(uint8_t numbers, uint32_t number)
{
    char what[64];
    pug_exception_text((enum pug_exception_numbers)numbers, number, what, sizeof(what));
    output_text("[%s] ", what);
}

void calls_put_function(const char *name, uint64_t function)
{
    struct pug_sink *sink = output_sink();
    if (name) {
        put_readable(name);
        return;
    }
    pug_sink_text(sink, "[");
    pug_sink_hex(sink, function, 1);
    pug_sink_text(sink, "]()");
}

void calls_put_name(const struct pug_call_frame *frame, uint64_t vaddr)
{
    if (frame->in_exception)
        calls_put_exception(frame->exception_numbers, frame->exception);
    calls_put_function(frame->function.name, vaddr);
}
