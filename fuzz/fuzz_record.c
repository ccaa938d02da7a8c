// SPDX-License-Identifier: MIT
/**
 * @file Any bytes as what `pugmark record --from` reads, a path or a log of a simulator, with any
 * options: the first bytes choose protocol and options, the others are the file.
 */
#include "driver.h"
#include "files.h"
#include "recorder/convert.h"
#include "recorder/engine.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHOICES 24u        /* bytes in front of the file */
#define ITEMS   (1u << 12) /* that are taken of a path: some tell of very many */
#define MOST    (1u << 14) /* instructions of a recording */
#define CODE    UINT64_C(0x400)

/** The choices, and the recording under construction. */
struct recording {
    struct rec_random random;
    const struct rec_unit_class *unit;
    struct rec_engine_config config;
    uint64_t values[REC_OPTIONS];
    struct rec_range ranges[2];
    struct rec_engine *engine;
    uint64_t bytes, items;
};

static bool take_trace(void *context, unsigned stream, const uint8_t *bytes, size_t size)
{
    struct recording *recording = context;
    (void)stream;
    for (size_t i = 0; i < size; i++)
        recording->bytes += bytes[i]; /* each is read, which a sanitizer watches */
    return true;
}

static bool take_memory(void *context, const struct rec_memory *memory)
{
    (void)context;
    (void)memory;
    return true;
}

static bool take_cut(void *context, unsigned stream, uint64_t time)
{
    (void)context;
    (void)stream;
    (void)time;
    return true;
}

static bool take_told(void *context, const struct rec_path_item *item)
{
    (void)context;
    (void)item;
    return true;
}

/** A number as users give them: none, small, or any. */
static uint64_t some(struct rec_random *random)
{
    switch (rec_random_below(random, 4)) {
    case 0: return 0;
    case 1: return 1 + rec_random_below(random, 8);
    case 2: return rec_random_below(random, 5000);
    default: return rec_random(random) >> rec_random_below(random, 64);
    }
}

/** Options as `--set` takes them, up to their most; the others are what a seed makes them. */
static void choose_values(struct recording *recording, uint8_t family)
{
    bool given[REC_OPTIONS] = {false};
    struct rec_random *random = &recording->random;
    for (unsigned i = 0; i < recording->unit->option_count; i++) {
        given[i] = rec_random_once_in(random, 3);
        const uint64_t most = recording->unit->options[i].most, value = some(random);
        recording->values[i] = most == UINT64_MAX ? value : value % (most + 1);
    }
    rec_unit_values(recording->unit, family, given, some(random), recording->values);
}

/** False: it traces no processor with these instructions, or a value cannot be. */
static bool begin(struct recording *recording, const struct rec_path_header *header)
{
    struct rec_random *random = &recording->random;
    const struct rec_engine_output output = {.trace = take_trace,
                                             .memory = take_memory,
                                             .cut = take_cut,
                                             .path = take_told,
                                             .context = recording};
    if (!(recording->unit->families >> header->family & 1))
        return false;
    choose_values(recording, header->family);
    struct rec_engine_config *config = &recording->config;
    *config = (struct rec_engine_config){.unit_class = recording->unit,
                                         .values = recording->values,
                                         .path = *header,
                                         .first_source = recording->unit->frames ? 0x10 : 0,
                                         .sources = 1 + rec_random_below(random, 4),
                                         .calls = (enum rec_calls)rec_random_below(random, 3),
                                         .context_ids = rec_random_once_in(random, 2),
                                         .sync_every = some(random),
                                         .time_every = some(random),
                                         .cycles_every = some(random),
                                         .other_every = some(random),
                                         .limit = 1 + rec_random_below(random, MOST),
                                         .loss = rec_random_below(random, 3) * 0.2,
                                         .room = some(random),
                                         .ranges = recording->ranges,
                                         .range_count = rec_random_below(random, 3),
                                         .stretch = some(random),
                                         .seed = rec_random(random)};
    config->path.data = config->data =
        header->data && recording->unit->tells && rec_random_once_in(random, 2);
    for (unsigned i = 0; i < 2; i++)
        recording->ranges[i] = (struct rec_range){some(random), some(random)};
    recording->engine = rec_engine_new(config, &output);
    return recording->engine != NULL;
}

static bool take(void *context, const struct rec_path_item *item)
{
    struct recording *recording = context;
    return ++recording->items < ITEMS && rec_engine_take(recording->engine, item);
}

static void end(struct recording *recording)
{
    if (recording->engine)
        (void)rec_engine_end(recording->engine);
    rec_engine_free(recording->engine);
}

static void read_path(struct recording *recording)
{
    struct rec_path_header header;
    struct rec_path_item item;
    const char *why;
    const int file = open(fuzz_place("path"), O_RDONLY | O_CLOEXEC);
    struct rec_path_reader *reader = rec_path_reader_new(file, 0);
    if (reader && rec_path_reader_header(reader, &header, &why) && begin(recording, &header))
        while (rec_path_reader_next(reader, &item) && take(recording, &item))
            continue;
    end(recording);
    rec_path_reader_free(reader);
    close(file);
}

/** A log with a program of any bytes, which is at address CODE. */
static void read_log(struct recording *recording, const uint8_t *code, size_t size)
{
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    char line[1024];
    FILE *file = fopen(fuzz_place("path"), "r");
    struct pug_image *image = pug_image_new();
    struct rec_convert convert = {.file = file,
                                  .first = line,
                                  .image = image,
                                  .family = (uint8_t)(1 + rec_random_below(&recording->random, 4))};
    bool known = false;
    (void)pug_image_add_buffer(image, &anywhere, CODE, code, size);
    while (file && !known && fgets(line, sizeof(line), file))
        known = rec_convert_guess(line, &convert);
    convert.data = convert.form == REC_CONVERT_SPIKE && rec_random_once_in(&recording->random, 2);
    convert.t32_only = rec_random_once_in(&recording->random, 4);
    const struct rec_path_header header = {.family = convert.family, .data = convert.data};
    if (known && begin(recording, &header))
        (void)rec_convert_run(&convert, take, recording);
    end(recording);
    pug_image_free(image);
    if (file)
        fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct recording recording = {.items = 0};
    unsigned units = 0;
    if (size <= CHOICES)
        return 0;
    for (unsigned i = 0; i < CHOICES; i++)
        recording.random.state = recording.random.state * 257 + data[i] + 1;
    while (rec_unit_at(units) != NULL)
        units++;
    recording.unit = rec_unit_at(rec_random_below(&recording.random, units));
    fuzz_write("path", data + CHOICES, size - CHOICES);
    if (data[CHOICES] == REC_PATH_MAGIC[0])
        read_path(&recording);
    else
        read_log(&recording, data, size);
    return 0;
}

/* ---- files to begin with ---- */

/** The text before and after the address in a line. */
struct words {
    const char *before, *behind;
};

static size_t put_log(char *text, size_t room, struct rec_random *random)
{
    static const struct words spike[] = {
        {"core   0: 3 0x", " (0x8082)"},
        {"core   0: 3 0x", " (0x00052503) x10 0x00000001 mem 0x80001000"},
        {"core   0: 3 0x", " (0x00a52023) mem 0x80001000 0x00000001"},
        {"core   1: 3 0x", " (0x0005a52f) x10 0x01 mem 0x80001000 mem 0x80001000 0x00000002"},
        {"core   0: 1 0x", " (0x18029073) c384_satp 0x80000001"},
        {"core   0: exception interrupt #7, epc 0x", ""},
        {"core   0: 3 0x", " (0xfe000ee3)"},
        {"core   0: 3 0x", " (0x9002)"}};
    static const struct words qemu[] = {{"Trace 0: 0x7f00 [00000000/", "/00000000/ff000000] main"},
                                        {"Trace 1: 0x7f00 [00800000/", "/00000000/ff000002] f"},
                                        {"Stopped execution of TB chain before 0x7f00 [", "]"}};
    static const struct words address = {"", ""};
    const unsigned form = rec_random_below(random, 3);
    unsigned at_address = form == 0 ? 0x80000000 : (unsigned)CODE;
    size_t at = 0;
    while (at + 200 < room) {
        const struct words *line = form == 0   ? &spike[rec_random_below(random, 8)]
                                   : form == 1 ? &qemu[rec_random_below(random, 3)]
                                               : &address;
        at += (size_t)snprintf(text + at, room - at, "%s%08x%s\n", line->before, at_address,
                               line->behind);
        at_address += 2 * rec_random_below(random, 4);
    }
    return at;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    static const char *const paths[] = {
        "tests/captures/ptm-arm-cycles/path", "tests/captures/etrace-rv64/path",
        "tests/captures/etmv4-a64/path", "tests/captures/ntrace-rv32/path"};
    for (unsigned i = 0; i < CHOICES; i++)
        data[i] = (uint8_t)rec_random_below(random, 256);
    if (rec_random_once_in(random, 2))
        return CHOICES +
               fuzz_load(paths[rec_random_below(random, 4)], data + CHOICES, room - CHOICES);
    return CHOICES +
           put_log((char *)data + CHOICES, room - CHOICES > 4096 ? 4096 : room - CHOICES, random);
}
