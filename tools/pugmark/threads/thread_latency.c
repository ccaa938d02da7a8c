// SPDX-License-Identifier: MIT
#include "thread_latency.h"

#include "common/output.h"
#include "text/json.h"
#include "threads_swo.h"

#include <inttypes.h>

static void add(uint64_t *sum, uint64_t *shortest, uint64_t *longest, uint64_t value, bool first)
{
    *sum += value;
    if (first || value < *shortest)
        *shortest = value;
    if (value > *longest)
        *longest = value;
}

void thread_latency_add(struct thread_latency *latency, uint64_t instructions, uint64_t cycles)
{
    const bool first = latency->count++ == 0;
    add(&latency->sum.instructions, &latency->shortest.instructions, &latency->longest.instructions,
        instructions, first);
    add(&latency->sum.cycles, &latency->shortest.cycles, &latency->longest.cycles, cycles, first);
}

static const char *unit_name(bool cycles)
{
    return cycles ? "cycles" : "instructions";
}

void thread_latency_head(bool json, bool csv, bool cycles)
{
    if (csv)
        output_text("source,thread,unit,count,shortest,mean,longest\n");
    else if (!json)
        output_text(" SRC      TIMES       SHORTEST           MEAN        LONGEST  THREAD  (from "
                    "ready to running, in %s)\n",
                    unit_name(cycles));
}

void thread_latency_put(const struct thread_latency *latency, uint16_t source, const char *name,
                        bool json, bool csv, bool cycles)
{
    const uint64_t shortest = cycles ? latency->shortest.cycles : latency->shortest.instructions,
                   longest = cycles ? latency->longest.cycles : latency->longest.instructions,
                   mean =
                       (cycles ? latency->sum.cycles : latency->sum.instructions) / latency->count;
    if (json) {
        struct pug_json object = pug_json_begin(output_sink());
        pug_json_object(&object, NULL);
        pug_json_number(&object, "source", source);
        pug_json_string(&object, "thread", name);
        pug_json_string(&object, "unit", unit_name(cycles));
        pug_json_number(&object, "count", latency->count);
        pug_json_number(&object, "shortest", shortest);
        pug_json_number(&object, "mean", mean);
        pug_json_number(&object, "longest", longest);
        pug_json_close(&object);
        pug_json_line(&object);
    } else if (csv) {
        output_text("%u,", source);
        threads_put_field(name);
        output_text(",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", unit_name(cycles),
                    latency->count, shortest, mean, longest);
    } else {
        output_text("  %02x %10" PRIu64 " %14" PRIu64 " %14" PRIu64 " %14" PRIu64 "  ", source,
                    latency->count, shortest, mean, longest);
        pug_sink_printable(output_sink(), name);
        pug_sink_text(output_sink(), "\n");
    }
}
