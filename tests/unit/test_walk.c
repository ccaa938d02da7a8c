// SPDX-License-Identifier: MIT
/** @file Walks over the instructions of ranges: sizes, classes, and whose memory is read. */
#include "pugmark/advanced/image.h"
#include "pugmark/walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct pug_place anywhere = {.space = PUG_SPACE_ANY};

/* At 0x1000: addi a0,a0,1; c.nop; c.jr ra; beq a0,a1,.-8 */
static const uint8_t riscv[] = {0x13, 0x05, 0x15, 0x00, 0x01, 0x00,
                                0x82, 0x80, 0xe3, 0x0c, 0xb5, 0xfe};
/* At 0x1000: it eq; moveq r0,r1; bl .+4 (4 bytes); bx lr */
static const uint8_t thumb[] = {0x08, 0xbf, 0x08, 0x46, 0x00, 0xf0, 0x00, 0xf8, 0x70, 0x47};
/* At 0x1000, the same place as `thumb`, four halves: nop */
static const uint8_t nops[] = {0x00, 0xbf, 0x00, 0xbf, 0x00, 0xbf, 0x00, 0xbf, 0x00, 0xbf};

static struct pug_walk *walk_of(const struct pug_image *image)
{
    struct pug_walk *walk = NULL;
    assert_int_equal(pug_walk_new(&(struct pug_walk_config){.image = image}, &walk), PUG_OK);
    assert_non_null(walk);
    return walk;
}

static struct pug_element range_of(enum pug_isa isa, uint64_t start, uint64_t end, uint32_t count)
{
    return (struct pug_element){.type = PUG_ELEM_INSTR_RANGE,
                                .isa = (uint8_t)isa,
                                .start = start,
                                .end = end,
                                .count = count,
                                .flags = PUG_ELEM_EXECUTED};
}

static void add(struct pug_image *image, const struct pug_place *place, uint64_t address,
                const void *bytes, size_t size)
{
    assert_int_equal(pug_image_add_buffer(image, place, address, bytes, size), PUG_OK);
}

/* The sizes of a range's instructions as digits; the status follows. */
static enum pug_status sizes(struct pug_walk *walk, const struct pug_element *range, char *digits)
{
    const struct pug_step *step;
    uint64_t at = range->start;
    assert_int_equal(pug_walk_begin(walk, range), PUG_OK);
    while ((step = pug_walk_next(walk))) {
        assert_int_equal(step->address, at);
        at += step->insn.size;
        *digits++ = (char)('0' + step->insn.size);
    }
    *digits = '\0';
    return pug_walk_status(walk);
}

static void sizes_and_classes_come_from_memory(void **state)
{
    (void)state;
    struct pug_image *image = pug_image_new();
    add(image, &anywhere, 0x1000, riscv, sizeof(riscv));
    struct pug_walk *walk = walk_of(image);
    struct pug_element range = range_of(PUG_ISA_RV64, 0x1000, 0x100c, 4);
    range.flags = 0; /* the branch was not taken */
    /* Twice: the second time the table answers. */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pug_walk_begin(walk, &range), PUG_OK);
        const struct pug_step *step = pug_walk_next(walk);
        assert_int_equal(step->address, 0x1000);
        assert_int_equal(step->insn.size, 4);
        assert_int_equal(step->insn.type, PUG_INSTR_OTHER);
        assert_memory_equal(step->bytes, riscv, 4);
        assert_int_equal(step->isa, PUG_ISA_RV64);
        step = pug_walk_next(walk);
        assert_int_equal(step->insn.size, 2);
        step = pug_walk_next(walk);
        assert_int_equal(step->address, 0x1006);
        assert_int_equal(step->insn.type, PUG_INSTR_BR_INDIRECT);
        assert_int_equal(step->insn.subtype, PUG_SUB_RETURN);
        assert_memory_equal(step->bytes, "\x82\x80\0\0\0\0\0\0", 8);
        assert_true(step->executed && !step->last);
        step = pug_walk_next(walk);
        assert_int_equal(step->insn.target, 0x1000);
        assert_true(step->insn.conditional && step->last && !step->executed);
        assert_null(pug_walk_next(walk));
        assert_int_equal(pug_walk_status(walk), PUG_OK);
    }
    pug_walk_free(walk);
    pug_image_free(image);
}

static void thumb_counts_its_it_blocks(void **state)
{
    (void)state;
    char digits[8];
    struct pug_image *image = pug_image_new();
    add(image, &anywhere, 0x1000, thumb, sizeof(thumb));
    struct pug_walk *walk = walk_of(image);
    struct pug_element range = range_of(PUG_ISA_T32, 0x1000, 0x1008, 3);
    assert_int_equal(sizes(walk, &range, digits), PUG_OK);
    assert_string_equal(digits, "224");
    range = range_of(PUG_ISA_TEE, 0x1000, 0x1008, 3);
    assert_int_equal(sizes(walk, &range, digits), PUG_OK);
    assert_string_equal(digits, "224");
    pug_walk_free(walk);
    pug_image_free(image);
}

/* Two programs at one address in two spaces: each range is read in its own. */
static void a_range_is_read_where_it_ran(void **state)
{
    (void)state;
    static const struct pug_place hypervisor = {.space = PUG_SPACE_EL2};
    static const struct pug_place kernel = {.space = PUG_SPACE_EL1N};
    static const struct pug_place process = {
        .space = PUG_SPACE_EL1N, .has_context_id = true, .context_id = 7};
    char digits[8];
    struct pug_image *image = pug_image_new();
    add(image, &hypervisor, 0x1000, nops, sizeof(nops));
    add(image, &kernel, 0x1000, thumb, sizeof(thumb));
    add(image, &process, 0x1000, nops, sizeof(nops));
    struct pug_walk *walk = walk_of(image);
    struct pug_element range = range_of(PUG_ISA_T32, 0x1004, 0x1008, 1);
    range.security = PUG_SEC_NONSECURE;
    range.context_flags = PUG_CTX_LEVEL;
    range.level = 1;
    assert_int_equal(sizes(walk, &range, digits), PUG_OK);
    assert_string_equal(digits, "4");
    range.level = 2;
    range.end = 0x1006;
    assert_int_equal(sizes(walk, &range, digits), PUG_OK);
    assert_string_equal(digits, "2");
    range.level = 1;
    range.context_flags |= PUG_CTX_CONTEXT_ID;
    range.context_id = 7;
    assert_int_equal(sizes(walk, &range, digits), PUG_OK);
    assert_string_equal(digits, "2");
    range.context_id = 8;
    range.end = 0x1008;
    assert_int_equal(sizes(walk, &range, digits), PUG_OK);
    assert_string_equal(digits, "4");
    range.security = PUG_SEC_SECURE;
    assert_int_equal(sizes(walk, &range, digits), PUG_ERR_NO_PROGRAM_MEMORY);
    assert_string_equal(digits, "");
    pug_walk_free(walk);
    pug_image_free(image);
}

static void missing_memory_and_other_programs_are_told(void **state)
{
    (void)state;
    char digits[8];
    uint64_t addresses[8];
    struct pug_image *image = pug_image_new();
    add(image, &anywhere, 0x1000, thumb, 6);
    struct pug_walk *walk = walk_of(image);
    struct pug_element range = range_of(PUG_ISA_T32, 0x1000, 0x1008, 3);
    assert_int_equal(sizes(walk, &range, digits), PUG_ERR_NO_PROGRAM_MEMORY);
    assert_string_equal(digits, "22");
    assert_int_equal(pug_walk_begin(walk, &range), PUG_OK);
    assert_int_equal(pug_walk_addresses(walk, addresses, 8), 3);
    assert_int_equal(addresses[2], 0x1004);
    assert_int_equal(pug_walk_addresses(walk, addresses, 8), 0);
    assert_int_equal(pug_walk_status(walk), PUG_ERR_NO_PROGRAM_MEMORY);

    /* A change of the image is seen. */
    assert_int_equal(pug_image_remove(image, 0x1000, PUG_SPACE_ANY), PUG_OK);
    add(image, &anywhere, 0x1000, nops, sizeof(nops));
    assert_int_equal(sizes(walk, &range, digits), PUG_ERR_TRACE_MISMATCH);
    assert_string_equal(digits, "222");

    struct pug_element other = {.type = PUG_ELEM_TRACE_ON};
    assert_int_equal(pug_walk_begin(walk, &other), PUG_ERR_WRONG_KIND);
    assert_null(pug_walk_next(walk));
    range.isa = PUG_ISA_JAZELLE;
    assert_int_equal(sizes(walk, &range, digits), PUG_ERR_UNSUPPORTED_ISA);
    pug_walk_free(walk);
    pug_image_free(image);
}

/* Fixed sizes need no memory for addresses, in pieces as small as one likes. */
static void addresses_come_in_pieces(void **state)
{
    (void)state;
    uint64_t addresses[3];
    struct pug_image *image = pug_image_new();
    struct pug_walk *walk = walk_of(image);
    struct pug_element range = range_of(PUG_ISA_A64, 0xfffffffffffffff0, 0, 4);
    assert_int_equal(pug_walk_begin(walk, &range), PUG_OK);
    assert_int_equal(pug_walk_addresses(walk, addresses, 3), 3);
    assert_int_equal(addresses[2], 0xfffffffffffffff8);
    assert_int_equal(pug_walk_addresses(walk, addresses, 3), 1);
    assert_int_equal(addresses[0], 0xfffffffffffffffc);
    assert_int_equal(pug_walk_addresses(walk, addresses, 3), 0);
    assert_int_equal(pug_walk_status(walk), PUG_OK);
    pug_walk_free(walk);
    pug_image_free(image);
}

struct asked {
    const uint8_t *bytes;
    unsigned count;
    uint8_t space;
};

static uint32_t answer(void *context, uint64_t address, const struct pug_reader_space *space,
                       uint32_t wanted, uint8_t *buffer)
{
    struct asked *asked = context;
    uint32_t size = wanted < 4 ? wanted : 4;
    asked->count++;
    asked->space = space->space;
    memcpy(buffer, asked->bytes + (address - 0x1000), size);
    return size;
}

/* What a callback answers may change at any time: it is asked each time. */
static void callbacks_are_asked_each_time(void **state)
{
    (void)state;
    char digits[8];
    struct asked asked = {.bytes = thumb};
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_callback(image, &anywhere, 0x1000, 0x1003, answer, &asked),
                     PUG_OK);
    struct pug_walk *walk = walk_of(image);
    struct pug_element range = range_of(PUG_ISA_T32, 0x1000, 0x1004, 2);
    range.security = PUG_SEC_NONSECURE;
    assert_int_equal(sizes(walk, &range, digits), PUG_OK);
    assert_int_equal(asked.count, 2);
    assert_int_equal(asked.space, PUG_SPACE_N);
    asked.bytes = thumb + 4;
    range.count = 1;
    assert_int_equal(sizes(walk, &range, digits), PUG_OK);
    assert_string_equal(digits, "4");
    pug_walk_free(walk);
    pug_image_free(image);
}

static void no_image_is_no_walk(void **state)
{
    (void)state;
    struct pug_walk *walk = (struct pug_walk *)&walk;
    assert_int_equal(pug_walk_new(NULL, &walk), PUG_ERR_INVALID_PARAM_VAL);
    assert_null(walk);
    assert_int_equal(pug_walk_new(&(struct pug_walk_config){0}, &walk), PUG_ERR_INVALID_PARAM_VAL);
    pug_walk_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_classes_come_from_memory),
        cmocka_unit_test(thumb_counts_its_it_blocks),
        cmocka_unit_test(a_range_is_read_where_it_ran),
        cmocka_unit_test(missing_memory_and_other_programs_are_told),
        cmocka_unit_test(addresses_come_in_pieces),
        cmocka_unit_test(callbacks_are_asked_each_time),
        cmocka_unit_test(no_image_is_no_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
