// SPDX-License-Identifier: MIT
/**
 * @file record: an executed path into an ETMv4 or ETE capture (a snapshot folder).
 *
 * The path is read from standard input: the address of each instruction that ran, hexadecimal, one
 * a line, or the log of `qemu-aarch64 -singlestep -d exec,nochain` as it is. Lines that are neither
 * are passed over.
 */
#include "pugmark/settings.h"
#include "recorder/flow.h"
#include "recorder/frames.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct options {
    const char *elf, *out;
    bool ete, return_stack, cycles;
    uint32_t id, timestamps, sync, repeat;
    uint64_t seed;
};

struct registers {
    uint32_t idr0, idr1, idr2, idr8, configr, devarch;
};

static struct registers make_registers(const struct options *options)
{
    return (struct registers){
        .idr0 = 0x28000ea1, /* cycle counts without commits, return stack, 64-bit timestamps */
        .idr1 = options->ete ? 0x4100fff3 : 0x4100f422,
        .idr2 = 0x20001088,
        .configr =
            0x801u | (options->cycles ? 1u << 4 : 0) | (options->return_stack ? 1u << 12 : 0),
        .devarch = 0x47705a13,
    };
}

static FILE *create(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        fprintf(stderr, "record: %s: %s\n", path, strerror(errno));
    return file;
}

static bool write_file(const char *folder, const char *name, const void *bytes, size_t size)
{
    FILE *file = create(folder, name);
    if (!file)
        return false;
    bool good = fwrite(bytes, 1, size, file) == size;
    good = fclose(file) == 0 && good;
    if (!good)
        fprintf(stderr, "record: %s/%s: %s\n", folder, name, strerror(errno));
    return good;
}

static bool write_text(const char *folder, const char *name, const char *text)
{
    return write_file(folder, name, text, strlen(text));
}

/** Memory from the path's lowest address `pc` to the end of its range, as a dump. */
static bool write_dump(const struct pug_image *image, const char *folder, uint64_t pc,
                       uint64_t *address)
{
    struct pug_image_range range;
    for (size_t n = 0; pug_image_range(image, n, &range); n++) {
        if (pc < range.start || pc > range.end)
            continue;
        *address = pc & ~UINT64_C(0x3f);
        if (*address < range.start)
            *address = range.start;
        uint32_t size = (uint32_t)(range.end - *address + 1);
        uint8_t *bytes = malloc(size);
        const struct pug_reader_space space = {.space = PUG_SPACE_ANY};
        bool good = bytes && pug_image_read(image, &space, *address, bytes, size) == size &&
                    write_file(folder, "program.bin", bytes, size & ~1u);
        free(bytes);
        return good;
    }
    fprintf(stderr, "record: no program memory at 0x%" PRIx64 "\n", pc);
    return false;
}

static bool write_descriptions(const struct options *options, uint64_t address)
{
    struct registers r = make_registers(options);
    char text[1024];
    snprintf(text, sizeof(text),
             "[device]\nname=cpu_0\nclass=core\ntype=%s\n\n"
             "[regs]\n\n[dump]\nfile=program.bin\naddress=0x%" PRIx64 "\n",
             options->ete ? "ARM-AA64" : "Cortex-A53", address);
    if (!write_text(options->out, "cpu_0.ini", text))
        return false;
    snprintf(
        text, sizeof(text),
        "[device]\nname=ETM_0\nclass=trace_source\ntype=%s\n\n[regs]\n"
        "TRCCONFIGR(0x004)=0x%08x\nTRCTRACEIDR(0x010)=0x%08x\nTRCAUTHSTATUS(0x3ee)=0x000000cc\n"
        "TRCIDR0(0x078)=0x%08x\nTRCIDR1(0x079)=0x%08x\nTRCIDR2(0x07a)=0x%08x\n"
        "TRCIDR8(0x060)=0x%08x\nTRCIDR9(0x061)=0\nTRCIDR10(0x062)=0\n"
        "TRCIDR11(0x063)=0\nTRCIDR12(0x064)=0\nTRCIDR13(0x065)=0\n%s",
        options->ete ? "ETE" : "ETM4.2", r.configr, options->id, r.idr0, r.idr1, r.idr2, r.idr8,
        options->ete ? "TRCDEVARCH(0x3ef)=0x47705a13\n" : "");
    if (!write_text(options->out, "ETM_0.ini", text))
        return false;
    return write_text(options->out, "trace.ini",
                      "[trace_buffers]\nbuffers=buffer0\n\n[buffer0]\nname=ETB_0\nfile=trace.bin\n"
                      "format=coresight\n\n[source_buffers]\nETM_0=ETB_0\n\n"
                      "[core_trace_sources]\ncpu_0=ETM_0\n") &&
           write_text(options->out, "snapshot.ini",
                      "[snapshot]\nversion=1.0\ndescription=made by Pugmark's recorder\n\n"
                      "[device_list]\ndevice0=cpu_0.ini\ndevice1=ETM_0.ini\n\n"
                      "[trace]\nmetadata=trace.ini\n");
}

/** The address of a line: its first word, or QEMU's "Trace N: POINTER [BASE/ADDRESS/…". */
static bool line_address(const char *line, uint64_t *pc)
{
    const char *at = line;
    char *end;
    if (strncmp(line, "Trace ", 6) == 0) {
        at = strchr(line, '[');
        at = at ? strchr(at, '/') : NULL;
        if (!at)
            return false;
        at++;
    }
    *pc = strtoull(at, &end, 16);
    return end != at && (*end == '\0' || strchr(" \t\r\n/:,", *end));
}

/** Every address on standard input. */
static uint64_t *read_path(size_t *count)
{
    size_t room = 0;
    uint64_t *path = NULL;
    char line[128];
    bool whole = true; /* the line before was all there */
    *count = 0;
    while (fgets(line, sizeof(line), stdin)) {
        uint64_t pc;
        bool begins = whole;
        whole = strchr(line, '\n');
        if (!begins || !line_address(line, &pc))
            continue;
        if (*count == room) {
            room = room * 2 + 4096;
            uint64_t *grown = realloc(path, room * sizeof(*path));
            if (!grown) {
                free(path);
                return NULL;
            }
            path = grown;
        }
        path[(*count)++] = pc;
    }
    return path;
}

static uint64_t lowest(const uint64_t *path, size_t count)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        least = path[i] < least ? path[i] : least;
    return least;
}

static bool record(const struct options *options, const struct pug_image *image,
                   const uint64_t *path, size_t count, struct rec_bytes *trace)
{
    struct registers r = make_registers(options);
    struct rec_etmv4 *unit = rec_etmv4_new(&(struct rec_etmv4_config){.ete = options->ete,
                                                                      .idr0 = r.idr0,
                                                                      .idr2 = r.idr2,
                                                                      .idr8 = r.idr8,
                                                                      .configr = r.configr,
                                                                      .seed = options->seed},
                                           trace);
    struct rec_flow *flow =
        unit ? rec_flow_new(&(struct rec_flow_config){.image = image,
                                                      .isa = {.arch = PUG_ARCH_AA64},
                                                      .context = {.sf = true, .ns = true},
                                                      .ete = options->ete,
                                                      .timestamp_once_in = options->timestamps,
                                                      .sync_once_in = options->sync,
                                                      .cycles_once_in = options->cycles ? 50 : 0,
                                                      .seed = options->seed + 1},
                            unit)
             : NULL;
    bool good = flow != NULL;
    for (uint32_t n = 0; good && n < options->repeat; n++)
        for (size_t i = 0; good && i < count; i++)
            if (!(good = rec_flow_step(flow, path[i], PUG_ISA_A64)))
                fprintf(stderr, "record: no program memory at 0x%" PRIx64 "\n", path[i]);
    if (good) {
        /* A path ends where the program leaves through its supervisor: an exception says so. */
        rec_flow_exception(flow, 2, path[count - 1] + 4);
        rec_flow_finish(flow);
    }
    rec_flow_free(flow);
    rec_etmv4_free(unit);
    return good && !trace->failed;
}

static bool parse(int argc, char **argv, struct options *options)
{
    static const struct option names[] = {{"elf", required_argument, NULL, 'e'},
                                          {"out", required_argument, NULL, 'o'},
                                          {"ete", no_argument, NULL, 'E'},
                                          {"return-stack", no_argument, NULL, 'r'},
                                          {"cycles", no_argument, NULL, 'c'},
                                          {"id", required_argument, NULL, 'i'},
                                          {"timestamps", required_argument, NULL, 't'},
                                          {"sync", required_argument, NULL, 's'},
                                          {"repeat", required_argument, NULL, 'n'},
                                          {"seed", required_argument, NULL, 'S'},
                                          {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (c) {
        case 'e': options->elf = optarg; break;
        case 'o': options->out = optarg; break;
        case 'E': options->ete = true; break;
        case 'r': options->return_stack = true; break;
        case 'c': options->cycles = true; break;
        case 'i': options->id = (uint32_t)strtoul(optarg, NULL, 0) & 0x7f; break;
        case 't': options->timestamps = (uint32_t)strtoul(optarg, NULL, 0); break;
        case 's': options->sync = (uint32_t)strtoul(optarg, NULL, 0); break;
        case 'n': options->repeat = (uint32_t)strtoul(optarg, NULL, 0); break;
        case 'S': options->seed = strtoull(optarg, NULL, 0); break;
        default: return false;
        }
    }
    return options->elf && options->out;
}

int main(int argc, char **argv)
{
    struct options options = {.id = 0x10, .seed = 1, .repeat = 1};
    if (!parse(argc, argv, &options)) {
        fprintf(stderr, "usage: record --elf PROGRAM --out FOLDER [--ete] [--return-stack] "
                        "[--cycles] [--id ID]\n              [--timestamps N] [--sync N] "
                        "[--repeat N] [--seed N] < PATH\n");
        return 2;
    }
    struct pug_image *image = pug_image_new();
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    if (!image || pug_image_add_elf(image, &anywhere, options.elf, 0) != PUG_OK) {
        fprintf(stderr, "record: %s: not a program\n", options.elf);
        return 1;
    }
    size_t count;
    uint64_t *path = read_path(&count);
    if (!path || count == 0)
        fprintf(stderr, "record: no addresses in standard input: one a line, or the log of "
                        "qemu-aarch64 -singlestep -d exec,nochain\n");
    struct rec_bytes trace = {0}, framed = {0};
    uint64_t address;
    bool good = path && count > 0 && record(&options, image, path, count, &trace);
    if (good) {
        struct rec_frames frames = {.out = &framed};
        rec_frames_put(&frames, (uint8_t)options.id, trace.data, trace.size);
        rec_frames_finish(&frames);
        mkdir(options.out, 0777);
        good = write_dump(image, options.out, lowest(path, count), &address) &&
               write_descriptions(&options, address) &&
               write_file(options.out, "trace.bin", framed.data, framed.size);
    }
    rec_bytes_free(&trace);
    rec_bytes_free(&framed);
    free(path);
    pug_image_free(image);
    return good ? 0 : 1;
}
