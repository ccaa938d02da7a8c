// SPDX-License-Identifier: MIT
/**
 * @file Makes a long perf.data from a short one: its segments over and over, one after the other.
 *
 *     perf_repeat IN OUT TIMES
 *
 * Records of type AUX and AUXTRACE are repeated with the offsets that a longer recording would have
 * had; the features after the data move, and the index of AUXTRACE records is rebuilt.
 */
#include "bench.h"

enum { HEADER = 104, AT_DATA = 40, AT_FEATURES = 72, FEATURE_INDEX = 18 };
enum { RECORD_AUX = 11, RECORD_AUXTRACE = 71 };

/**
 * The file being written, and the index of its AUXTRACE records: a count, and of each where it is
 * and its size.
 */
struct target {
    FILE *file;
    uint8_t *index;
    uint64_t count;
};

static uint64_t get(const uint8_t *at, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static void put64(uint8_t *at, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void write_all(const struct target *out, const uint8_t *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, out->file) != size) {
        perror("perf_repeat");
        exit(2);
    }
}

/** A record's size with the trace that follows it; 0: it is damaged. */
static size_t record_size(const uint8_t *record, const uint8_t *end)
{
    const size_t left = (size_t)(end - record);
    size_t size = left >= 8 ? (size_t)get(record + 6, 2) : 0;
    if (size >= 48 && size <= left && get(record, 4) == RECORD_AUXTRACE)
        size += (size_t)get(record + 8, 8);
    return size >= 8 && size <= left ? size : 0;
}

/** A record that may be moved in its buffer by so much. */
static void put_record(struct target *out, uint8_t *record, size_t size, uint64_t moved)
{
    uint8_t *const offset = get(record, 4) == RECORD_AUX ? record + 8 : record + 16;
    const uint64_t was = get(offset, 8);
    if (get(record, 4) == RECORD_AUXTRACE) {
        put64(out->index + 8 + 16 * out->count, (uint64_t)ftell(out->file));
        put64(out->index + 16 + 16 * out->count, get(record + 6, 2));
        put64(out->index, ++out->count);
    }
    put64(offset, was + moved);
    write_all(out, record, size);
    put64(offset, was);
}

/** The records of the data section, moved in the buffers by `moved`; the first time all of them. */
static void put_records(struct target *out, uint8_t *at, const uint8_t *end, uint64_t moved)
{
    for (size_t size; at < end && (size = record_size(at, end)) > 0; at += size) {
        const uint64_t type = get(at, 4);
        if (type == RECORD_AUX || type == RECORD_AUXTRACE)
            put_record(out, at, size, moved);
        else if (moved == 0)
            write_all(out, at, size);
    }
}

/** The part that is repeated. */
struct extent {
    uint64_t length; /**< how far the buffers reach, in whole pages */
    uint64_t bytes, traces;
};

static struct extent extent_of(const uint8_t *at, const uint8_t *end)
{
    struct extent extent = {0};
    for (size_t size; at < end && (size = record_size(at, end)) > 0; at += size) {
        const uint64_t type = get(at, 4);
        if (type != RECORD_AUX && type != RECORD_AUXTRACE)
            continue;
        extent.bytes += size;
        if (type == RECORD_AUX)
            continue;
        const uint64_t to = get(at + 16, 8) + get(at + 8, 8);
        extent.traces++;
        extent.length = to > extent.length ? to : extent.length;
    }
    extent.length = (extent.length + 4095) & ~UINT64_C(4095);
    return extent;
}

/** The features are so much further on; the index of AUXTRACE records is at `index`. */
static void move_features(const struct bench_bytes *in, uint8_t *table, uint64_t grown,
                          uint64_t index, uint64_t index_size)
{
    for (unsigned i = 0; i < 256; i++) {
        if (!(in->at[AT_FEATURES + i / 8] >> i % 8 & 1) || table + 16 > in->at + in->size)
            continue;
        put64(table, i == FEATURE_INDEX ? index : get(table, 8) + grown);
        if (i == FEATURE_INDEX)
            put64(table + 8, index_size);
        table += 16;
    }
}

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(2);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s IN OUT TIMES\n", argv[0]);
        return 2;
    }
    struct bench_bytes in = bench_read_file(*argv[1] == '/' ? "" : ".", argv[1]);
    const unsigned long times = strtoul(argv[3], NULL, 0);
    const uint64_t from = in.size >= HEADER ? get(in.at + AT_DATA, 8) : in.size;
    const uint64_t size = in.size >= HEADER ? get(in.at + AT_DATA + 8, 8) : 0;
    if (times == 0 || from > in.size || size > in.size - from ||
        memcmp(in.at, "PERFILE2", 8) != 0) {
        fprintf(stderr, "%s: not a perf.data with a data section\n", argv[1]);
        return 2;
    }
    uint8_t *const data = in.at + from, *const end = data + size;
    const struct extent extent = extent_of(data, end);
    const uint64_t grown = extent.bytes * (times - 1);
    const size_t index_size = (size_t)(8 + 16 * extent.traces * times);
    struct target out = {.file = fopen(argv[2], "wb"), .index = calloc(1, index_size)};
    if (!out.file || !out.index)
        fail(argv[2]);
    put64(in.at + AT_DATA + 8, size + grown);
    move_features(&in, end, grown, in.size + grown, index_size);
    write_all(&out, in.at, (size_t)from);
    for (unsigned long i = 0; i < times; i++)
        put_records(&out, data, end, i * extent.length);
    write_all(&out, end, in.size - (size_t)(from + size));
    write_all(&out, out.index, index_size);
    if (fclose(out.file) != 0)
        fail(argv[2]);
    free(out.index);
    free(in.at);
    return 0;
}
