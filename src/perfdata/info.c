// SPDX-License-Identifier: MIT
/**
 * @file What CoreSight's AUXTRACE_INFO says of processors (section 7), and trace ids (section 8).
 */
#include "perfdata/perfdata.h"

#include <stdlib.h>
#include <string.h>

#define KIND_CORESIGHT 3u
#define ID_UNUSED      0x7f

static const struct {
    uint64_t magic;
    enum pug_perf_registers kind;
    unsigned words; /* in version 0 */
} blocks[] = {
    {UINT64_C(0x3030303030303030), PUG_PERF_ETMV3, 4},
    {UINT64_C(0x4040404040404040), PUG_PERF_ETMV4, 7},
    {UINT64_C(0x5050505050505050), PUG_PERF_ETE, 8},
};

/** One processor's block; false: the words do not add up. */
static bool take_cpu(struct pug_perf *perf, struct pug_bytes *words)
{
    const uint64_t magic = pug_bytes_take_64(words), number = pug_bytes_take_64(words);
    size_t block = 0;
    while (block < sizeof(blocks) / sizeof(blocks[0]) && blocks[block].magic != magic)
        block++;
    if (words->bad || block == sizeof(blocks) / sizeof(blocks[0]) || number > INT32_MAX)
        return false;
    const uint64_t count = perf->info_version == 0 ? blocks[block].words : pug_bytes_take_64(words);
    if (words->bad || count > pug_bytes_left(words) / 8)
        return false;
    struct pug_perf_cpu *cpu = pug_capture_add(perf->capture, &perf->cpus, sizeof(*cpu));
    if (!cpu)
        return false;
    cpu->cpu = (int32_t)number;
    cpu->kind = blocks[block].kind;
    cpu->count = count < 9 ? (uint32_t)count : 9;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t word = pug_bytes_take_64(words);
        if (i < 9)
            cpu->words[i] = word;
    }
    return true;
}

void pug_perf_take_info(struct pug_perf *perf, const struct pug_perf_record *record)
{
    struct pug_bytes words = pug_bytes_of(record->body, record->size);
    const char *trouble = NULL;
    if (perf->has_info)
        return; /* the first one counts */
    const uint32_t kind = pug_bytes_take_32(&words);
    (void)pug_bytes_take_32(&words);
    perf->info_version = pug_bytes_take_64(&words);
    const uint32_t count = (uint32_t)pug_bytes_take_64(&words);
    perf->snapshot_mode = pug_bytes_take_64(&words) != 0;
    if (words.bad || kind != KIND_CORESIGHT) {
        pug_perf_damage(perf, record->file, record->offset, record->type,
                        kind == KIND_CORESIGHT ? "it is too short"
                                               : "the trace is of another kind than CoreSight");
        return;
    }
    for (uint32_t i = 0; i < count && !trouble; i++)
        if (perf->cpus.count >= PUG_PERF_CPUS || !take_cpu(perf, &words))
            trouble = "the description of a processor in it cannot be read";
    if (!trouble && pug_bytes_left(&words) > 0)
        trouble = "there is more in it than its processors";
    if (trouble)
        pug_perf_damage(perf, record->file, record->offset, record->type, trouble);
    perf->has_info = perf->cpus.count > 0;
}

/* ---- sources ---- */

enum { TS_VIRTUAL = 1 };

/** TS_SOURCE, -1 if it is absent. */
static int64_t time_source(const struct pug_perf_cpu *cpu)
{
    const unsigned place = cpu->kind == PUG_PERF_ETE ? 8 : 7;
    return cpu->kind != PUG_PERF_ETMV3 && cpu->count > place ? (int64_t)cpu->words[place] : -1;
}

static bool has_times(const struct pug_perf_cpu *cpu)
{
    return cpu->kind == PUG_PERF_ETMV3 ? cpu->words[0] >> 28 & 1 : cpu->words[0] >> 11 & 1;
}

/** The first processor decides for all whether its trace has thread ids (section 11). */
static void settle_id_format(struct pug_perf *perf)
{
    const struct pug_perf_cpu *cpu = perf->cpus.items;
    perf->ids_in = PUG_PERF_NO_IDS;
    if (perf->cpus.count == 0)
        return;
    if (cpu->kind == PUG_PERF_ETMV3)
        perf->ids_in = cpu->words[0] >> 14 & 1 ? PUG_PERF_CONTEXT_ID : PUG_PERF_NO_IDS;
    else if (cpu->words[0] >> 7 & 1 || cpu->words[0] >> 15 & 1)
        perf->ids_in = PUG_PERF_VMID;
    else if (cpu->words[0] >> 6 & 1)
        perf->ids_in = PUG_PERF_CONTEXT_ID;
}

static struct pug_perf_cpu *find_cpu(struct pug_perf *perf, int32_t number)
{
    struct pug_perf_cpu *cpus = perf->cpus.items;
    for (size_t i = 0; i < perf->cpus.count; i++)
        if (cpus[i].cpu == number)
            return &cpus[i];
    return NULL;
}

/** Records that say it count alone: a processor that none names has no trace. */
static void settle_by_records(struct pug_perf *perf)
{
    const struct pug_perf_hw_id *told = perf->hw_ids.items;
    struct pug_perf_cpu *cpus = perf->cpus.items;
    const struct pug_perf_hw_id *unknown = NULL;
    for (size_t i = 0; i < perf->cpus.count; i++) {
        cpus[i].has_trace = false;
        cpus[i].id = ID_UNUSED;
    }
    for (size_t i = 0; i < perf->hw_ids.count; i++) {
        struct pug_perf_cpu *cpu = find_cpu(perf, told[i].cpu);
        if (!cpu && !unknown)
            unknown = &told[i];
        if (!cpu)
            continue;
        cpu->has_trace = true;
        cpu->id = told[i].id;
        cpu->has_sink = told[i].has_sink;
        cpu->sink = told[i].has_sink ? told[i].sink : 0;
    }
    if (unknown)
        pug_perf_damage(perf, unknown->file, unknown->place, PUG_PERF_HW_ID,
                        "it is of a processor that AUXTRACE_INFO does not have");
}

enum pug_status pug_perf_settle_ids(struct pug_perf *perf)
{
    struct pug_perf_cpu *cpus = perf->cpus.items;
    bool all_virtual = perf->cpus.count > 0;
    if (perf->refused_hw_id) {
        pug_perf_damage(perf, perf->refused_at.file, perf->refused_at.offset, PUG_PERF_HW_ID,
                        "it has a version that is not known: nothing can be decoded");
        return PUG_ERR_UNSUPPORTED_CONFIG;
    }
    for (size_t i = 0; i < perf->cpus.count; i++) {
        cpus[i].id = cpus[i].words[1] & 0x7f;
        cpus[i].has_trace = true;
        perf->capture->told_times |= has_times(&cpus[i]);
        all_virtual &= time_source(&cpus[i]) == TS_VIRTUAL;
    }
    all_virtual |= perf->cpus.count > 0 &&
                   pug_settings_number(&perf->capture->options.settings, "timestamp_virtual", 0);
    perf->virtual_time = all_virtual && perf->clock.known && perf->has_times && !perf->own_clock;
    if (all_virtual && perf->clock.known && perf->own_clock)
        pug_capture_say(perf->capture, PUG_SEV_WARN, PUG_OK,
                        "%s: its records have times of %s, and the trace's timestamps can be "
                        "turned into perf's clock alone: they are counted as ticks",
                        perf->capture->path, perf->own_clock);
    settle_id_format(perf);
    if (perf->info_version >= 2 && perf->hw_ids.count > 0)
        settle_by_records(perf);
    return PUG_OK;
}

static void put(struct pug_setting *items, size_t *count, const char *name, uint64_t value)
{
    items[(*count)++] = (struct pug_setting){.name = name, .value = value};
}

const char *pug_perf_source(const struct pug_perf_cpu *cpu, struct pug_setting *items,
                            size_t *count)
{
    static const char *const names[] = {"TRCCONFIGR", NULL,      "TRCIDR0", "TRCIDR1",
                                        "TRCIDR2",    "TRCIDR8", NULL,      "TRCDEVARCH"};
    const uint64_t *words = cpu->words;
    *count = 0;
    put(items, count, "profile", PUG_PROFILE_A);
    if (cpu->kind == PUG_PERF_ETMV3) {
        put(items, count, "ETMCR", words[0]);
        put(items, count, "ETMTRACEIDR", cpu->id);
        put(items, count, "ETMCCER", words[2]);
        put(items, count, "ETMIDR", words[3]);
        put(items, count, "arch", PUG_ARCH_V7);
        return (words[3] >> 8 & 0xf) == 3 ? "PTM" : "ETMV3";
    }
    const unsigned known = cpu->kind == PUG_PERF_ETE ? 8 : 7;
    for (unsigned i = 0; i < known && i < cpu->count; i++)
        if (names[i])
            put(items, count, names[i], words[i]);
    put(items, count, "TRCTRACEIDR", cpu->id);
    put(items, count, "arch",
        cpu->kind == PUG_PERF_ETE || (words[3] >> 4 & 0xf) >= 4 ? PUG_ARCH_AA64 : PUG_ARCH_V8);
    return cpu->kind == PUG_PERF_ETE ? "ETE" : "ETMV4I";
}
