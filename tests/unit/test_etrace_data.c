// SPDX-License-Identifier: MIT
/** @file Random data accesses with random options, encoded and decoded: each comes back, in order.
 */
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"
#include "recorder/encapsulation.h"
#include "recorder/etrace.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

#define ROUNDS   300
#define ACCESSES 400
#define PENDING  4u

struct round {
    struct rec_random random;
    struct rec_etrace_data encoder;
    struct rec_encapsulation wrap;
    struct rec_bytes trace;
    struct pug_etrace_data accesses[ACCESSES];
    size_t count;
    struct pug_etrace_data pending[PENDING]; /* requests, by lrid */
    bool is_pending[PENDING];
    const char *compression;
    uint64_t seed;
    size_t at; /* next to come back */
    bool operand_seen;
};

static uint32_t below(struct round *round, uint32_t limit)
{
    return rec_random_below(&round->random, limit);
}

static void put(void *context, bool data, const uint8_t *payload, unsigned size)
{
    struct round *round = context;
    assert_true(data && size <= 31);
    rec_encapsulate(&round->wrap, 0, 0, NULL, payload, size);
}

static void choose(struct round *round)
{
    static const char *const words[] = {"full", "xor", "diff", "best"};
    struct rec_etrace_data_options *o = &round->encoder.options;
    unsigned compression = below(round, 4);
    o->xlen = below(round, 2) ? 64 : 32;
    o->data_width = 64;
    o->daddress_width = 64;
    o->lrid_width = 2;
    o->mma_cas = below(round, 2);
    o->no_address = below(round, 4) == 0;
    o->no_value = !o->no_address && below(round, 4) == 0;
    o->split = below(round, 3) == 0;
    o->full = compression == 0;
    o->xor_only = compression == 1;
    o->difference_only = compression == 2;
    o->diff_bits = compression < 3 && below(round, 2) ? 1 : 2;
    round->compression = words[compression];
}

static uint64_t mask(unsigned size)
{
    return size == 3 ? UINT64_MAX : (UINT64_C(1) << (8u << size)) - 1;
}

static uint64_t any_value(struct round *round, unsigned size)
{
    uint64_t value = rec_random(&round->random) >> below(round, 64);
    return (below(round, 4) ? value : ~value) & mask(size);
}

static bool is_csr(unsigned access)
{
    return access >= PUG_ACCESS_CSR_RW && access <= PUG_ACCESS_CSR_RC;
}

static bool is_atomic(unsigned access)
{
    return access >= PUG_ACCESS_SWAP && access <= PUG_ACCESS_MIN;
}

static struct pug_etrace_data any_access(struct round *round)
{
    static const uint8_t kinds[] = {0, 0, 0, 0, 1, 1, 1, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 7};
    const struct rec_etrace_data_options *o = &round->encoder.options;
    struct pug_etrace_data data = {0};
    bool both = !o->no_address && !o->no_value;
    do
        data.access = kinds[below(round, sizeof(kinds))];
    while ((data.access == PUG_ACCESS_CAS_FAIL && !(o->mma_cas && both)) ||
           (o->no_address && (is_csr(data.access) || data.access == PUG_ACCESS_SC_FAIL)));
    data.size = (uint8_t)(is_csr(data.access) ? (o->xlen == 64 ? 3 : 2)
                          : data.access > 6   ? 2 + below(round, 2)
                                              : below(round, 4));
    if (is_csr(data.access)) {
        data.address = below(round, 4096);
    } else {
        data.address = 0x80000000u + below(round, 4096);
        data.unaligned = data.access <= PUG_ACCESS_STORE && data.address % (1u << data.size);
        if (!data.unaligned)
            data.address &= ~(UINT64_C(0)) << data.size;
    }
    data.has_address = !o->no_address;
    data.has_value =
        !o->no_value && data.access != PUG_ACCESS_SC_FAIL && data.access != PUG_ACCESS_CAS_FAIL;
    bool operands = is_atomic(data.access) || data.access == PUG_ACCESS_CAS_FAIL ||
                    (is_csr(data.access) && data.address >> 10 != 3);
    data.has_operand = operands && !o->no_value;
    data.value = any_value(round, data.size);
    data.operand = any_value(round, data.size);
    return data;
}

/** The data of a request that waits, some time later; an error has none. */
static void answer(struct round *round, unsigned lrid)
{
    struct pug_etrace_data *data = &round->pending[lrid];
    if (!round->is_pending[lrid])
        return;
    round->is_pending[lrid] = false;
    rec_etrace_reply(&round->encoder, data, put, round);
}

static void record(struct round *round)
{
    while (round->count < ACCESSES) {
        struct pug_etrace_data data = any_access(round);
        const struct rec_etrace_data_options *o = &round->encoder.options;
        bool both = !o->no_address && !o->no_value;
        bool splits = both && (data.access == PUG_ACCESS_LOAD || is_atomic(data.access));
        if (o->mma_cas && !o->no_value && is_atomic(data.access))
            splits = true;
        if (o->split && splits) {
            data.split = true;
            data.lrid = (uint16_t)below(round, PENDING);
            data.has_value = below(round, 10) != 0;
            answer(round, data.lrid);
            round->pending[data.lrid] = data;
            round->is_pending[data.lrid] = true;
        }
        rec_etrace_access(&round->encoder, &data, put, round);
        round->accesses[round->count++] = data;
        answer(round, below(round, PENDING));
    }
    for (unsigned i = 0; i < PENDING; i++)
        answer(round, i);
}

static void check(struct round *round, const struct pug_element *e)
{
    assert_true(round->at < round->count);
    const struct pug_etrace_data *data = &round->accesses[round->at];
    bool operand = e->reason & PUG_ACCESS_OPERAND;
    bool has_address = e->flags & PUG_ELEM_HAS_ADDRESS;
    if ((e->reason & 15) != data->access || e->last_size != 1u << data->size ||
        has_address != data->has_address || (has_address && e->start != data->address))
        fail_msg("seed %" PRIu64 ", access %zu: kind %u size %u address %" PRIx64
                 ", got %u %u %" PRIx64,
                 round->seed, round->at, data->access, 1u << data->size, data->address, e->reason,
                 e->last_size, e->start);
    if (operand) {
        assert_true(data->has_operand && !round->operand_seen);
        if (e->value != data->operand)
            fail_msg("seed %" PRIu64 ", access %zu: operand %" PRIx64 ", got %" PRIx64, round->seed,
                     round->at, data->operand, e->value);
        round->operand_seen = true;
        if (data->has_value)
            return;
    } else {
        assert_true(round->operand_seen == data->has_operand);
        assert_int_equal(e->type, data->has_value ? PUG_ELEM_DATA_VALUE : PUG_ELEM_DATA_ADDRESS);
        if (data->has_value && e->value != data->value)
            fail_msg("seed %" PRIu64 ", access %zu: value %" PRIx64 ", got %" PRIx64, round->seed,
                     round->at, data->value, e->value);
    }
    round->operand_seen = false;
    round->at++;
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    (void)taken;
    for (size_t i = 0; i < count; i++)
        if (elements[i].type == PUG_ELEM_DATA_ADDRESS || elements[i].type == PUG_ELEM_DATA_VALUE)
            check(context, &elements[i]);
        else
            assert_true(elements[i].type == PUG_ELEM_NO_SYNC ||
                        elements[i].type == PUG_ELEM_EO_TRACE);
    return PUG_RESP_CONT;
}

static void decode(struct round *round)
{
    const struct rec_etrace_data_options *o = &round->encoder.options;
    const struct pug_setting items[] = {
        {.name = "xlen", .value = o->xlen},
        {.name = "only_data", .value = 1},
        {.name = "data_width_p", .value = o->data_width},
        {.name = "daddress_width_p", .value = o->daddress_width},
        {.name = "lrid_width_p", .value = o->lrid_width},
        {.name = "diff_bits", .value = o->diff_bits},
        {.name = "noaddr", .value = o->no_address},
        {.name = "nodata", .value = o->no_value},
        {.name = "split", .value = o->split},
        {.name = "format_set", .text = o->mma_cas ? "mmacas" : "2.0"},
        {.name = "compression", .text = round->compression},
    };
    struct pug_settings settings = {.items = items, .count = sizeof(items) / sizeof(items[0])};
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_tree_config config = {
        .transport = "encapsulation", .settings = settings, .log = log};
    struct pug_source_config source = {.protocol = "E-Trace", .settings = settings, .decode = true};
    struct pug_tree *tree;
    size_t used;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    pug_tree_on_elements(tree, on_elements, round);
    pug_tree_data(tree, 0, round->trace.data, round->trace.size, &used);
    pug_tree_end(tree);
    assert_int_equal(round->at, round->count);
    assert_int_equal(pug_log_errors(log) + pug_log_warnings(log), 0);
    pug_tree_free(tree);
    pug_log_free(log);
}

static void test_round_trip(void **state)
{
    static struct round round;
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        round = (struct round){.random = {seed}, .seed = seed};
        round.wrap.out = &round.trace;
        choose(&round);
        record(&round);
        decode(&round);
        rec_bytes_free(&round.trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
