// SPDX-License-Identifier: MIT
/** @file pugmark pc: the address of every executed instruction, one hexadecimal number a line. */
#include "base/bytes.h"
#include "common/command.h"
#include "common/output.h"
#include "files/scratch.h"
#include "input/input.h"
#include "pugmark/dwt.h"
#include "text/lines.h"
#include "text_parts.h"
#include "verify.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pc_options {
    struct input_options input;
    bool samples, by_thread;
    struct verify_options verify;
};

static const struct option table[] = {
    {"by-thread", NULL, "lines \"TID PC\", a thread's together and by time, threads in order",
     option_flag, offsetof(struct pc_options, by_thread)},
    {"samples", NULL, "the addresses of PC samples (N-Trace, DWT) instead", option_flag,
     offsetof(struct pc_options, samples)},
    {"verify", "PATH", "compare with the path that ran (the book: The path file)", option_string,
     offsetof(struct pc_options, verify.path)},
    {"tail", NULL, "of that: the trace may have lost its beginning", option_flag,
     offsetof(struct pc_options, verify.tail)},
};

#define ADDRESSES 256u /* that are taken from a walk at a time */
#define WALKS     8u   /* that a worker keeps, each of one image */

/* Room for their lines. */
#define ADDRESSES_ROOM ((ptrdiff_t)(ADDRESSES * PUG_LINE_MOST + PUG_LINES_PIECE))

static_assert(ADDRESSES_ROOM <= OUTPUT_ROOM, "they are put down without asking for more");

/** A worker's walks, made when it first needs one, and the lines that it printed. */
struct walks {
    struct pug_lines *lines;
    struct pug_line_near near;
    struct pug_line_end end; /* of the lines of: */
    int source;              /* or -1, of any */
    struct pug_walk *walks[WALKS];
    const struct pug_image *images[WALKS];
};

struct pc_state {
    struct input *input;
    struct walks *walks; /* of each worker */
    bool labelled;       /* there are several sources: lines say whose they are */
    atomic_bool failed;
};

/** With several sources, a tab and the source follow each address. */
static void look_at_source(const struct pc_state *state, struct walks *walks,
                           const struct pug_element *e)
{
    const int source = state->labelled ? e->source : -1;
    if (walks->end.size > 0 && walks->source == source)
        return;
    char text[PUG_LINE_END + 1] = "\n";
    if (source >= 0)
        (void)snprintf(text, sizeof(text), "\t0x%02x\n", (unsigned)e->source);
    walks->end = pug_line_end(text);
    walks->source = source;
}

/** A worker's walk through an image; NULL: no memory. */
static struct pug_walk *walk_of(struct pc_state *state, unsigned worker,
                                const struct pug_image *image)
{
    const struct pug_walk_config config = {.image = image};
    const size_t slot = (size_t)((uintptr_t)image / 64 % WALKS);
    struct walks *walks = &state->walks[worker];
    if (walks->walks[slot] && walks->images[slot] == image)
        return walks->walks[slot];
    pug_walk_free(walks->walks[slot]);
    walks->walks[slot] = NULL;
    walks->images[slot] = image;
    if (!walks->lines)
        walks->lines = calloc(1, sizeof(*walks->lines));
    if (!walks->lines || pug_walk_new(&config, &walks->walks[slot]) != PUG_OK)
        state->failed = true;
    return walks->walks[slot];
}

/** An address that was sampled: N-Trace's events, a DWT's packets. */
static bool is_sample(const struct pug_element *e, uint64_t *address)
{
    bool event = e->type == PUG_ELEM_EVENT && e->reason == PUG_EVENT_PC_SAMPLE &&
                 (e->flags & PUG_ELEM_HAS_ADDRESS);
    struct pug_dwt_event dwt;
    *address = e->start;
    if (event || e->type != PUG_ELEM_ITMTRACE || e->reason != PUG_ITM_DWT ||
        !pug_dwt_meaning(e, &dwt) || dwt.kind != PUG_DWT_PC_SAMPLE)
        return event;
    *address = dwt.pc;
    return true;
}

static void print_samples(void *context, unsigned worker, const struct pug_origin *origin,
                          const struct pug_element *elements, size_t count)
{
    struct pc_state *state = context;
    struct walks *walks = &state->walks[worker];
    uint64_t address;
    (void)origin;
    for (size_t i = 0; i < count; i++)
        if (is_sample(&elements[i], &address)) {
            char *room = output_room();
            look_at_source(state, walks, &elements[i]);
            output_took((size_t)(pug_line_put(&walks->near, room, address, walks->end) - room));
        }
}

/** Where addresses go while there is room for them; the worker's next ones, else. */
struct place {
    char *room, *at;
};

/** For the lines of ADDRESSES. */
static void make_room(struct place *place)
{
    if (place->at - place->room <= OUTPUT_ROOM - ADDRESSES_ROOM)
        return;
    output_took((size_t)(place->at - place->room));
    place->room = place->at = output_room();
}

static inline void put_some(struct walks *walks, struct place *place, uint64_t pc, size_t count)
{
    make_room(place);
    place->at = pug_lines_put(walks->lines, place->at, pc, count, &walks->end);
}

/** For instructions that all have four bytes. */
static void put_words(struct walks *walks, struct place *place, const struct pug_element *e)
{
    uint64_t pc = e->start;
    size_t left = e->count;
    for (; left > ADDRESSES; left -= ADDRESSES, pc += 4 * ADDRESSES)
        put_some(walks, place, pc, ADDRESSES);
    put_some(walks, place, pc, left);
}

static void put_walk(struct walks *walks, struct pug_walk *walk, struct place *place,
                     const struct pug_element *e)
{
    uint64_t addresses[ADDRESSES];
    struct pug_line_near near = walks->near; /* which no text can lie upon */
    size_t got;
    (void)pug_walk_begin(walk, e);
    do {
        got = pug_walk_addresses(walk, addresses, ADDRESSES);
        make_room(place);
        for (size_t i = 0; i < got; i++)
            place->at = pug_line_put(&near, place->at, addresses[i], walks->end);
    } while (got == ADDRESSES);
    walks->near = near;
}

static void print_ranges(struct pc_state *state, unsigned worker, const struct pug_image *image,
                         const struct pug_element *elements, size_t count)
{
    struct walks *walks = &state->walks[worker];
    struct pug_walk *walk = walk_of(state, worker, image);
    struct place place = {.room = output_room()};
    place.at = place.room;
    for (size_t i = 0; walk && i < count; i++) {
        const struct pug_element *e = &elements[i];
        if (e->type != PUG_ELEM_INSTR_RANGE)
            continue;
        look_at_source(state, walks, e);
        if (e->isa == PUG_ISA_A64 || e->isa == PUG_ISA_A32)
            put_words(walks, &place, e);
        else
            put_walk(walks, walk, &place, e);
    }
    output_took((size_t)(place.at - place.room));
}

static void print_elements(void *context, unsigned worker, const struct pug_origin *origin,
                           const struct pug_element *elements, size_t count)
{
    if (origin->space)
        print_ranges(context, worker, pug_address_space_image(origin->space), elements, count);
}

/* ---- by thread ---- */

/** Lines of one thread, in the file that keeps all lines. */
struct slice {
    int32_t tid;
    uint64_t time;
    uint64_t number; /* in the order of decoding */
    uint64_t at, size;
};

/** The lines of a part, and their threads. */
struct thread_part {
    struct thread_state *state;
    unsigned worker;
    struct output_text_buffer text;
    struct pug_piece *piece;
    struct slice slice; /* being printed */
    struct slice *slices;
    size_t count, room;
};

struct thread_state {
    struct pc_state *pc;
    FILE *kept;
    uint64_t size;
    struct slice *slices;
    size_t count, room;
    bool failed;
};

static struct thread_part *thread_part_new(struct thread_state *state)
{
    struct thread_part *part = calloc(1, sizeof(*part));
    if (part)
        part->state = state;
    return part;
}

static bool add_slice(struct slice **slices, size_t *count, size_t *room, const struct slice *slice)
{
    if (*count == *room) {
        const size_t more = *room ? *room * 2 : 64;
        struct slice *grown = realloc(*slices, more * sizeof(*grown));
        if (!grown)
            return false;
        *slices = grown;
        *room = more;
    }
    (*slices)[(*count)++] = *slice;
    return true;
}

/** The slice that was being printed is at its end. */
static bool end_slice(struct thread_part *part)
{
    part->slice.size = part->text.count - part->slice.at;
    return part->slice.size == 0 ||
           add_slice(&part->slices, &part->count, &part->room, &part->slice);
}

/** What the part has is a chunk; the rest of the slice begins the next one. */
static void thread_hand_on(struct output_text_buffer *text)
{
    struct thread_part *part =
        (struct thread_part *)((char *)text - offsetof(struct thread_part, text));
    struct thread_part *chunk = end_slice(part) ? malloc(sizeof(*chunk)) : NULL;
    const size_t size = text->room;
    if (chunk) {
        *chunk = *part;
        part->text = (struct output_text_buffer){.full = thread_hand_on};
        part->slices = NULL;
        part->count = part->room = 0;
        part->slice.at = 0;
    }
    text->failed = !pug_piece_emit(part->piece, chunk, size);
}

static void *thread_begin(void *context, unsigned worker, struct pug_piece *piece)
{
    struct thread_part *part = thread_part_new(context);
    if (part) {
        part->worker = worker;
        part->piece = piece;
        part->text.full = thread_hand_on;
    }
    return part;
}

static void put_thread_pc(const char *tid, size_t length, uint64_t address)
{
    struct pug_text text = PUG_TEXT(output_room(), OUTPUT_ROOM);
    pug_text_put_n(&text, tid, length);
    pug_text_hex(&text, address, 1);
    pug_text_put(&text, "\n");
    output_took(text.length);
}

static void put_thread_ranges(struct pug_walk *walk, int32_t tid,
                              const struct pug_element *elements, size_t count)
{
    uint64_t addresses[ADDRESSES];
    char text[16];
    const size_t length = (size_t)snprintf(text, sizeof(text), "%d ", (int)tid);
    for (size_t i = 0; i < count; i++) {
        size_t got;
        if (elements[i].type != PUG_ELEM_INSTR_RANGE)
            continue;
        (void)pug_walk_begin(walk, &elements[i]);
        while ((got = pug_walk_addresses(walk, addresses, ADDRESSES)) > 0)
            for (size_t n = 0; n < got; n++)
                put_thread_pc(text, length, addresses[n]);
    }
}

static void thread_elements(void *context, const struct pug_origin *origin,
                            const struct pug_element *elements, size_t count)
{
    struct thread_part *part = context;
    struct pc_state *pc = part->state->pc;
    const struct pug_capture_task *task =
        origin->task == PUG_NO_TASK ? NULL : pug_capture_task_at(pc->input->capture, origin->task);
    struct pug_walk *walk =
        origin->space ? walk_of(pc, part->worker, pug_address_space_image(origin->space)) : NULL;
    part->slice =
        (struct slice){.tid = task ? task->tid : -1, .time = origin->time, .at = part->text.count};
    if (!walk)
        return;
    output_to(&part->text);
    put_thread_ranges(walk, part->slice.tid, elements, count);
    output_to(NULL);
    if (!end_slice(part))
        part->text.failed = true;
}

static void thread_drop(void *context)
{
    struct thread_part *part = context;
    free(part->text.bytes);
    free(part->slices);
    free(part);
}

static bool thread_take(void *context, void *taken)
{
    struct thread_state *state = context;
    struct thread_part *part = taken;
    state->failed |=
        part->text.failed || (part->text.count > 0 && fwrite(part->text.bytes, 1, part->text.count,
                                                             state->kept) != part->text.count);
    for (size_t i = 0; i < part->count && !state->failed; i++) {
        struct slice slice = part->slices[i];
        slice.at += state->size;
        slice.number = state->count;
        state->failed = !add_slice(&state->slices, &state->count, &state->room, &slice);
    }
    state->size += part->text.count;
    thread_drop(part);
    return !state->failed;
}

static void thread_pack(const void *context, struct pug_state *bytes)
{
    const struct thread_part *part = context;
    bytes->failed |= part->text.failed;
    pug_state_number(bytes, part->count);
    pug_state_put(bytes, part->slices, part->count * sizeof(*part->slices));
    pug_state_put(bytes, part->text.bytes, part->text.count);
}

static void *thread_unpack(void *context, const uint8_t *bytes, size_t size)
{
    struct pug_bytes left = pug_bytes_of(bytes, size);
    struct thread_part *part = thread_part_new(context);
    if (!part)
        return NULL;
    part->count = part->room = (size_t)pug_bytes_take_64(&left);
    const size_t slices = part->count * sizeof(*part->slices);
    const uint8_t *at = pug_bytes_take(&left, slices);
    part->text.count = part->text.room = pug_bytes_left(&left);
    part->slices = malloc(slices + 1);
    part->text.bytes = malloc(part->text.count + 1);
    if (at && part->slices && part->text.bytes) {
        memcpy(part->slices, at, slices);
        memcpy(part->text.bytes, left.at, part->text.count);
        return part;
    }
    thread_drop(part);
    return NULL;
}

static int by_thread_and_time(const void *left, const void *right)
{
    const struct slice *a = left, *b = right;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/** All lines in the order in which they are wanted. */
static bool put_slices(struct thread_state *state)
{
    if (state->count > 0)
        qsort(state->slices, state->count, sizeof(*state->slices), by_thread_and_time);
    for (size_t i = 0; i < state->count && output_wanted(); i++) {
        uint64_t left = state->slices[i].size;
        if (fseeko(state->kept, (off_t)state->slices[i].at, SEEK_SET) != 0)
            return false;
        while (left > 0) {
            const size_t size = left < OUTPUT_ROOM ? (size_t)left : OUTPUT_ROOM;
            if (fread(output_room(), 1, size, state->kept) != size)
                return false;
            output_took(size);
            left -= size;
        }
    }
    return true;
}

/** Print lines by thread; an exit code. */
static int run_by_thread(struct pc_state *pc)
{
    struct thread_state state = {.pc = pc, .kept = pug_scratch_stream()};
    struct pug_capture_result result;
    const struct pug_consumer consumer = {.context = &state,
                                          .wants = PUG_WANTS_TIMES,
                                          .begin = thread_begin,
                                          .elements = thread_elements,
                                          .take = thread_take,
                                          .drop = thread_drop,
                                          .pack = thread_pack,
                                          .unpack = thread_unpack};
    struct pug_capture_decode decode = {.consumers = &consumer, .consumer_count = 1};
    int code = EXIT_INPUT;
    input_settle(pc->input); /* timestamps follow what they date */
    if (!state.kept)
        message_say("pugmark: no temporary file in %s: %s\n", pug_scratch_folder(),
                    strerror(errno));
    else if (input_decode(pc->input, &decode, NULL, &result))
        code = state.failed || !put_slices(&state) ? EXIT_FATAL : input_result(pc->input);
    if (code == EXIT_FATAL && (state.failed || ferror(state.kept)))
        message_say("pugmark: the lines of threads cannot be kept: %s\n",
                    ferror(state.kept) ? strerror(errno) : "out of memory");
    if (state.kept)
        fclose(state.kept);
    free(state.slices);
    return code;
}

/* ---- */

static void print_plain_samples(void *context, unsigned worker, const struct pug_element *elements,
                                size_t count)
{
    print_samples(context, worker, NULL, elements, count);
}

static void print_plain(void *context, unsigned worker, const struct pug_element *elements,
                        size_t count)
{
    struct pc_state *state = context;
    print_ranges(state, worker, state->input->image, elements, count);
}

/** Segment by segment, so that faults can be assigned to one. */
static int run_trees(struct pc_state *pc, bool samples)
{
    struct text_printer printer = {.print = samples ? print_plain_samples : print_plain,
                                   .context = pc};
    const struct pug_consumer consumer = text_consumer(&printer);
    int code, worst = EXIT_DONE;
    do {
        code = EXIT_INPUT;
        if (input_tree(pc->input, true)) {
            input_run(pc->input, &consumer, output_wanted);
            code = input_result(pc->input);
        }
        worst = code > worst ? code : worst;
    } while (output_wanted() && input_next(pc->input));
    return worst;
}

static int run_in_order(struct pc_state *pc, bool samples)
{
    struct text_printer printer = {.situated = samples ? print_samples : print_elements,
                                   .context = pc};
    struct pug_capture_decode decode = text_decode(&printer);
    struct pug_capture_result result;
    if (pug_capture_kind(pc->input->capture) != PUG_CAPTURE_PERF && !input_selects(pc->input))
        return run_trees(pc, samples);
    return input_decode(pc->input, &decode, output_wanted, &result) ? input_result(pc->input)
                                                                    : EXIT_INPUT;
}

/** False, having said so: options are of something else than --verify. */
static bool verify_fits(const struct pc_options *options)
{
    const bool verifies = options->verify.path != NULL;
    if (!verifies && options->verify.tail)
        message_say("pugmark: --tail is for --verify\n");
    else if (verifies && (options->samples || options->by_thread))
        message_say("pugmark: --verify and --%s exclude each other\n",
                    options->samples ? "samples" : "by-thread");
    else
        return true;
    return false;
}

static int pc_run(const struct command *self, int argc, char **argv)
{
    struct pc_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table, &options), INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 2, 1);
    if (end >= 0)
        return end;
    if (!verify_fits(&options))
        return EXIT_USAGE;
    if (options.verify.path)
        return verify_run(&options.input, &options.verify, argv[1]);
    struct input input;
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    const unsigned jobs = input_jobs(&input);
    struct pc_state state = {.input = &input, .walks = calloc(jobs, sizeof(*state.walks))};
    int code = EXIT_INPUT;
    state.failed = !state.walks;
    input.piece = TEXT_PIECE;
    const bool flows = !options.samples && input_has_flow(&input);
    state.labelled = flows && !options.by_thread && input_has_flows(&input);
    if (state.walks && (options.samples || flows))
        code = options.by_thread ? run_by_thread(&state) : run_in_order(&state, options.samples);
    if (state.failed) {
        message_say("pugmark: out of memory\n");
        code = EXIT_FATAL;
    }
    for (unsigned i = 0; state.walks && i < jobs; i++) {
        free(state.walks[i].lines);
        for (unsigned n = 0; n < WALKS; n++)
            pug_walk_free(state.walks[i].walks[n]);
    }
    free(state.walks);
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}

const struct command command_pc = {
    .name = "pc",
    .operands = "INPUT",
    .summary = "print the address of every executed instruction, in order",
    .run = pc_run,
    .task = TASK_FOLLOW,
    .purpose =
        "Prints one address a line for every instruction that ran, for scripts and for comparison "
        "with another trace. With --verify it compares with a path that is known.",
    .examples =
        {
            {"pugmark pc examples/demo", "all addresses"},
            {"pugmark pc --verify examples/crash/path examples/crash",
             "compares with the path that ran, and says where they differ first"},
            {"pugmark pc --samples examples/swo", "the addresses of a DWT's samples"},
        },
};
