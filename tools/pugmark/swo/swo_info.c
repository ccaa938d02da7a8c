// SPDX-License-Identifier: MIT
#include "swo_info.h"

#include "common/output.h"
#include "common/progress.h"
#include "events/sources.h"
#include "image/thumb.h"
#include "items/parts.h"
#include "swo_doubts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PORTS 256u

/** The content of one source. */
struct content {
    struct pug_interrupts interrupts;
    struct pug_swo_period period;
    uint64_t samples, asleep, denied, accesses, counters, writes, losses, guessed, delayed;
    uint64_t strays; /* samples where the program has no code … */
    uint64_t inside; /* … and in the middle of an instruction */
    bool has_code;
    uint64_t last; /* the last time */
    bool timed;
    uint64_t local, local_first, global_first, local_last, global_last; /* at global timestamps */
    bool anchored;
    bool ports[PORTS];
};

struct printing {
    struct swo_sources sources;
};

static struct content *content_of(struct swo_source *source)
{
    if (!source->user && (source->user = calloc(1, sizeof(struct content))) != NULL) {
        struct content *content = source->user;
        const struct pug_image *image = pug_swo_source_vectors(source)->image;
        struct pug_image_range range;
        pug_interrupts_init(&content->interrupts, NULL, NULL);
        pug_swo_period_init(&content->period);
        content->has_code = image && pug_image_range(image, 0, &range);
    }
    source->all->failed |= !source->user;
    return source->user;
}

/** Has the program an instruction there? */
static bool is_code(struct swo_source *source, uint32_t pc)
{
    const struct pug_reader_space reader = {.space = PUG_SPACE_ANY, .source = source->id};
    uint8_t bytes[2];
    return (pc & 1) == 0 && pug_image_read(pug_swo_source_vectors(source)->image, &reader, pc,
                                           bytes, sizeof(bytes)) == 2;
}

/** Is it behind the begin of an instruction, if the function has nothing but instructions? */
static bool is_inside(struct swo_source *source, uint32_t pc)
{
    const struct pug_reader_space reader = {.space = PUG_SPACE_ANY, .source = source->id};
    const struct pug_image *image = pug_swo_source_vectors(source)->image;
    struct pug_symbol symbol;
    return pug_image_symbol(image, pc, &symbol) &&
           pug_image_thumb_begin(image, &reader, symbol.start, pc) != pc;
}

static void on_event(struct swo_source *source, const struct pug_dwt_event *event)
{
    struct content *content = content_of(source);
    if (!content)
        return;
    pug_interrupts_take(&content->interrupts, event);
    content->samples += event->kind == PUG_DWT_PC_SAMPLE;
    content->asleep += event->kind == PUG_DWT_SLEEPING;
    content->denied += event->kind == PUG_DWT_DENIED;
    content->accesses += event->kind == PUG_DWT_DATA || event->kind == PUG_DWT_MATCH;
    content->counters += event->kind == PUG_DWT_COUNTERS || event->kind == PUG_DWT_PMU;
    content->losses += event->kind == PUG_DWT_LOST;
    content->writes += event->kind == PUG_DWT_STIMULUS;
    if (event->kind == PUG_DWT_STIMULUS)
        content->ports[event->number % PORTS] = true;
    if (event->kind == PUG_DWT_PC_SAMPLE && content->has_code && !is_code(source, event->pc))
        content->strays++;
    else if (event->kind == PUG_DWT_PC_SAMPLE && content->has_code)
        content->inside += is_inside(source, event->pc);
    content->delayed += event->has_time && event->time_kind != PUG_ITM_TS_SYNC;
    if (event->has_time) {
        content->timed = true;
        content->last = event->time;
    }
}

/** How local and global timestamps go together. */
static void take_clocks(struct content *content, const struct pug_element *e)
{
    if (e->reason != PUG_ITM_TS_GLOBAL) {
        content->local = e->timestamp;
        return;
    }
    if (!content->anchored) {
        content->local_first = content->local;
        content->global_first = e->timestamp;
    }
    content->anchored = true;
    content->local_last = content->local;
    content->global_last = e->timestamp;
}

static bool take_item(void *context, const struct trace_item *item)
{
    struct printing *printing = context;
    const struct pug_element *e = &item->element;
    pug_swo_sources_take(&printing->sources, item->where, e);
    for (size_t i = 0; i < printing->sources.count; i++) {
        struct swo_source *source = printing->sources.items[i];
        struct content *content = source->id == e->source && source->buffer == item->where->buffer
                                      ? content_of(source)
                                      : NULL;
        if (!content)
            continue;
        pug_swo_period_take(&content->period, e);
        content->guessed += pug_swo_sources_is(e) && (PUG_ITM_FLAGS(e) & PUG_ITM_GUESSED);
        if (pug_swo_sources_is(e) && e->reason >= PUG_ITM_TS_SYNC)
            take_clocks(content, e);
    }
    return !printing->sources.failed;
}

/* ---- printing ---- */

static void put_count(const char **before, uint64_t count, const char *what)
{
    if (count == 0)
        return;
    output_text("%s%" PRIu64 " %s", *before, count, what);
    *before = ", ";
}

static void print_events(const struct swo_source *source, const struct content *content)
{
    uint64_t entries = 0;
    const char *before = "  ", *comma = " to port";
    for (unsigned i = 0; i < PUG_INTERRUPTS; i++)
        entries += content->interrupts.sums[i].entries;
    output_text("\nevents of source 0x%02x:\n", source->id);
    put_count(&before, entries, "exceptions entered");
    put_count(&before, content->samples + content->asleep + content->denied, "PC samples");
    if (content->asleep > 0)
        output_text(" (%" PRIu64 " asleep)", content->asleep);
    put_count(&before, content->accesses, "data accesses");
    put_count(&before, content->counters, "counter events");
    put_count(&before, content->losses, "losses of trace");
    put_count(&before, content->writes, "writes");
    for (unsigned port = 0; port < PORTS; port++)
        if (content->ports[port]) {
            output_text("%s %u", comma, port);
            comma = ",";
        }
    output_text(*before == ',' ? "\n" : "  none\n");
}

static void print_times(const struct swo_source *source, const struct content *content)
{
    if (!content->timed) {
        output_text("  no timestamps: nothing says when these were\n");
        return;
    }
    output_text("  the last one at %" PRIu64 " %s", content->last,
                pug_swo_sources_unit(source->all));
    if (content->delayed > 0)
        output_text("; of %" PRIu64 " the timestamp was late", content->delayed);
    output_text("\n");
    if (content->guessed > 0)
        output_text("  %" PRIu64 " elements rest on a guess of where packets begin: before them "
                    "there is no synchronisation packet\n",
                    content->guessed);
}

static void print_loss(struct content *content)
{
    const struct pug_swo_loss loss = pug_swo_period_loss(&content->period);
    if (loss.lacks)
        output_text("  local timestamps lack a cycle each: PC samples are %" PRIu64
                    " cycles apart in %zu of %zu intervals if one is added for each timestamp, "
                    "and in %zu without; --set timestamp_loss=1 adds it\n",
                    loss.period, loss.with_loss, loss.intervals, loss.exact);
    else if (loss.intervals >= 16 && loss.exact * 10 >= loss.intervals * 9)
        output_text("  PC samples are %" PRIu64 " cycles apart in %zu of %zu intervals: the "
                    "timestamps lack nothing\n",
                    loss.period, loss.exact, loss.intervals);
}

/** SysTick comes at a round rate as a rule: does the clock that was given make it one? */
#define SYSTICK 15u

static void print_tick(const struct swo_source *source, const struct content *content)
{
    const struct pug_interrupt_sum *sum = &content->interrupts.sums[SYSTICK];
    const uint64_t hertz = source->stream.clock.local_hertz;
    char words[256];
    if (sum->gaps < 4 || sum->gap_total / sum->gaps == 0)
        return;
    const double mean = (double)sum->gap_total / (double)sum->gaps;
    if (hertz == 0 && !source->stream.clock.anchored && source->stream.clock.global_hertz == 0) {
        output_text("  SysTick comes every %.0f cycles: if that is 1000 times a second, the core "
                    "runs at %.3f MHz (--clock %.0f)\n",
                    mean, mean / 1000, mean * 1000);
        return;
    }
    if (swo_doubts_clock(source->all->capture, pug_interrupts_tick(&content->interrupts), words,
                         sizeof(words)))
        output_text("  %s\n", words);
}

/** Both clocks were given, and the trace has both times. */
static void print_clocks(const struct swo_source *source, const struct content *content)
{
    const struct pug_swo_clock *clock = &source->stream.clock;
    const uint64_t local = content->local_last - content->local_first;
    const uint64_t global = content->global_last - content->global_first;
    if (!content->anchored || local == 0 || global == 0 || clock->local_hertz == 0 ||
        clock->global_hertz == 0)
        return;
    const double hertz = (double)clock->global_hertz * (double)local / (double)global;
    const double ratio = hertz / (double)clock->local_hertz;
    if (ratio < 0.98 || ratio > 1.02)
        output_text("  doubtful: %" PRIu64 " cycles passed in %" PRIu64 " ticks of the global "
                    "clock, so that with --global-clock %" PRIu64 " the core runs at %.3f MHz, not "
                    "at the %.3f MHz of --clock: one of them is wrong, or the core slept\n",
                    local, global, clock->global_hertz, hertz / 1e6,
                    (double)clock->local_hertz / 1e6);
}

static void print_program(const struct content *content)
{
    if (content->strays > 0)
        output_text("  doubtful: %" PRIu64 " of %" PRIu64 " PC samples are where the program has "
                    "no code: it is another build, or not all of it was given (--elf)\n",
                    content->strays, content->samples);
    /* a few may lie behind constants between instructions */
    if (content->inside > content->samples / 8)
        output_text("  doubtful: %" PRIu64 " of %" PRIu64 " PC samples are in the middle of an "
                    "instruction: it is another build\n",
                    content->inside, content->samples);
}

static void print_tables(struct swo_source *source)
{
    const struct pug_vectors *vectors = pug_swo_source_vectors(source);
    if (vectors->count < 2)
        return;
    output_text("  %u vector tables in the program, at ", vectors->count);
    for (unsigned n = 0; n < vectors->count; n++)
        output_text("%s0x%08" PRIx64, n > 0 ? ", " : "", vectors->tables[n].base);
    output_text(": where they name different handlers, --set VTOR=ADDRESS says which was used\n");
}

static void print_source(struct swo_source *source)
{
    struct content *content = source->user;
    if (!content)
        return;
    pug_interrupts_end(&content->interrupts);
    print_events(source, content);
    print_times(source, content);
    print_loss(content);
    print_tick(source, content);
    print_clocks(source, content);
    print_program(content);
    print_tables(source);
}

bool swo_info_print(struct input *input)
{
    const struct trace_wanted wanted = {.limits = {.all = true}, .no_code = true};
    struct printing printing = {.sources = {.failed = false}};
    struct pug_log *log = pug_log_new(PUG_SEV_ERROR); /* the first reading reported it */
    struct trace_parts parts = {.capture = input->capture,
                                .wanted = &wanted,
                                .print = take_item,
                                .print_context = &printing};
    struct progress progress = progress_begin(input_bytes(input), input->options->quiet, NULL);
    struct pug_capture_decode decode = {.threads = 1,
                                        .selection = &input->lists.selection,
                                        .log = log,
                                        .progress = progress_show,
                                        .progress_context = &progress};
    struct pug_capture_result result;
    pug_swo_sources_init(&printing.sources, input->capture, on_event, NULL);
    pug_trace_parts_decode(&parts, &decode);
    const enum pug_status status =
        log ? pug_capture_decode(input->capture, &decode, &result) : PUG_ERR_MEM;
    progress_end(&progress);
    pug_swo_sources_end(&printing.sources);
    for (size_t i = 0; i < printing.sources.count; i++)
        print_source(printing.sources.items[i]);
    const bool good = status != PUG_ERR_MEM && !parts.failed && !printing.sources.failed;
    pug_swo_sources_free(&printing.sources);
    pug_log_free(log);
    return good;
}
