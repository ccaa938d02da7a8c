// SPDX-License-Identifier: MIT
/** @file Path files: what is written is read, and files that are no path are refused. */
#include "recorder/bytes.h"
#include "recorder/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h wants the three first */
#include <cmocka.h>

#define ITEMS 5000u

static int scratch(void)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    int copy = dup(fileno(file));
    fclose(file);
    return copy;
}

/** Blocks of A32 code; every fourth is a version of the one before it. */
static void make_blocks(struct rec_path_block *blocks, uint8_t bytes[][32], unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t size = 4 * (1 + i % 8);
        for (unsigned at = 0; at < 32; at++)
            bytes[i][at] = (uint8_t)(i * 7 + at);
        blocks[i] = (struct rec_path_block){.address = 0x8000 + 64 * (i - (i % 4 == 3)),
                                            .id = i,
                                            .size = size,
                                            .count = size / 4,
                                            .isa = REC_PATH_A32,
                                            .bytes = bytes[i]};
    }
}

#define ACCESSES 4u

/** Accesses of instructions that retired, in their order. */
static void make_accesses(struct rec_random *random, struct rec_path_item *item,
                          struct rec_path_access accesses[ACCESSES])
{
    item->accesses = accesses;
    item->access_count = item->count ? rec_random_below(random, ACCESSES + 1) : 0;
    for (uint32_t i = 0; i < item->access_count; i++)
        accesses[i] = (struct rec_path_access){
            .address = rec_random(random) >> rec_random_below(random, 64),
            .value = rec_random(random) >> rec_random_below(random, 64),
            .insn = i == 0 ? rec_random_below(random, item->count)
                           : accesses[i - 1].insn +
                                 rec_random_below(random, item->count - accesses[i - 1].insn),
            .size = (uint8_t)rec_random_below(random, 8),
            .store = rec_random_once_in(random, 2),
            .known = true};
}

static bool same_accesses(const struct rec_path_item *a, const struct rec_path_item *b)
{
    for (uint32_t i = 0; a->access_count == b->access_count && i < a->access_count; i++) {
        const struct rec_path_access *one = &a->accesses[i], *other = &b->accesses[i];
        if (one->address != other->address || one->value != other->value ||
            one->insn != other->insn || one->size != other->size || one->store != other->store ||
            one->known != other->known)
            return false;
    }
    return a->access_count == b->access_count;
}

static struct rec_path_item make_item(struct rec_random *random,
                                      const struct rec_path_block *blocks, unsigned count)
{
    struct rec_path_item item = {.cpu = rec_random_below(random, 3)};
    switch (rec_random_below(random, 12)) {
    case 0:
        item.kind = REC_PATH_ASKED;
        item.value = rec_random_below(random, 400);
        break;
    case 1:
        item.kind = REC_PATH_TRAPPED;
        item.value = rec_random_below(random, REC_TRAP_KINDS);
        item.numbered = rec_random_once_in(random, 2);
        item.number = item.numbered ? (uint32_t)(rec_random(random) >> 32) : 0;
        item.known = rec_random_once_in(random, 2);
        item.address = item.known ? rec_random(random) >> 1 : 0;
        break;
    case 2:
        item.kind = REC_PATH_IN_CONTEXT;
        item.value = rec_random_below(random, 5);
        break;
    case 3: item.kind = REC_PATH_LEFT_OUT; break;
    default:
        item.kind = REC_PATH_RAN;
        item.block = &blocks[rec_random_below(random, count)];
        item.count = item.block->count;
        if (rec_random_once_in(random, 10))
            item.count = rec_random_below(random, item.count + 1);
    }
    return item;
}

static bool same(const struct rec_path_item *a, const struct rec_path_item *b)
{
    if (a->kind != b->kind || a->cpu != b->cpu || a->value != b->value || a->known != b->known ||
        a->numbered != b->numbered || a->number != b->number || a->address != b->address ||
        a->count != b->count || !a->block != !b->block)
        return false;
    return !a->block || (a->block->address == b->block->address &&
                         a->block->size == b->block->size && a->block->isa == b->block->isa &&
                         memcmp(a->block->bytes, b->block->bytes, a->block->size) == 0);
}

/** The next item of this processor that was written, not made by the reader. */
static bool next_of(struct rec_path_reader *reader, unsigned cpu, struct rec_path_item *item)
{
    while (rec_path_reader_next(reader, item))
        if (item->cpu == cpu && item->kind != REC_PATH_AT)
            return true;
    return false;
}

static void test_round_trip(void **state)
{
    static struct rec_path_item items[ITEMS];
    struct rec_path_block blocks[24];
    uint8_t bytes[24][32];
    struct rec_random random = {5};
    static struct rec_path_access accesses[ITEMS][ACCESSES];
    const struct rec_path_header header = {
        .family = REC_FAMILY_ARM, .data = true, .traps = true, .pid = 77};
    (void)state;
    make_blocks(blocks, bytes, 24);
    int file = scratch();
    struct rec_path_writer *writer = rec_path_writer_new(file, &header);
    for (unsigned i = 0; i < ITEMS; i++) {
        /* Mostly the same ways, as programs go. */
        items[i] = make_item(&random, blocks, i % 100 < 90 ? 4 : 24);
        if (items[i].kind == REC_PATH_RAN)
            make_accesses(&random, &items[i], accesses[i]);
        rec_path_writer_put(writer, &items[i]);
    }
    assert_true(rec_path_writer_end(writer));
    rec_path_writer_free(writer);
    for (unsigned cpu = 0; cpu < 3; cpu++) {
        struct rec_path_header got;
        struct rec_path_item item;
        const char *why;
        assert_int_equal(lseek(file, 0, SEEK_SET), 0);
        struct rec_path_reader *reader = rec_path_reader_new(file, 0);
        assert_true(rec_path_reader_header(reader, &got, &why));
        assert_int_equal(got.family, REC_FAMILY_ARM);
        assert_int_equal(got.pid, 77);
        assert_true(got.data && got.traps && !got.system);
        assert_int_equal(got.version, 2);
        for (unsigned i = 0; i < ITEMS; i++) {
            if (items[i].cpu != cpu)
                continue;
            assert_true(next_of(reader, cpu, &item));
            assert_true(same(&item, &items[i]) && same_accesses(&item, &items[i]));
        }
        assert_false(next_of(reader, cpu, &item));
        assert_int_equal(item.kind, REC_PATH_ENDED);
        rec_path_reader_free(reader);
    }
    close(file);
}

/** Read bytes as a path; how it ended. */
static enum rec_path_kind read_bytes(const uint8_t *bytes, size_t size)
{
    struct rec_path_header header;
    struct rec_path_item item = {.kind = REC_PATH_BAD};
    const char *why = NULL;
    int file = scratch();
    assert_int_equal(write(file, bytes, size), size);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    struct rec_path_reader *reader = rec_path_reader_new(file, 0);
    if (rec_path_reader_header(reader, &header, &why))
        while (rec_path_reader_next(reader, &item))
            ;
    else
        assert_non_null(why);
    rec_path_reader_free(reader);
    close(file);
    return item.kind;
}

#define HEAD  "pugpath\1\2\0\0"
#define BLOCK "B\1\0\4\1\2\3\4"

static void test_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        enum rec_path_kind end;
    } cases[] = {
#define CASE(text, end) {text, sizeof(text) - 1, end}
        CASE("", REC_PATH_BAD),
        CASE("pugpath\3\2\0\0", REC_PATH_BAD), /* of a newer version */
        CASE("pugpath\0\2\0\0", REC_PATH_BAD),
        CASE("pugpath\2\2\4\0", REC_PATH_ENDED),
        CASE("pugpath\2\2\10\0", REC_PATH_BAD), /* of a newer kind */
        CASE("pugpath\2\2\4\0"
             "C\12cortex-m33",
             REC_PATH_ENDED),
        CASE("pugpath\2\2\4\0"
             "C\12cortex",
             REC_PATH_BAD),
        CASE("pugpath\1\7\0\0", REC_PATH_BAD),
        CASE("pugpath\1\2\4\0", REC_PATH_BAD), /* of a newer kind */
        CASE(HEAD, REC_PATH_ENDED),
        CASE(HEAD "Z", REC_PATH_ENDED),
        CASE(HEAD "q", REC_PATH_BAD),                         /* no such record */
        CASE(HEAD "B\1\0\0", REC_PATH_BAD),                   /* an empty block */
        CASE(HEAD "B\1\0\3\1\2\3", REC_PATH_BAD),             /* no whole instructions */
        CASE(HEAD "B\1\0\xff\xff\xff\x7f", REC_PATH_BAD),     /* a huge one */
        CASE(HEAD BLOCK "E\0\0\1\1", REC_PATH_ENDED),         /* it ran */
        CASE(HEAD BLOCK "E\0\0\1\x11", REC_PATH_BAD),         /* another one, not there */
        CASE(HEAD BLOCK "E\0\0\1\2", REC_PATH_BAD),           /* as never before */
        CASE(HEAD BLOCK "E\0\0\1\x03", REC_PATH_BAD),         /* a cut of nothing */
        CASE(HEAD BLOCK "E\0\0\2\1\x13", REC_PATH_BAD),       /* a cut after the end */
        CASE(HEAD BLOCK "E\0\0\2\1\x03", REC_PATH_ENDED),     /* a cut */
        CASE(HEAD BLOCK "E\0\0\1\x81", REC_PATH_BAD),         /* beyond its chunk */
        CASE(HEAD BLOCK "E\0\0\2\1", REC_PATH_BAD),           /* cut short */
        CASE(HEAD BLOCK "E\xff\x7f\0\1\1", REC_PATH_BAD),     /* too many processors */
        CASE(HEAD BLOCK "E\0\0\x81\x80\x40\1", REC_PATH_BAD), /* more events than there may be */
        CASE(HEAD BLOCK "E\0\0\3\1\x3f\x08", REC_PATH_ENDED), /* it loads a word */
        CASE(HEAD BLOCK "E\0\0\2\1\x3f", REC_PATH_BAD),       /* from nowhere */
        CASE(HEAD BLOCK "E\0\0\2\x3f\x08", REC_PATH_BAD),     /* nothing loads it */
        CASE(HEAD BLOCK "E\0\0\4\1\xbf\4\x08", REC_PATH_BAD), /* an instruction after it */
        CASE(HEAD BLOCK "E\0\0\4\1\xbf\2\x08", REC_PATH_BAD), /* its value is not there */
        CASE(HEAD BLOCK "E\0\0\5\1\xbf\2\x08\1", REC_PATH_ENDED),
        CASE(HEAD "E\0\0\3\xa7\20\0", REC_PATH_ENDED), /* SysTick */
        CASE(HEAD "E\0\0\2\xa7\20", REC_PATH_BAD),     /* without where it returns to */
        CASE(HEAD "E\0\0\2\x57\0", REC_PATH_BAD),      /* an exception of no known kind */
        CASE(HEAD "E\0\0\7\xa7\xff\xff\xff\xff\177\0", REC_PATH_BAD), /* a huge number */
        CASE(HEAD "M\0\0\0\0\xff\xff\x03", REC_PATH_BAD),             /* a long name */
        CASE(HEAD "T\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0", REC_PATH_BAD),
#undef CASE
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(read_bytes((const uint8_t *)cases[i].bytes, cases[i].size), cases[i].end);
}

/**
 * A block that repeats 2^`shift` times, in a file of `size` bytes: how many times it ran, counted
 * to `most`; `*why`: what was wrong.
 */
static uint64_t repeat(unsigned shift, size_t size, uint32_t expansion, uint64_t most, char *why,
                       size_t room)
{
    uint8_t bytes[512] = HEAD;
    size_t at = sizeof(HEAD) - 1;
    assert_true(size <= sizeof(bytes));
    while (at + sizeof(BLOCK "E\0\0\0\1\1") - 1 + shift / 7 + 1 < size)
        at += (size_t)snprintf((char *)bytes + at, 3, "P") + 1; /* a program without a name */
    memcpy(bytes + at, BLOCK "E\0\0", sizeof(BLOCK "E\0\0") - 1);
    at += sizeof(BLOCK "E\0\0") - 1;
    bytes[at] = (uint8_t)(3 + (shift + 1) / 7);
    at++;
    bytes[at++] = 1; /* the block ... */
    bytes[at++] = 1; /* ... follows itself */
    unsigned bit = shift + 1;
    for (; bit >= 7; bit -= 7)
        bytes[at++] = 0x80;
    bytes[at++] = (uint8_t)(1 << bit);
    struct rec_path_header header;
    struct rec_path_item item = {.kind = REC_PATH_AT};
    const char *no = NULL;
    uint64_t ran = 0;
    int file = scratch();
    assert_int_equal(write(file, bytes, at), at);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    struct rec_path_reader *reader = rec_path_reader_new(file, 0);
    assert_true(rec_path_reader_header(reader, &header, &no));
    if (expansion)
        rec_path_reader_set_expansion(reader, expansion);
    while (ran < most && rec_path_reader_next(reader, &item))
        ran += item.kind == REC_PATH_RAN;
    snprintf(why, room, "%s", item.kind == REC_PATH_BAD ? item.text : "");
    rec_path_reader_free(reader);
    close(file);
    return ran;
}

/** A repeat that a file of so few bytes may not have is refused before it begins. */
static void test_repeats(void **state)
{
    char why[300];
    (void)state;
    assert_int_equal(repeat(10, 0, 0, UINT64_MAX, why, sizeof(why)), 1026);
    assert_string_equal(why, "");
    assert_int_equal(repeat(27, 129, 0, 5000, why, sizeof(why)), 5000);
    assert_string_equal(why, "");
    assert_int_equal(repeat(28, 0, 0, 5000, why, sizeof(why)), 2); /* what stands before */
    assert_non_null(strstr(why, "it repeats 268435456 blocks"));
    const char *needed = strstr(why, "--expansion ");
    assert_non_null(needed);
    const uint32_t expansion = (uint32_t)strtoul(needed + strlen("--expansion "), NULL, 10);
    assert_int_equal(repeat(28, 0, expansion - 1, 5000, why, sizeof(why)), 2);
    assert_int_equal(repeat(28, 0, expansion, 5000, why, sizeof(why)), 5000);
    assert_int_equal(repeat(40, 0, 0, 5000, why, sizeof(why)), 2);
    assert_non_null(strstr(why, "--expansion cannot permit so many"));
    for (unsigned shift = 41; shift < 63; shift++) {
        assert_int_equal(repeat(shift, 400, UINT32_MAX, 5000, why, sizeof(why)), 2);
        assert_non_null(strstr(why, "damaged"));
    }
}

/** Code of another family's instructions: encoders rely on how long theirs are. */
static void test_foreign_code(void **state)
{
    (void)state;
    for (uint8_t family = REC_FAMILY_A64; family <= REC_FAMILY_RV64; family++)
        for (uint8_t isa = REC_PATH_A64; isa <= REC_PATH_RISCV; isa++) {
            const uint8_t bytes[] = {'p', 'u', 'g', 'p', 'a', 't', 'h', 1, family, 0,
                                     0,   'B', isa, 0,   4,   3,   0,   3, 0,      'Z'};
            const bool fits = family == REC_FAMILY_A64 ? isa == REC_PATH_A64
                              : family == REC_FAMILY_ARM
                                  ? isa == REC_PATH_A32 || isa == REC_PATH_T32
                                  : isa == REC_PATH_RISCV;
            assert_int_equal(read_bytes(bytes, sizeof(bytes)),
                             fits ? REC_PATH_ENDED : REC_PATH_BAD);
        }
}

/** Whatever the bytes are, reading them ends. */
static void test_random_bytes(void **state)
{
    struct rec_random random = {9};
    uint8_t bytes[400];
    (void)state;
    for (unsigned n = 0; n < 3000; n++) {
        size_t size = sizeof(HEAD BLOCK) - 1;
        memcpy(bytes, HEAD BLOCK, size);
        while (size < sizeof(bytes) - 4) {
            static const char records[] = "BETMPE";
            if (rec_random_once_in(&random, 4))
                bytes[size++] = (uint8_t)records[rec_random_below(&random, 6)];
            bytes[size++] =
                (uint8_t)rec_random_below(&random, rec_random_once_in(&random, 3) ? 256 : 8);
        }
        (void)read_bytes(bytes, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_repeats),      cmocka_unit_test(test_foreign_code),
        cmocka_unit_test(test_random_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
