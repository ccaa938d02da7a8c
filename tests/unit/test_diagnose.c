// SPDX-License-Identifier: MIT
/** @file Evidence that a program is not the one that ran, from elements made by hand. */
#include "pugmark/advanced/diagnose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/words.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* 1000 nop; 1004 bl 1010; 1008 nop; 100c b 1000; 1010 nop; 1014 ret */
static const uint32_t code[] = {LE32(0xd503201f), LE32(0x94000003), LE32(0xd503201f),
                                LE32(0x17fffffd), LE32(0xd503201f), LE32(0xd65f03c0)};

static struct pug_element range(uint64_t index, uint64_t start, uint64_t end, uint8_t type,
                                uint8_t subtype, bool taken)
{
    return (struct pug_element){.type = PUG_ELEM_INSTR_RANGE,
                                .index = index,
                                .start = start,
                                .end = end,
                                .count = (uint32_t)(end - start) / 4,
                                .last_type = type,
                                .last_subtype = subtype,
                                .last_size = 4,
                                .flags = taken ? PUG_ELEM_EXECUTED : 0,
                                .source = 0x10,
                                .isa = PUG_ISA_A64};
}

#define CALL(index)   range(index, 0x1000, 0x1008, PUG_INSTR_BR, PUG_SUB_BR_LINK, true)
#define RETURN(index) range(index, 0x1010, 0x1018, PUG_INSTR_BR_INDIRECT, PUG_SUB_V8_RET, true)
#define BACK(index)   range(index, 0x1008, 0x1010, PUG_INSTR_BR, PUG_SUB_NONE, true)

static struct pug_element other(uint64_t index, enum pug_element_type type, unsigned reason)
{
    return (struct pug_element){
        .type = (uint8_t)type, .index = index, .reason = (uint8_t)reason, .source = 0x10};
}

/** What is seen in one part, or with each element in a part of its own. */
static struct pug_evidence examine(const struct pug_element *elements, size_t count, bool apart)
{
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    struct pug_image *image = pug_image_new();
    struct pug_evidence result;
    const struct pug_evidence *evidence;
    assert_int_equal(pug_image_add_buffer(image, &anywhere, 0x1000, code, sizeof(code)), PUG_OK);
    struct pug_diagnosis *diagnosis = pug_diagnosis_new(image);
    assert_non_null(diagnosis);
    for (size_t i = 0; i < count; i += apart ? 1 : count) {
        struct pug_diagnosis_part *part = pug_diagnosis_begin(diagnosis);
        assert_non_null(part);
        pug_diagnosis_elements(part, elements + i, apart ? 1 : count);
        pug_diagnosis_take(diagnosis, part);
    }
    assert_true(pug_diagnosis_evidence(diagnosis, 0, &evidence));
    assert_false(pug_diagnosis_evidence(diagnosis, 1, &evidence));
    assert_true(pug_diagnosis_evidence(diagnosis, 0, &evidence));
    result = *evidence;
    pug_diagnosis_free(diagnosis);
    pug_image_free(image);
    return result;
}

static void the_right_program_has_none(void **state)
{
    const struct pug_element elements[] = {other(0, PUG_ELEM_TRACE_ON, 0),
                                           CALL(1),
                                           RETURN(2),
                                           BACK(3),
                                           CALL(4),
                                           RETURN(5),
                                           other(6, PUG_ELEM_EXCEPTION, 0),
                                           CALL(7),
                                           other(8, PUG_ELEM_EO_TRACE, 0)};
    (void)state;
    struct pug_evidence seen = examine(elements, COUNT(elements), false);
    assert_int_equal(pug_evidence_contradictions(&seen), 0);
    assert_int_equal(pug_evidence_first(&seen), PUG_CONTRADICTIONS);
    assert_int_equal(seen.looked, 6);
    assert_int_equal(seen.branches, 6);
    assert_int_equal(seen.returns, 1);
    assert_int_equal(seen.missing, 0);
}

/** One contradiction of a kind, at an offset and an address. */
static void one(const struct pug_element *elements, size_t count, enum pug_contradiction kind,
                uint64_t index, uint64_t address)
{
    struct pug_evidence seen = examine(elements, count, false);
    assert_int_equal(pug_evidence_contradictions(&seen), 1);
    assert_int_equal(pug_evidence_first(&seen), kind);
    assert_int_equal(seen.counts[kind], 1);
    assert_int_equal(seen.first[kind].index, index);
    assert_int_equal(seen.first[kind].address, address);
    assert_true(*pug_contradiction_text(kind));
}

static void each_kind_is_found(void **state)
{
    (void)state;
    const struct pug_element untaken[] = {
        range(7, 0x1000, 0x1008, PUG_INSTR_BR, PUG_SUB_BR_LINK, false), BACK(8)};
    one(untaken, 2, PUG_CONTRA_UNTAKEN, 7, 0x1004);
    const struct pug_element unreturned[] = {
        range(7, 0x1010, 0x1018, PUG_INSTR_BR_INDIRECT, PUG_SUB_V8_RET, false)};
    one(unreturned, 1, PUG_CONTRA_UNTAKEN, 7, 0x1014);
    const struct pug_element gap[] = {range(7, 0x1000, 0x1004, PUG_INSTR_OTHER, 0, true), BACK(9)};
    one(gap, 2, PUG_CONTRA_GAP, 9, 0x1008);
    const struct pug_element target[] = {CALL(7), BACK(9)};
    one(target, 2, PUG_CONTRA_TARGET, 9, 0x1004);
    struct pug_element exception[] = {range(7, 0x1000, 0x1004, PUG_INSTR_OTHER, 0, true),
                                      other(8, PUG_ELEM_EXCEPTION, 0)};
    exception[1].flags = PUG_ELEM_RET_ADDR;
    exception[1].end = 0x1010;
    one(exception, 2, PUG_CONTRA_EXCEPTION, 8, 0x1010);
    const struct pug_element decoder[] = {CALL(7),
                                          other(8, PUG_ELEM_NO_SYNC, PUG_UNSYNC_BAD_IMAGE)};
    one(decoder, 2, PUG_CONTRA_DECODER, 8, 0x1008);
    const struct pug_element before[] = {other(8, PUG_ELEM_NO_SYNC, PUG_UNSYNC_BAD_IMAGE)};
    one(before, 1, PUG_CONTRA_DECODER, 8, PUG_ADDRESS_UNKNOWN);
}

/** Ranges in between were not looked at, and need not have been shown. */
static void what_ran_long_before_says_nothing(void **state)
{
    (void)state;
    const uint64_t later = UINT64_C(1) << 18;
    const struct pug_element decoder[] = {CALL(7),
                                          other(later, PUG_ELEM_NO_SYNC, PUG_UNSYNC_BAD_IMAGE)};
    one(decoder, 2, PUG_CONTRA_DECODER, later, PUG_ADDRESS_UNKNOWN);
    struct pug_element exception[] = {range(7, 0x1000, 0x1004, PUG_INSTR_OTHER, 0, true),
                                      other(later, PUG_ELEM_EXCEPTION, 0)};
    exception[1].flags = PUG_ELEM_RET_ADDR;
    exception[1].end = 0x1010;
    const struct pug_evidence seen = examine(exception, 2, false);
    assert_int_equal(pug_evidence_contradictions(&seen), 0);
}

/** Who shows ranges only where they are looked at shows all of these. */
static void it_is_said_where_ranges_are_looked_at(void **state)
{
    uint64_t end, shown = 0, most = UINT64_C(16) << 20;
    (void)state;
    for (uint64_t at = 0; at < most; at = end) {
        struct pug_element elements[] = {range(at, 0x1000, 0x1008, PUG_INSTR_OTHER, 0, true)};
        const bool looks = pug_diagnosis_looks(at, &end);
        assert_true(end > at);
        for (uint64_t in = at; in < end && in < most; in += 1 << 10) {
            elements[0].index = in;
            assert_true(looks || examine(elements, 1, false).looked == 0);
        }
        shown += looks ? end - at : 0;
    }
    assert_true(shown < most / 50);
}

/** A range of another instruction set, whose instructions are of one size. */
static struct pug_element of_isa(struct pug_element e, enum pug_isa isa, unsigned size)
{
    e.isa = (uint8_t)isa;
    e.last_size = (uint8_t)size;
    return e;
}

static void instructions_are_executed_whole(void **state)
{
    (void)state;
    const struct pug_element skipped[] = {
        of_isa(range(7, 0x1000, 0x1004, PUG_INSTR_OTHER, 0, false), PUG_ISA_A32, 4)};
    one(skipped, 1, PUG_CONTRA_NOT_EXECUTED, 7, 0x1000);
    struct pug_element conditional[] = {skipped[0]};
    conditional[0].flags = PUG_ELEM_CONDITIONAL;
    struct pug_evidence seen = examine(conditional, 1, false);
    assert_int_equal(pug_evidence_contradictions(&seen), 0);

    const struct pug_element odd[] = {range(7, 0x1002, 0x1008, PUG_INSTR_OTHER, 0, true)};
    one(odd, 1, PUG_CONTRA_BOUNDARY, 7, 0x1002);
    const struct pug_element halves[] = {
        of_isa(range(7, 0x2002, 0x2006, PUG_INSTR_BR, 0, true), PUG_ISA_RV64, 4),
        of_isa(range(8, 0x2004, 0x2006, PUG_INSTR_OTHER, 0, true), PUG_ISA_RV64, 2)};
    one(halves, 2, PUG_CONTRA_BOUNDARY, 8, 0x2004);
    const struct pug_element whole[] = {
        of_isa(range(7, 0x2002, 0x2004, PUG_INSTR_BR, 0, true), PUG_ISA_RV64, 2),
        of_isa(range(8, 0x2004, 0x2006, PUG_INSTR_OTHER, 0, true), PUG_ISA_RV64, 2)};
    seen = examine(whole, 2, false);
    assert_int_equal(pug_evidence_contradictions(&seen), 0);
}

/** Parts are cut where windows of 4 KiB are: what is seen in one must not depend on the others. */
static void nothing_is_kept_over_windows(void **state)
{
    struct pug_element halves[] = {
        of_isa(range(4000, 0x2002, 0x2006, PUG_INSTR_BR, 0, true), PUG_ISA_RV64, 4),
        of_isa(range(4095, 0x2004, 0x2006, PUG_INSTR_OTHER, 0, true), PUG_ISA_RV64, 2)};
    (void)state;
    one(halves, 2, PUG_CONTRA_BOUNDARY, 4095, 0x2004);
    halves[1].index = 4096;
    for (unsigned apart = 0; apart < 2; apart++) {
        struct pug_evidence seen = examine(halves, 2, apart);
        assert_int_equal(pug_evidence_contradictions(&seen), 0);
    }
}

/** With a return stack these have no address. */
static void returns_that_a_stack_would_know_are_counted(void **state)
{
    (void)state;
    const struct pug_element told[] = {CALL(1), RETURN(2), BACK(3), CALL(4), RETURN(5), BACK(6)};
    assert_int_equal(examine(told, COUNT(told), false).told_returns, 2);
    assert_int_equal(examine(told, COUNT(told), true).told_returns, 0);
    const struct pug_element lost[] = {CALL(1), other(2, PUG_ELEM_TRACE_ON, 0), RETURN(3), BACK(4)};
    assert_int_equal(examine(lost, COUNT(lost), false).told_returns, 0);
    const struct pug_element elsewhere[] = {RETURN(2), BACK(3), CALL(4), RETURN(5), CALL(6)};
    assert_int_equal(examine(elsewhere, COUNT(elsewhere), false).told_returns, 0);
}

static void losses_are_counted(void **state)
{
    (void)state;
    const struct pug_element elements[] = {
        other(0, PUG_ELEM_NO_SYNC, PUG_UNSYNC_INIT_DECODER),
        other(1, PUG_ELEM_TRACE_ON, PUG_TRACE_ON_NORMAL),
        other(2, PUG_ELEM_NO_SYNC, PUG_UNSYNC_OVERFLOW),
        other(2, PUG_ELEM_TRACE_ON, PUG_TRACE_ON_OVERFLOW),
        other(3, PUG_ELEM_NO_SYNC, PUG_UNSYNC_BAD_PACKET),
        other(4, PUG_ELEM_NO_SYNC, PUG_UNSYNC_DISCARD),
    };
    struct pug_evidence seen = examine(elements, COUNT(elements), false);
    assert_int_equal(seen.overflows, 1);
    assert_int_equal(seen.no_syncs, 2);
    assert_int_equal(pug_evidence_contradictions(&seen), 0);
}

/** Elements between two ranges explain that they do not join. */
static void what_explains_a_gap(void **state)
{
    static const uint8_t types[] = {PUG_ELEM_TRACE_ON,      PUG_ELEM_NO_SYNC,
                                    PUG_ELEM_ADDR_NACC,     PUG_ELEM_ADDR_UNKNOWN,
                                    PUG_ELEM_EXCEPTION_RET, PUG_ELEM_I_RANGE_NOPATH};
    (void)state;
    for (size_t i = 0; i < COUNT(types); i++) {
        const struct pug_element elements[] = {
            CALL(1), other(2, (enum pug_element_type)types[i], 0), BACK(3)};
        struct pug_evidence seen = examine(elements, 3, false);
        assert_int_equal(pug_evidence_contradictions(&seen), 0);
    }
    const struct pug_element context[] = {CALL(1), other(2, PUG_ELEM_PE_CONTEXT, 0), BACK(3)};
    struct pug_evidence seen = examine(context, 3, false);
    assert_int_equal(pug_evidence_contradictions(&seen), 1);
}

/** An exception may return to the instruction that it came with, or into the next one. */
static void exceptions_in_place(void **state)
{
    (void)state;
    for (uint64_t address = 0x1000; address <= 0x100c; address += 2) {
        struct pug_element elements[] = {range(7, 0x1000, 0x1008, PUG_INSTR_OTHER, 0, true),
                                         other(8, PUG_ELEM_EXCEPTION, 0)};
        elements[1].flags = PUG_ELEM_RET_ADDR;
        elements[1].end = address;
        struct pug_evidence seen = examine(elements, 2, false);
        assert_int_equal(pug_evidence_contradictions(&seen), address > 0x100a);
    }
}

/** Some returns go where no call is; if most do, and to many places, the program is another. */
/** The end alone proves nothing, wherever it is, and whatever comes with it; a range does. */
static void the_end_tells_nothing(void **state)
{
    const struct pug_element ends[] = {other(100000, PUG_ELEM_EO_TRACE, 0),
                                       other(100000, PUG_ELEM_EO_TRACE, 0)};
    struct pug_element both[40];
    (void)state;
    for (size_t i = 0; i + 1 < COUNT(both); i++)
        both[i] = BACK(100000 + i);
    both[COUNT(both) - 1] = other(100100, PUG_ELEM_EO_TRACE, 0);
    assert_int_equal(examine(ends, 1, false).told, 0);
    assert_int_equal(examine(ends, COUNT(ends), false).told, 0);
    assert_int_equal(examine(ends, COUNT(ends), true).told, 0);
    assert_true(examine(both, COUNT(both), false).told > 0);
    assert_true(examine(both, COUNT(both), true).told > 0);
}

/**
 * One element among many of another source that are not looked at: the source is known by it, and
 * it is looked at where it is of an earlier place in which all are.
 */
static void one_among_many(uint64_t index, uint64_t looked)
{
    struct pug_image *image = pug_image_new();
    struct pug_diagnosis *diagnosis = pug_diagnosis_new(image);
    const struct pug_evidence *evidence;
    struct pug_element many[200];
    assert_non_null(diagnosis);
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = BACK(129 * 4096 + i);
    many[77].source = 0x11;
    many[77].index = index;
    struct pug_diagnosis_part *part = pug_diagnosis_begin(diagnosis);
    assert_non_null(part);
    pug_diagnosis_elements(part, many, COUNT(many));
    pug_diagnosis_take(diagnosis, part);
    for (size_t n = 0; n < 2; n++) {
        assert_true(pug_diagnosis_evidence(diagnosis, n, &evidence));
        assert_int_equal(evidence->source, 0x10 + n);
        assert_true(evidence->told > 0);
        assert_int_equal(evidence->looked, n * looked);
    }
    pug_diagnosis_free(diagnosis);
    pug_image_free(image);
}

static void no_source_is_passed_over(void **state)
{
    (void)state;
    one_among_many(129 * 4096 + 77, 0);
    one_among_many(129 * 4096 - 1, 1);
}

static void returns_count_together(void **state)
{
    struct pug_element elements[200];
    (void)state;
    for (unsigned few = 0; few < 2; few++) {
        for (unsigned i = 0; i < 100; i++) {
            uint64_t to = 0x2000 + (few ? i % 4 : i) * 0x40;
            elements[2 * i] = RETURN(300 * i);
            elements[2 * i + 1] = range(300 * i + 1, to, to + 4, PUG_INSTR_BR, 0, true);
        }
        struct pug_evidence seen = examine(elements, 200, false);
        assert_true(seen.counts[PUG_CONTRA_RETURN] > 10);
        assert_int_equal(pug_evidence_contradictions(&seen) > 0, !few);
        assert_int_equal(pug_evidence_first(&seen), few ? PUG_CONTRADICTIONS : PUG_CONTRA_RETURN);
    }
}

/* More pages than there is room for: which are kept, and their counts, do not depend on the parts.
 */
static void memory_that_is_missing(void **state)
{
    enum { PAGES = PUG_MISSING_PAGES + 50, TIMES = 3 };
    static struct pug_element elements[PAGES * TIMES];
    uint64_t sums[2] = {0};
    (void)state;
    for (unsigned i = 0; i < PAGES * TIMES; i++) {
        elements[i] = other(UINT64_C(1) << 20 | i, PUG_ELEM_ADDR_NACC, 0);
        elements[i].start = 0x400000 + (i % PAGES) * 0x1000 + i % 0x1000;
    }
    for (unsigned apart = 0; apart < 2; apart++) {
        struct pug_evidence seen = examine(elements, PAGES * TIMES, apart);
        assert_int_equal(seen.missing, PAGES * TIMES);
        assert_int_equal(seen.page_count, PUG_MISSING_PAGES);
        for (unsigned i = 0; i < seen.page_count; i++) {
            assert_int_equal(seen.pages[i].count, TIMES);
            sums[apart] += seen.pages[i].address;
        }
    }
    assert_int_equal(sums[0], sums[1]);
}

/** Of two programs that run in turns each is right by itself, and nothing is concluded across. */
static void another_program_begins_anew(void **state)
{
    static const uint32_t nops[] = {LE32(0xd503201f), LE32(0xd503201f), LE32(0xd503201f)};
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    struct pug_image *first = pug_image_new(), *second = pug_image_new();
    const struct pug_evidence *seen;
    (void)state;
    assert_int_equal(pug_image_add_buffer(first, &anywhere, 0x1000, code, sizeof(code)), PUG_OK);
    assert_int_equal(pug_image_add_buffer(second, &anywhere, 0x1000, nops, sizeof(nops)), PUG_OK);
    struct pug_diagnosis *diagnosis = pug_diagnosis_new(NULL);
    struct pug_diagnosis_part *part = pug_diagnosis_begin(diagnosis);
    const struct pug_element there[] = {CALL(1), RETURN(2)};
    const struct pug_element here[] = {range(3, 0x1000, 0x1004, PUG_INSTR_OTHER, 0, true)};
    const struct pug_element back[] = {BACK(4), range(5, 0x1000, 0x1004, PUG_INSTR_OTHER, 0, true)};
    pug_diagnosis_image(part, first);
    pug_diagnosis_elements(part, there, COUNT(there));
    pug_diagnosis_image(part, second);
    pug_diagnosis_elements(part, here, COUNT(here));
    pug_diagnosis_image(part, first);
    pug_diagnosis_elements(part, back, COUNT(back));
    pug_diagnosis_image(part, first); /* no other one: 1004 and 1000 are a contradiction */
    pug_diagnosis_elements(part, here, COUNT(here));
    pug_diagnosis_take(diagnosis, part);
    assert_true(pug_diagnosis_evidence(diagnosis, 0, &seen));
    assert_int_equal(seen->looked, 6);
    assert_int_equal(seen->counts[PUG_CONTRA_GAP], 1);
    assert_int_equal(pug_evidence_contradictions(seen), 1);
    pug_diagnosis_free(diagnosis);
    pug_image_free(first);
    pug_image_free(second);
}

/**
 * An indirect branch was executed, and execution continues at a place that the trace does not give.
 */
static void an_untold_target_contradicts(void **state)
{
    (void)state;
    const struct pug_element untold[] = {RETURN(1), other(2, PUG_ELEM_ADDR_UNKNOWN, 0), CALL(3)};
    const struct pug_evidence seen = examine(untold, COUNT(untold), false);
    assert_int_equal(seen.counts[PUG_CONTRA_UNTOLD], 1);
    assert_int_equal(seen.first[PUG_CONTRA_UNTOLD].index, 2);
    assert_int_equal(seen.first[PUG_CONTRA_UNTOLD].address, 0x1014);
    assert_int_equal(pug_evidence_contradictions(&seen), 1);
    /* after a loss, or without a branch, it is nothing new */
    const struct pug_element lost[] = {RETURN(1), other(2, PUG_ELEM_TRACE_ON, 0),
                                       other(3, PUG_ELEM_ADDR_UNKNOWN, 0), BACK(4),
                                       other(5, PUG_ELEM_ADDR_UNKNOWN, 0)};
    const struct pug_evidence nothing = examine(lost, COUNT(lost), false);
    assert_int_equal(nothing.counts[PUG_CONTRA_UNTOLD], 0);
}

/** A call whose function returns into the code that leads to the call. */
static void a_return_before_its_call_contradicts(void **state)
{
    (void)state;
    const struct pug_element before[] = {
        CALL(1), RETURN(2), range(3, 0x1004, 0x1008, PUG_INSTR_BR, PUG_SUB_BR_LINK, true),
        RETURN(4)};
    const struct pug_evidence seen = examine(before, COUNT(before), false);
    assert_int_equal(seen.counts[PUG_CONTRA_CALLER], 1);
    assert_int_equal(seen.first[PUG_CONTRA_CALLER].address, 0x1004);
    const struct pug_element behind[] = {CALL(1), RETURN(2), BACK(3), CALL(4), RETURN(5), BACK(6)};
    const struct pug_evidence right = examine(behind, COUNT(behind), false);
    assert_int_equal(right.counts[PUG_CONTRA_CALLER], 0);
    assert_int_equal(right.told_returns, 2);
    assert_int_equal(right.undefined, 0);
}

/** Undefined encodings that ran are counted, and are no contradiction. */
static void undefined_instructions_are_counted(void **state)
{
    (void)state;
    static const uint32_t changed[] = {LE32(0xd503201f), LE32(0x07fffffd), LE32(0x17fffffe)};
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    struct pug_image *image = pug_image_new();
    const struct pug_evidence *seen;
    assert_int_equal(pug_image_add_buffer(image, &anywhere, 0x1000, changed, sizeof(changed)),
                     PUG_OK);
    struct pug_diagnosis *diagnosis = pug_diagnosis_new(image);
    struct pug_diagnosis_part *part = pug_diagnosis_begin(diagnosis);
    for (unsigned i = 0; i < 3; i++) { /* of a window each range counts once */
        const struct pug_element run = range(7 + i, 0x1000, 0x100c, PUG_INSTR_BR, 0, true);
        pug_diagnosis_elements(part, &run, 1);
    }
    pug_diagnosis_take(diagnosis, part);
    assert_true(pug_diagnosis_evidence(diagnosis, 0, &seen));
    assert_int_equal(seen->undefined, 1);
    assert_int_equal(seen->first_undefined.index, 7);
    assert_int_equal(seen->first_undefined.address, 0x1004);
    assert_int_equal(seen->first_undefined.opcode, 0x07fffffd);
    pug_diagnosis_free(diagnosis);
    pug_image_free(image);
}

/** A long trace is looked at in places, and nothing that stands out is passed over. */
static void long_traces_are_sampled(void **state)
{
    enum { BATCH = 64 };
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    struct pug_image *image = pug_image_new();
    (void)state;
    assert_int_equal(pug_image_add_buffer(image, &anywhere, 0x1000, code, sizeof(code)), PUG_OK);
    struct pug_diagnosis *diagnosis = pug_diagnosis_new(image);
    struct pug_diagnosis_part *part = pug_diagnosis_begin(diagnosis);
    uint64_t total = 0;
    for (uint64_t index = 0; index < UINT64_C(1) << 20; index += BATCH, total += BATCH) {
        struct pug_element elements[BATCH];
        for (unsigned i = 0; i < BATCH; i++)
            elements[i] = i % 3 == 0   ? CALL(index + i)
                          : i % 3 == 1 ? RETURN(index + i)
                                       : BACK(index + i);
        if (index == 1 << 19)
            elements[5] = other(index + 5, PUG_ELEM_ADDR_NACC, 0);
        if (index == 1 << 18)
            elements[6] = other(index + 6, PUG_ELEM_NO_SYNC, PUG_UNSYNC_BAD_IMAGE);
        pug_diagnosis_elements(part, elements, BATCH);
    }
    pug_diagnosis_take(diagnosis, part);
    const struct pug_evidence *seen;
    assert_true(pug_diagnosis_evidence(diagnosis, 0, &seen));
    assert_true(seen->looked > total / 20 && seen->looked < total / 12);
    assert_int_equal(seen->missing, 1);
    assert_int_equal(seen->counts[PUG_CONTRA_DECODER], 1);
    pug_diagnosis_free(diagnosis);
    pug_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_right_program_has_none),
        cmocka_unit_test(each_kind_is_found),
        cmocka_unit_test(what_ran_long_before_says_nothing),
        cmocka_unit_test(it_is_said_where_ranges_are_looked_at),
        cmocka_unit_test(instructions_are_executed_whole),
        cmocka_unit_test(nothing_is_kept_over_windows),
        cmocka_unit_test(returns_that_a_stack_would_know_are_counted),
        cmocka_unit_test(losses_are_counted),
        cmocka_unit_test(what_explains_a_gap),
        cmocka_unit_test(exceptions_in_place),
        cmocka_unit_test(the_end_tells_nothing),
        cmocka_unit_test(no_source_is_passed_over),
        cmocka_unit_test(returns_count_together),
        cmocka_unit_test(memory_that_is_missing),
        cmocka_unit_test(another_program_begins_anew),
        cmocka_unit_test(an_untold_target_contradicts),
        cmocka_unit_test(a_return_before_its_call_contradicts),
        cmocka_unit_test(undefined_instructions_are_counted),
        cmocka_unit_test(long_traces_are_sampled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
