// SPDX-License-Identifier: MIT
/** @file pugmark stat: decodes everything and counts. */
#include "common/command.h"
#include "common/output.h"
#include "input/input.h"
#include "pugmark/advanced/counts.h"
#include "pugmark/author/protocol.h"
#include "schedule/peers.h"
#include "text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct stat_options {
    struct input_options input;
    uint64_t passes;
    bool json, packets;
};

static const struct option table[] = {
    {"passes", "N", "decode N times, give the best time (default 1)", option_some,
     offsetof(struct stat_options, passes)},
    {"packets", NULL, "count packet types too (not while timing)", option_flag,
     offsetof(struct stat_options, packets)},
    {"json", NULL, "one JSON object", option_flag, offsetof(struct stat_options, json)},
};

struct counts {
    uint64_t elements, instructions;
    uint64_t by_type[PUG_ELEM_TYPE_COUNT];
    bool starved; /**< some are missing: there was no memory */
    bool counted; /**< ranges are counted beside elements, which are shown some of them */
};

/** Packet types of one source; the numbers are the protocol's. */
struct packet_counts {
    const struct pug_protocol *protocol;
    uint16_t id;
    uint32_t types[64];
    uint64_t counts[64];
    size_t used;
};

static void *counts_begin(void *context, unsigned worker, struct pug_piece *piece)
{
    struct counts *part = calloc(1, sizeof(*part));
    (void)context;
    (void)worker;
    if (part)
        part->counted = piece && piece->counted;
    return part;
}

/* So much for each of several threads, and code recurs in what one of them takes at once. */
#define COUNTED_LEAST (UINT64_C(8) << 20)

/** All processes say the same, which may have more or fewer threads. */
static bool is_counted(const struct input *input)
{
    const struct pug_peers *peers = input_peers();
    const unsigned jobs = pug_peers_any(peers) ? peers->count : input_jobs(input);
    return input_flows(input) && (jobs == 1 || pug_capture_is_live(input->capture) ||
                                  input->trace_size / COUNTED_LEAST >= jobs);
}

static void counts_elements(void *context, const struct pug_origin *origin,
                            const struct pug_element *elements, size_t count)
{
    struct counts *part = context;
    (void)origin;
    for (size_t i = 0; i < count; i++) {
        const bool range = elements[i].type == PUG_ELEM_INSTR_RANGE;
        if (range && part->counted)
            continue;
        part->by_type[elements[i].type]++;
        if (range)
            part->instructions += elements[i].count;
    }
}

/** Add counts to others, and free them. */
static bool counts_take(void *context, void *taken)
{
    struct counts *sum = context, *part = taken;
    sum->instructions += part->instructions;
    for (int type = 0; type < PUG_ELEM_TYPE_COUNT; type++)
        sum->by_type[type] += part->by_type[type];
    free(part);
    return !sum->starved;
}

/** Add ranges. */
static void counts_counted(void *context, struct pug_counts *counted)
{
    struct counts *counts = context;
    uint64_t ranges, instructions;
    pug_counts_total(counted, &ranges, &instructions);
    counts->by_type[PUG_ELEM_INSTR_RANGE] += ranges;
    counts->instructions += instructions;
    counts->starved |= pug_counts_status(counted) != PUG_OK;
}

static void counts_pack(const void *part, struct pug_state *bytes)
{
    pug_state_put(bytes, part, sizeof(struct counts));
}

static void *counts_unpack(void *context, const uint8_t *bytes, size_t size)
{
    struct counts *part = counts_begin(context, 0, NULL);
    if (part)
        memcpy(part, bytes, size);
    return part;
}

static bool counts_fold(void *part, void *later)
{
    return counts_take(part, later);
}

/** The sum as a consumer; `counted`: ranges are counted. */
static struct pug_consumer counts_consumer(struct counts *counts, bool counted)
{
    return (struct pug_consumer){.context = counts,
                                 .wants = PUG_WANTS_TOTALS,
                                 .begin = counts_begin,
                                 .elements = counts_elements,
                                 .counted = counted ? counts_counted : NULL,
                                 .take = counts_take,
                                 .drop = free,
                                 .pack = counts_pack,
                                 .unpack = counts_unpack,
                                 .fold = counts_fold};
}

static void count_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct packet_counts *packets = context;
    if (op != PUG_OP_DATA)
        return;
    size_t i = 0;
    while (i < packets->used && packets->types[i] != packet->type)
        i++;
    if (i == packets->used) {
        if (i == sizeof(packets->types) / sizeof(packets->types[0]))
            return;
        packets->types[packets->used++] = packet->type;
    }
    packets->counts[i]++;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/** All segments at once. */
static enum pug_status count_all(struct input *input, struct counts *counts,
                                 struct pug_capture_result *result)
{
    const struct pug_consumer consumer = counts_consumer(counts, true);
    struct pug_capture_decode decode = {.consumers = &consumer, .consumer_count = 1};
    return input_decode_quietly(input, &decode, NULL, result);
}

/** How a stream is read: into memory first, or as it arrives, maybe with a line each second. */
enum streaming { IN_MEMORY, AT_ONCE, WITH_LINES };

/** Bytes of trace that were decoded. */
static uint64_t bytes_of(const struct input *input)
{
    const uint64_t size = input_bytes(input);
    return size ? size : pug_capture_came(input->capture);
}

/** A stream that is being counted: a line a second says how far it is. */
static struct running {
    const struct input *input;
    const struct counts *counts;
    double start, said;
} running;

static bool say_running(void)
{
    const double time = now();
    uint64_t elements = 0;
    if (time - running.said < 1 || running.input->options->quiet)
        return output_wanted();
    running.said = time;
    for (int type = 0; type < PUG_ELEM_TYPE_COUNT; type++)
        elements += running.counts->by_type[type];
    output_text("%14llu bytes of trace, %llu elements, %llu instructions, %llu errors, after %.1f "
                "seconds\n",
                (unsigned long long)bytes_of(running.input), (unsigned long long)elements,
                (unsigned long long)running.counts->instructions,
                (unsigned long long)pug_log_errors(running.input->log), time - running.start);
    output_flush();
    return output_wanted();
}

/**
 * One after the other, for which trees are made in advance: that takes no time here. A tree that
 * was here in the pass before knows the code.
 */
static bool count_trees(struct input *input, struct counts *counts, enum streaming streams,
                        double *seconds)
{
    bool any = false;
    const bool again = input_tree_again(input);
    if (!again && streams == IN_MEMORY)
        input_settle(input);
    if (!again)
        input_first(input);
    do {
        if (!again && !input_tree(input, true))
            continue;
        const struct pug_consumer consumer = counts_consumer(counts, is_counted(input));
        const double start = now();
        running = (struct running){.input = input, .counts = counts, .start = start, .said = start};
        input_run(input, &consumer, streams == WITH_LINES ? say_running : NULL);
        *seconds += now() - start;
        any = true;
        if (input->chosen > 1)
            (void)input_result(input); /* what is wrong with this one */
    } while (input_next(input));
    return any;
}

/** One pass over the whole input; its time, or a negative number when it could not start. */
static double pass(struct input *input, struct counts *counts, enum streaming streams,
                   uint64_t *errors, uint64_t *warnings)
{
    const bool perf = pug_capture_kind(input->capture) == PUG_CAPTURE_PERF;
    const uint64_t errors_before = pug_log_errors(input->log);
    const uint64_t warnings_before = pug_log_warnings(input->log);
    const bool at_once = perf || input_selects(input);
    struct pug_capture_result result = {0};
    enum pug_status status = PUG_OK;
    bool good = true;
    double seconds = 0;
    const double start = now();
    *counts = (struct counts){0};
    if (at_once)
        status = count_all(input, counts, &result);
    else
        good = count_trees(input, counts, streams, &seconds);
    if (seconds == 0)
        seconds = now() - start;
    for (int type = 0; type < PUG_ELEM_TYPE_COUNT; type++)
        counts->elements += counts->by_type[type];
    if (counts->starved)
        input_starve(input);
    *errors = pug_log_errors(input->log) - errors_before;
    *warnings = pug_log_warnings(input->log) - warnings_before;
    if (at_once) /* only now: it may look at some of the trace once more */
        (void)input_concluded(input, status, &result);
    return !good || status != PUG_OK ? -1 : seconds > 0 ? seconds : 1e-9;
}

/** The counts of a source, which several segments may have; NULL: no memory. */
static struct packet_counts *counts_of(struct packet_counts **all, size_t *count,
                                       const struct pug_source *source)
{
    const struct pug_protocol *protocol = pug_source_protocol(source);
    for (size_t i = 0; i < *count; i++)
        if ((*all)[i].id == pug_source_id(source) && (*all)[i].protocol == protocol)
            return &(*all)[i];
    struct packet_counts *grown = realloc(*all, (*count + 1) * sizeof(*grown));
    if (!grown)
        return NULL;
    *all = grown;
    grown[*count] = (struct packet_counts){.protocol = protocol, .id = pug_source_id(source)};
    return &grown[(*count)++];
}

/** A pass of its own, so that counting packets does not slow down what is timed. */
static struct packet_counts *packet_pass(struct input *input, size_t *sources)
{
    struct packet_counts *packets = NULL;
    struct pug_source *source;
    *sources = 0;
    input_first(input);
    do {
        if (!input_tree(input, false))
            continue;
        for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
            (void)counts_of(&packets, sources, source);
        for (size_t n = 0; packets && (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
            pug_source_monitor(source, count_packet, counts_of(&packets, sources, source));
        if (packets)
            input_run(input, NULL, NULL);
    } while (input_next(input));
    return packets;
}

static const char *packet_name(const struct packet_counts *packets, size_t n)
{
    const char *name =
        packets->protocol->packet_name ? packets->protocol->packet_name(packets->types[n]) : NULL;
    return name ? name : "?";
}

static void print_text(const struct input *input, const struct counts *counts, double seconds,
                       uint64_t errors, uint64_t warnings, const struct packet_counts *packets,
                       size_t sources)
{
    for (int type = 0; type < PUG_ELEM_TYPE_COUNT; type++)
        if (counts->by_type[type])
            output_text("%14llu  %s\n", (unsigned long long)counts->by_type[type],
                        pug_element_type_name((enum pug_element_type)type));
    for (size_t s = 0; s < sources; s++) {
        output_text("\npackets of source 0x%02x (%s)\n", packets[s].id, packets[s].protocol->name);
        for (size_t i = 0; i < packets[s].used; i++)
            output_text("%14llu  %s\n", (unsigned long long)packets[s].counts[i],
                        packet_name(&packets[s], i));
    }
    output_text("\n%14llu  elements\n%14llu  instructions\n%14llu  bytes of trace\n"
                "%14llu  errors\n%14llu  warnings\n%14.6f  seconds\n%14.1f  megabytes a second\n",
                (unsigned long long)counts->elements, (unsigned long long)counts->instructions,
                (unsigned long long)bytes_of(input), (unsigned long long)errors,
                (unsigned long long)warnings, seconds, (double)bytes_of(input) / 1e6 / seconds);
    if (counts->elements)
        output_text("%14.1f  nanoseconds an element\n", seconds * 1e9 / (double)counts->elements);
}

static void put_packets(struct pug_json *json, const struct packet_counts *packets, size_t sources)
{
    pug_json_array(json, "sources");
    for (size_t s = 0; s < sources; s++) {
        pug_json_object(json, NULL);
        pug_json_number(json, "id", packets[s].id);
        pug_json_string(json, "protocol", packets[s].protocol->name);
        pug_json_object(json, "packets");
        for (size_t i = 0; i < packets[s].used; i++)
            pug_json_number(json, packet_name(&packets[s], i), packets[s].counts[i]);
        pug_json_close(json);
        pug_json_close(json);
    }
    pug_json_close(json);
}

static void print_json(const struct input *input, const struct counts *counts, double seconds,
                       uint64_t errors, uint64_t warnings, const struct packet_counts *packets,
                       size_t sources)
{
    struct pug_json json = pug_json_begin(output_sink());
    pug_json_object(&json, NULL);
    pug_json_number(&json, "elements", counts->elements);
    pug_json_number(&json, "instructions", counts->instructions);
    pug_json_number(&json, "trace_bytes", bytes_of(input));
    pug_json_real(&json, "seconds", seconds);
    pug_json_number(&json, "errors", errors);
    pug_json_number(&json, "warnings", warnings);
    pug_json_object(&json, "element_types");
    for (int type = 0; type < PUG_ELEM_TYPE_COUNT; type++)
        if (counts->by_type[type])
            pug_json_number(&json, pug_element_type_name((enum pug_element_type)type),
                            counts->by_type[type]);
    pug_json_close(&json);
    if (packets)
        put_packets(&json, packets, sources);
    pug_json_close(&json);
    pug_json_line(&json);
}

static int stat_run(const struct command *self, int argc, char **argv)
{
    struct stat_options options = {.passes = 1};
    const struct option_set sets[] = {OPTION_SET(table, &options), INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 2, 1);
    if (end >= 0)
        return end;
    struct input input;
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    struct counts counts;
    uint64_t errors = 0, warnings = 0;
    double best = -1;
    uint64_t passes = 0;
    /* streams that are read once are not kept */
    const enum streaming streams = options.passes > 1 || options.packets ? IN_MEMORY
                                   : options.json                        ? AT_ONCE
                                                                         : WITH_LINES;
    do {
        double seconds = pass(&input, &counts, streams, &errors, &warnings);
        if (seconds < 0) {
            input_close(&input);
            return EXIT_INPUT;
        }
        if (best < 0 || seconds < best)
            best = seconds;
    } while (++passes < options.passes);
    int code = input_result(&input);
    size_t sources = 0;
    struct packet_counts *packets = options.packets ? packet_pass(&input, &sources) : NULL;
    (options.json ? print_json : print_text)(&input, &counts, best, errors, warnings, packets,
                                             sources);
    free(packets);
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}

const struct command command_stat = {
    .name = "stat",
    .operands = "INPUT",
    .summary = "decode everything; count elements, packets, errors; measure speed",
    .run = stat_run,
    .task = TASK_LOOK,
    .purpose = "Decodes everything and prints totals: elements, instructions, errors, and how long "
               "it took. It is the quick check that a capture decodes.",
    .examples =
        {
            {"pugmark stat examples/demo", "totals and the speed of decoding"},
            {"pugmark stat --packets examples/demo", "packet types, too"},
            {"pugmark stat --passes 5 --json examples/demo",
             "the best time of five passes, as JSON"},
        },
};
