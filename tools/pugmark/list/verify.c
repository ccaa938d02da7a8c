// SPDX-License-Identifier: MIT
/**
 * @file pugmark pc --verify: what is decoded, instruction by instruction, against the path that
 * ran.
 *
 * Workers expand ranges to addresses, the caller's thread compares them, in order. Each source is
 * compared with the processor that its core's or its own name ends with ("cpu_3"); in perf.data,
 * which knows who ran, each thread with what it ran.
 */
#include "common/messages.h"
#include "verify_internal.h"

#include "common/command.h"
#include "common/path_progress.h"
#include "pugmark/advanced/snapshot.h"
#include "pugmark/author/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the path ---- */

static bool open_reader(struct verify *verify, struct verify_cursor *cursor)
{
    struct stat status;
    const char *path = verify->options->path, *why = "no memory";
    cursor->file = -1;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        why = "it is read several times, so it has to be a file";
    else if ((cursor->file = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        why = strerror(errno);
    cursor->reader = cursor->file >= 0 ? rec_path_reader_new(cursor->file, 0) : NULL;
    if (cursor->reader && rec_path_reader_header(cursor->reader, &verify->path, &why)) {
        if (verify->input->options->expansion)
            rec_path_reader_set_expansion(cursor->reader, verify->input->options->expansion);
        return true;
    }
    message_say("pugmark: %s: %s\n", path, why);
    verify->failed = true;
    return false;
}

static void close_reader(struct verify_cursor *cursor)
{
    if (!cursor->reader)
        return;
    rec_path_reader_free(cursor->reader);
    close(cursor->file);
    cursor->reader = NULL;
}

/** The thread's number; -1: the path does not know it. */
int32_t verify_task(const struct verify *verify, uint64_t task)
{
    for (unsigned i = 0; i < verify->task_count; i++)
        if (verify->cursors[i].task == task)
            return (int32_t)i;
    return -1;
}

/** The thread's number, which it gets now if it has none. */
static int32_t add_task(struct verify *verify, uint64_t task)
{
    int32_t number = verify_task(verify, task);
    if (number >= 0 || verify->task_count == VERIFY_CPUS)
        return number;
    verify->cursors[verify->task_count].task = task;
    return (int32_t)verify->task_count++;
}

static void follow_task(struct verify *verify, struct verify_cursor *cursor,
                        const struct rec_path_item *item)
{
    if (verify->by_task && item->kind == REC_PATH_NEW_TASK)
        cursor->here[item->cpu] = item->value == cursor->task;
}

/**
 * How many instructions the path of each processor, or thread, has. False, having said why: it
 * cannot be read.
 */
static bool count_path(struct verify *verify)
{
    struct verify_cursor all = {.file = -1};
    struct rec_path_item item;
    int32_t task_of[VERIFY_CPUS];
    bool good = open_reader(verify, &all);
    for (unsigned cpu = 0; cpu < VERIFY_CPUS; cpu++)
        task_of[cpu] = verify->by_task ? -1 : (int32_t)cpu;
    struct path_progress progress = path_progress_begin(all.file, 0, verify->input->options->quiet);
    while (good && rec_path_reader_next(all.reader, &item)) {
        path_progress_show(&progress, all.reader, &item);
        if (verify->by_task && item.kind == REC_PATH_NEW_TASK)
            task_of[item.cpu] = add_task(verify, item.value);
        else if (item.kind == REC_PATH_RAN && task_of[item.cpu] >= 0)
            verify->cursors[task_of[item.cpu]].total += item.count;
        else if (item.kind == REC_PATH_TRAPPED && task_of[item.cpu] >= 0)
            verify->cursors[task_of[item.cpu]].traps_total++;
    }
    path_progress_end(&progress);
    if (good && item.kind == REC_PATH_BAD) {
        message_say("pugmark: %s: %s\n", verify->options->path, item.text);
        good = false;
    }
    close_reader(&all);
    return good;
}

/** Takes an item of the path of a processor, or thread. */
static void take_item(const struct verify *verify, struct verify_cursor *cursor,
                      const struct rec_path_item *item)
{
    switch (item->kind) {
    case REC_PATH_RAN:
        cursor->block = item->block;
        cursor->count = item->count;
        cursor->done = cursor->offset = 0;
        break;
    case REC_PATH_TRAPPED:
        cursor->at_trap = verify->has_traps;
        cursor->trap = (struct verify_trap){.kind = (uint8_t)item->value,
                                            .numbered = item->numbered,
                                            .known = item->known,
                                            .number = item->number,
                                            .address = item->address};
        if (verify->path.family == REC_FAMILY_ARM)
            cursor->trap.address &= ~UINT64_C(1); /* which says T32 */
        break;
    case REC_PATH_IN_CONTEXT:
        cursor->context.known = true;
        cursor->context.value = item->value;
        break;
    case REC_PATH_IN_PRIVILEGE:
        cursor->privilege.known = true;
        cursor->privilege.value = item->value;
        break;
    default: break;
    }
}

bool verify_step(struct verify *verify, unsigned number)
{
    struct verify_cursor *cursor = &verify->cursors[number];
    struct rec_path_item item;
    if (!cursor->reader && !open_reader(verify, cursor))
        return false;
    while (cursor->done == cursor->count && !cursor->at_trap) {
        if (!rec_path_reader_next(cursor->reader, &item))
            return false;
        follow_task(verify, cursor, &item);
        if (verify->by_task ? cursor->here[item.cpu] : item.cpu == number)
            take_item(verify, cursor, &item);
    }
    return true;
}

/**
 * The next address of the path of a processor, or thread. False: there is none, or an exception
 * comes before it.
 */
static bool next_address(struct verify *verify, unsigned number, uint64_t *address)
{
    struct verify_cursor *cursor = &verify->cursors[number];
    if (!verify_step(verify, number) || cursor->at_trap)
        return false;
    const struct rec_path_block *block = cursor->block;
    *address = block->address + cursor->offset;
    cursor->offset += rec_path_insn_size(block->isa, block->bytes + cursor->offset);
    cursor->done++;
    return true;
}

/** The trace has so many instructions: what is before the path's last ones it has lost. */
static void skip_beginning(struct verify *verify, unsigned cpu, uint64_t decoded)
{
    struct verify_cursor *cursor = &verify->cursors[cpu];
    uint64_t address;
    uint64_t n = decoded;
    while (n < cursor->total) {
        if (next_address(verify, cpu, &address))
            n++;
        else if (!cursor->at_trap)
            break; /* the path is shorter than when it was counted */
        cursor->at_trap = false;
    }
}

/* ---- comparing: on the caller's thread ---- */

struct verify_name verify_name_of(const struct verify *verify, unsigned number)
{
    struct verify_name name;
    if (verify->by_task)
        snprintf(name.text, sizeof(name.text), "thread %" PRIu64, verify->cursors[number].task);
    else
        snprintf(name.text, sizeof(name.text), "processor %u", number);
    return name;
}

/** It differs there. False. */
static bool differs_at(struct verify *verify, const struct verify_piece *piece)
{
    verify->where = *piece;
    verify->where.count = 1; /* its packet is of interest */
    verify->differs = true;
    return false;
}

static void say_difference(struct verify *verify, const struct verify_piece *piece, bool has,
                           uint64_t expected, uint64_t got)
{
    struct verify_cursor *cursor = &verify->cursors[piece->cpu];
    if (cursor->at_trap) {
        verify_traps_missing(verify, (unsigned)piece->cpu);
        (void)differs_at(verify, piece);
        return;
    }
    printf("differs: %s, instruction %" PRIu64 ": the trace tells 0x%" PRIx64,
           verify_name_of(verify, (unsigned)piece->cpu).text, cursor->compared, got);
    if (has)
        printf(", the path has 0x%" PRIx64 "\n", expected);
    else
        printf(", the path is at its end\n");
    verify->where = *piece;
    verify->differs = true;
}

static bool compare_piece(struct verify *verify, const struct verify_piece *piece,
                          const uint64_t *addresses)
{
    if (piece->cpu < 0) {
        printf("differs: something ran in a thread that the path does not have\n");
        verify->where = *piece;
        verify->differs = true;
        return false;
    }
    struct verify_cursor *cursor = &verify->cursors[piece->cpu];
    if (piece->what != VERIFY_RANGE)
        return verify_traps_take(verify, piece) || differs_at(verify, piece);
    bool there = verify_step(verify, (unsigned)piece->cpu);
    /* A tail may begin after an exception. */
    while (there && cursor->at_trap && verify->options->tail && cursor->compared == 0) {
        cursor->at_trap = false;
        there = verify_step(verify, (unsigned)piece->cpu);
    }
    if (verify->has_traps && there && !cursor->at_trap && !verify_traps_context(verify, piece))
        return differs_at(verify, piece);
    for (uint32_t i = 0; i < piece->count; i++) {
        uint64_t expected = 0;
        bool has = next_address(verify, (unsigned)piece->cpu, &expected);
        if (!has || expected != addresses[i]) {
            if (!verify->failed)
                say_difference(verify, piece, has, expected, addresses[i]);
            return false;
        }
        cursor->compared++;
    }
    return true;
}

static bool take_compare(void *context, void *data)
{
    struct verify *verify = context;
    struct verify_part *part = data;
    bool same = !part->failed;
    verify->failed = verify->failed || part->failed;
    size_t at = 0;
    for (size_t i = 0; same && i < part->piece_count; i++) {
        same = compare_piece(verify, &part->pieces[i], part->addresses + at);
        at += part->pieces[i].count;
    }
    for (size_t i = 0; same && verify->has_data && i < part->data_count; i++) {
        same = part->data[i].where.cpu >= 0 &&
               verify_data_take(verify->data, (unsigned)part->data[i].where.cpu,
                                &part->data[i].element);
        if (!same) {
            verify->differs = true;
            verify->where = part->data[i].where;
        }
    }
    verify_drop(part);
    return same;
}

static bool take_count(void *context, void *data)
{
    struct verify *verify = context;
    struct verify_part *part = data;
    for (size_t i = 0; i < part->piece_count; i++)
        if (part->pieces[i].cpu >= 0)
            verify->cursors[part->pieces[i].cpu].compared += part->pieces[i].count;
    verify->failed = verify->failed || part->failed;
    verify_drop(part);
    return !verify->failed;
}

static bool decode(struct verify *verify, bool (*take)(void *, void *))
{
    struct pug_capture_result result;
    const struct pug_consumer consumer = {.context = verify,
                                          .begin = verify_begin,
                                          .elements = verify_elements,
                                          .take = take,
                                          .drop = verify_drop};
    struct pug_capture_decode how = {.consumers = &consumer, .consumer_count = 1};
    const bool decoded = input_decode(verify->input, &how, NULL, &result);
    if (verify->failed)
        message_say("pugmark: what was decoded cannot be walked\n");
    verify->failed |= !decoded;
    return !verify->failed;
}

/* ---- the packet of a difference ---- */

struct packet_search {
    struct pug_source *source;
    uint64_t index;
    char text[512];
};

static void see_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct packet_search *search = context;
    if (op != PUG_OP_DATA || !packet || packet->index != search->index)
        return;
    pug_source_protocol(search->source)
        ->packet_text(packet->data, search->text, sizeof(search->text));
}

/** Read the segment again, up to the packet. */
static void feed(struct verify *verify, struct pug_tree *tree, const struct packet_search *search)
{
    uint8_t bytes[4096];
    uint64_t at = 0,
             origin = pug_capture_segment_at(verify->capture, verify->where.segment)->offset;
    enum pug_status status = PUG_OK;
    size_t got, used;
    while (!search->text[0] && status == PUG_OK &&
           (got = pug_capture_bytes(verify->capture, verify->where.segment, at, bytes,
                                    sizeof(bytes), &status)) > 0) {
        if (PUG_RESP_IS_FATAL(pug_tree_data(tree, origin + at, bytes, got, &used)))
            break;
        at += got;
    }
}

static void show_packet(struct verify *verify)
{
    const struct verify_piece *where = &verify->where;
    struct pug_tree *tree;
    if (pug_capture_tree(verify->capture, where->segment, false, NULL, &tree) != PUG_OK)
        return;
    struct packet_search search = {.source = pug_tree_source(tree, where->source),
                                   .index = where->index};
    if (search.source) {
        pug_source_monitor(search.source, see_packet, &search);
        feed(verify, tree, &search);
    }
    printf("  its packet: index %" PRIu64 ", source 0x%x%s%s\n", where->index, where->source,
           search.text[0] ? ": " : "", search.text);
    pug_tree_free(tree);
}

/* ---- the whole ---- */

/** Does a chosen source trace this processor? Who is not a snapshot's source traces all. */
static bool is_traced(const struct verify *verify, unsigned cpu)
{
    const struct pug_capture_source *source;
    if (pug_capture_kind(verify->capture) != PUG_CAPTURE_SNAPSHOT)
        return true;
    for (size_t n = 0; (source = pug_capture_source_at(verify->capture, n)) != NULL; n++)
        if (pug_capture_buffer_at(verify->capture, source->buffer)->chosen &&
            input_wants(verify->input, source->id) && verify_source_cpu(source) == (int32_t)cpu)
            return true;
    return false;
}

/** Report what the path has and the trace lacks. */
static bool check_ends(struct verify *verify)
{
    bool same = true;
    for (unsigned cpu = 0; cpu < VERIFY_CPUS; cpu++) {
        const struct verify_cursor *cursor = &verify->cursors[cpu];
        uint64_t left = cursor->total - cursor->compared;
        if (left == 0 || verify->options->tail || !is_traced(verify, cpu))
            continue; /* of a tail the ends are the same */
        same = false;
        printf("differs: %s: the trace ends after %" PRIu64 " of %" PRIu64 " instructions\n",
               verify_name_of(verify, cpu).text, cursor->compared, cursor->total);
    }
    for (unsigned cpu = 0; cpu < VERIFY_CPUS && same; cpu++) {
        const struct verify_cursor *cursor = &verify->cursors[cpu];
        uint64_t compared = cursor->exceptions + cursor->returns;
        if (!verify->has_traps || compared >= cursor->traps_total || verify->options->tail ||
            !is_traced(verify, cpu))
            continue;
        same = false;
        printf("differs: %s: the trace has %" PRIu64 " of %" PRIu64 " exceptions and returns\n",
               verify_name_of(verify, cpu).text, compared, cursor->traps_total);
    }
    return same;
}

static bool compare(struct verify *verify)
{
    uint64_t instructions = 0, exceptions = 0, returns = 0;
    unsigned processors = 0;
    if (verify->options->tail) {
        if (!decode(verify, take_count))
            return false;
        verify->input->silent = true; /* the rest was reported */
        for (unsigned cpu = 0; cpu < VERIFY_CPUS; cpu++) {
            skip_beginning(verify, cpu, verify->cursors[cpu].compared);
            verify->cursors[cpu].compared = 0;
        }
    }
    if (!decode(verify, take_compare))
        return false;
    verify->differs = verify->differs || !check_ends(verify) ||
                      (verify->has_data && !verify_data_end(verify->data));
    for (unsigned cpu = 0; cpu < VERIFY_CPUS; cpu++) {
        instructions += verify->cursors[cpu].compared;
        processors += verify->cursors[cpu].compared > 0;
        exceptions += verify->cursors[cpu].exceptions;
        returns += verify->cursors[cpu].returns;
    }
    if (!verify->differs && instructions == 0) {
        message_say("pugmark: nothing was decoded, nothing is verified\n");
        return false;
    }
    if (!verify->differs)
        printf("equal: %" PRIu64 " instructions of %u %s%s", instructions, processors,
               verify->by_task ? "thread" : "processor", processors == 1 ? "" : "s");
    if (!verify->differs && verify_data_count(verify->data) > 0)
        printf(", %" PRIu64 " accesses to memory", verify_data_count(verify->data));
    if (!verify->differs && exceptions > 0)
        printf(", %" PRIu64 " exception%s", exceptions, exceptions == 1 ? "" : "s");
    if (!verify->differs && returns > 0)
        printf(", %" PRIu64 " return%s from them", returns, returns == 1 ? "" : "s");
    if (!verify->differs)
        printf("\n");
    return true;
}

/** Options that leave out some of what ran: the path has all of it. False, having said so. */
static bool is_all(const struct input *input)
{
    const bool perf = pug_capture_kind(input->capture) == PUG_CAPTURE_PERF;
    const char *misplaced =
        input_selects(input) ? "--pid, --tid, --comm, --cpu, --dso and --time leave out some of it"
        : perf && (input->options->buffer || input->options->sources.count > 0)
            ? "--buffer and --source leave out some of what threads ran"
            : NULL;
    if (misplaced)
        message_say("pugmark: --verify compares all that ran; %s\n", misplaced);
    return !misplaced;
}

/** Says loudly what is not compared, because the path does not have it. */
static void say_left_out(const struct verify *verify)
{
    if (verify->path.traps || (verify->path.version > 1 && !verify->path.system))
        return;
    message_say(
        "pugmark: %s: exceptions and returns from them were NOT compared: %s\n",
        verify->options->path,
        verify->path.version == 1
            ? "a path of version 1 has none; record it again"
            : "QEMU did not report them when the path was recorded (the book: The path file)");
}

static int run(struct verify *verify)
{
    int code = EXIT_INPUT;
    bool good = count_path(verify);
    verify->has_traps = verify->path.traps && !verify->by_task;
    if (good)
        say_left_out(verify);
    if (good && input_has_flow(verify->input) && compare(verify)) {
        code = input_result(verify->input);
        code = verify->differs && code == EXIT_DONE ? EXIT_TRACE_ERRORS : code;
    }
    if (verify->differs && verify->where.count)
        show_packet(verify);
    for (unsigned cpu = 0; cpu < VERIFY_CPUS; cpu++)
        close_reader(&verify->cursors[cpu]);
    return code;
}

int verify_run(const struct input_options *options, const struct verify_options *wanted,
               const char *operand)
{
    struct pug_peers *peers = input_peers();
    struct input input;
    int code = EXIT_INPUT;
    input_among(NULL); /* a path is followed by one process */
    if (!input_open(&input, options, operand)) {
        input_among(peers);
        return input.failure;
    }
    input.described = true;
    pug_log_set_verbosity(input.log, PUG_SEV_ERROR); /* what was lost may be */
    struct verify *verify = calloc(1, sizeof(*verify));
    if (verify)
        *verify = (struct verify){
            .options = wanted,
            .input = &input,
            .capture = input.capture,
            .by_task = pug_capture_kind(input.capture) == PUG_CAPTURE_PERF,
            .has_data = !wanted->tail && !options->reference, /* which gives none */
            .data = verify_data_new(wanted->path, options->expansion),
        };
    if (!verify || !verify->data)
        input_starve(&input);
    else
        code = is_all(&input) ? run(verify) : EXIT_USAGE;
    if (verify)
        verify_data_free(verify->data);
    free(verify);
    input_close(&input);
    input_among(peers);
    return code;
}
