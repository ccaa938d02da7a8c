// SPDX-License-Identifier: MIT
/**
 * @file ETMv3 and PTM packets: what the recorder writes the reader gives back, whatever the
 * packets, the registers and the pieces.
 */
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/settings.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"
#include "recorder/etmv3.h"
#include "recorder/ptm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define PACKETS 400u
#define SEEDS   60u

/** What one packet must say. Atoms are compared as one sequence: how they are packed is free. */
struct said {
    uint64_t type; /* as wide as the words: no holes, so that it can be compared at once */
    uint64_t words[5];
};

struct trip {
    struct rec_random random;
    const char *protocol;
    struct pug_setting registers[6];
    struct rec_bytes trace;
    struct said wanted[PACKETS + 2], got[4 * PACKETS];
    unsigned wanted_count, got_count;
    uint8_t wanted_atoms[8 * PACKETS], got_atoms[8 * PACKETS]; /* 'W', 'E', 'N' */
    unsigned wanted_atom_count, got_atom_count;
    struct rec_etmv3 etmv3;
    struct rec_ptm ptm;
    bool cycles, m_profile;
};

static void want(struct trip *trip, uint8_t type, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                 uint64_t e)
{
    trip->wanted[trip->wanted_count++] = (struct said){type, {a, b, c, d, e}};
}

static uint32_t some(struct trip *trip, uint32_t below)
{
    return rec_random_below(&trip->random, below);
}

/** A number of any magnitude. */
static uint64_t number(struct trip *trip)
{
    return rec_random(&trip->random) >> some(trip, 64);
}

static uint32_t control(const struct trip *trip)
{
    return (uint32_t)trip->registers[0].value;
}

static uint32_t context_id(struct trip *trip)
{
    static const uint32_t masks[4] = {0, 0xff, 0xffff, 0xffffffff};
    return (uint32_t)number(trip) & masks[control(trip) >> 14 & 3];
}

static void choose_registers(struct trip *trip, uint32_t id, unsigned versions)
{
    trip->cycles = some(trip, 2);
    trip->m_profile = some(trip, 4) == 0;
    uint32_t etmcr = some(trip, 4) << 2 | (trip->cycles ? 1u << 12 : 0) | some(trip, 4) << 14;
    trip->registers[0] = (struct pug_setting){"ETMCR", etmcr, NULL};
    trip->registers[1] =
        (struct pug_setting){"ETMIDR", id | some(trip, versions) << 4 | some(trip, 2) << 20, NULL};
    trip->registers[2] = (struct pug_setting){"ETMCCER", 1u << 26 | some(trip, 2) << 29, NULL};
    trip->registers[3] = (struct pug_setting){"ETMTRACEIDR", 0x10, NULL};
    trip->registers[4] =
        (struct pug_setting){"profile", trip->m_profile ? PUG_PROFILE_M : PUG_PROFILE_A, NULL};
    trip->registers[5] = (struct pug_setting){"arch", PUG_ARCH_V7, NULL};
}

static uint32_t some_address(struct trip *trip, uint8_t isa)
{
    uint32_t address = (uint32_t)number(trip);
    return isa == PUG_ISA_A32 ? address & ~3u : isa == PUG_ISA_JAZELLE ? address : address & ~1u;
}

static uint64_t timestamp_mask(const struct trip *trip)
{
    bool wide = trip->registers[2].value >> 29 & 1;
    if (strcmp(trip->protocol, "PTM") == 0)
        wide = wide && (trip->registers[1].value >> 4 & 0xf);
    return wide ? UINT64_MAX : (UINT64_C(1) << 48) - 1;
}

/* ---- ETMv3 ---- */

static uint8_t some_isa(struct trip *trip)
{
    static const uint8_t sets[] = {PUG_ISA_A32, PUG_ISA_T32, PUG_ISA_TEE, PUG_ISA_JAZELLE};
    return sets[some(trip, 4)];
}

static void etmv3_atom(struct trip *trip)
{
    bool executed = some(trip, 2);
    uint32_t cycles = trip->cycles ? some(trip, 4) : 0;
    for (uint32_t i = 0; i < cycles; i++)
        trip->wanted_atoms[trip->wanted_atom_count++] = 'W';
    trip->wanted_atoms[trip->wanted_atom_count++] = executed ? 'E' : 'N';
    rec_etmv3_atom(&trip->etmv3, executed, cycles);
}

static void etmv3_branch(struct trip *trip)
{
    bool is_exception = some(trip, 2), hyp = trip->etmv3.hyp;
    uint8_t isa = some(trip, 3) ? trip->etmv3.isa : some_isa(trip);
    uint32_t target = some_address(trip, isa);
    struct rec_etmv3_exception exception = {
        .number = (uint16_t)(1 + some(trip, trip->m_profile ? 511 : 15)),
        .resume = (uint8_t)(trip->m_profile ? some(trip, 16) : 0),
        .cancel = some(trip, 2),
        .non_secure = some(trip, 2),
        .hyp = some(trip, 4) ? hyp : !hyp,
    };
    rec_etmv3_branch(&trip->etmv3, target, isa, is_exception ? &exception : NULL);
    if (!is_exception)
        want(trip, PUG_ETMV3_BRANCH_ADDRESS, target, isa, 0, 0, 0);
    else
        want(trip, PUG_ETMV3_BRANCH_ADDRESS, target, isa, exception.number,
             (exception.cancel ? 1u : 0) | (exception.non_secure ? 2u : 0) |
                 (exception.hyp ? 4u : 0),
             exception.resume);
}

static void etmv3_isync(struct trip *trip)
{
    struct rec_etmv3_isync isync = {
        .isa = some_isa(trip),
        .reason = (uint8_t)some(trip, 4),
        .non_secure = some(trip, 2),
        .hyp = some(trip, 2),
        .has_cycles = some(trip, 2),
        .cycles = (uint32_t)number(trip),
        .context_id = context_id(trip),
        .has_lsip = some(trip, 4) == 0,
    };
    if (isync.isa == PUG_ISA_TEE && (trip->registers[1].value >> 4 & 0xf) < 3)
        isync.isa = PUG_ISA_T32;
    if (isync.isa == PUG_ISA_T32 || isync.isa == PUG_ISA_TEE)
        isync.has_lsip = false; /* it would tell AltISA by exception bytes */
    isync.address = some_address(trip, isync.isa);
    if (isync.isa == PUG_ISA_JAZELLE)
        isync.address &= ~1u; /* bit 0 says Thumb */
    isync.lsip = isync.has_lsip ? some_address(trip, isync.isa) : 0;
    rec_etmv3_isync(&trip->etmv3, &isync);
    want(trip, isync.has_cycles ? PUG_ETMV3_I_SYNC_CYCLE : PUG_ETMV3_I_SYNC, isync.address,
         isync.isa, isync.reason | (isync.non_secure ? 8u : 0) | (isync.hyp ? 16u : 0),
         isync.context_id | (uint64_t)isync.lsip << 32, isync.has_cycles ? isync.cycles : 0);
}

static void etmv3_data(struct trip *trip)
{
    bool addresses = control(trip) & 8, values = control(trip) & 4, has_address = some(trip, 2);
    uint32_t address = (uint32_t)number(trip), value = values ? (uint32_t)number(trip) : 0;
    const uint32_t *told = has_address ? &address : NULL;
    uint64_t seen = has_address && addresses ? address : 0;
    uint8_t tag = (uint8_t)(1 + some(trip, 3));
    if (!addresses && !values)
        return;
    switch (some(trip, values ? 6 : 4)) {
    case 0:
        rec_etmv3_data(&trip->etmv3, told, value);
        want(trip, PUG_ETMV3_NORM_DATA, seen, value, 0, 0, 0);
        break;
    case 1:
        rec_etmv3_data_not_traced(&trip->etmv3, told);
        want(trip, PUG_ETMV3_VAL_NOT_TRACED, seen, 0, 0, 0, 0);
        break;
    case 2:
        rec_etmv3_data_placeholder(&trip->etmv3, tag, told);
        want(trip, PUG_ETMV3_OOO_ADDR_PLC, seen, 0, tag, 0, 0);
        break;
    case 3:
        rec_etmv3_plain(&trip->etmv3, PUG_ETMV3_DATA_SUPPRESSED);
        want(trip, PUG_ETMV3_DATA_SUPPRESSED, 0, 0, 0, 0, 0);
        break;
    case 4:
        rec_etmv3_data_value(&trip->etmv3, tag, value);
        want(trip, PUG_ETMV3_OOO_DATA, 0, value, tag, 0, 0);
        break;
    default:
        rec_etmv3_plain(&trip->etmv3, PUG_ETMV3_STORE_FAIL);
        want(trip, PUG_ETMV3_STORE_FAIL, 0, 0, 0, 0, 0);
    }
}

static void etmv3_other(struct trip *trip)
{
    static const uint8_t plain[] = {PUG_ETMV3_TRIGGER, PUG_ETMV3_IGNORE, PUG_ETMV3_EXCEPTION_ENTRY,
                                    PUG_ETMV3_EXCEPTION_EXIT};
    uint64_t value = number(trip);
    bool changed = some(trip, 2);
    uint32_t id = context_id(trip);
    uint8_t type = plain[some(trip, 4)];
    switch (some(trip, 6)) {
    case 0:
        value &= timestamp_mask(trip);
        rec_etmv3_timestamp(&trip->etmv3, value, changed);
        want(trip, PUG_ETMV3_TIMESTAMP, value, changed, 0, 0, 0);
        break;
    case 1:
        rec_etmv3_vmid(&trip->etmv3, (uint8_t)value);
        want(trip, PUG_ETMV3_VMID, (uint8_t)value, 0, 0, 0, 0);
        break;
    case 2:
        rec_etmv3_cycle_count(&trip->etmv3, (uint32_t)value);
        want(trip, PUG_ETMV3_CYCLE_COUNT, (uint32_t)value, 0, 0, 0, 0);
        break;
    case 3:
        if (!(control(trip) >> 14 & 3))
            break;
        rec_etmv3_context_id(&trip->etmv3, id);
        want(trip, PUG_ETMV3_CONTEXT_ID, id, 0, 0, 0, 0);
        break;
    case 4:
        rec_etmv3_a_sync(&trip->etmv3);
        want(trip, PUG_ETMV3_A_SYNC, 0, 0, 0, 0, 0);
        break;
    default:
        rec_etmv3_plain(&trip->etmv3, (enum pug_etmv3_packet_type)type);
        want(trip, type, 0, 0, 0, 0, 0);
    }
}

static void record_etmv3(struct trip *trip)
{
    choose_registers(trip, 0x4100f200, 6);
    rec_etmv3_begin(&trip->etmv3,
                    &(struct rec_etmv3_config){.control = control(trip),
                                               .id = (uint32_t)trip->registers[1].value,
                                               .code = (uint32_t)trip->registers[2].value,
                                               .m_profile = trip->m_profile},
                    &trip->trace);
    rec_etmv3_a_sync(&trip->etmv3);
    want(trip, PUG_ETMV3_A_SYNC, 0, 0, 0, 0, 0);
    etmv3_isync(trip);
    while (trip->wanted_count < PACKETS) {
        uint32_t what = some(trip, 10);
        if (what < 4 && trip->wanted_atom_count < 6 * PACKETS)
            etmv3_atom(trip);
        else if (what < 6)
            etmv3_branch(trip);
        else if (what < 7)
            etmv3_isync(trip);
        else if (what < 8)
            etmv3_data(trip);
        else
            etmv3_other(trip);
    }
    rec_etmv3_flush(&trip->etmv3);
}

static void got_etmv3(struct trip *trip, const struct pug_etmv3_packet *p)
{
    struct said said = {.type = p->type};
    switch (p->type) {
    case PUG_ETMV3_P_HDR:
        for (unsigned i = 0; i < p->cycle_count && p->format != 1; i++)
            trip->got_atoms[trip->got_atom_count++] = 'W';
        for (unsigned i = 0; i < p->atoms.count; i++) {
            if (p->format == 1 && trip->cycles)
                trip->got_atoms[trip->got_atom_count++] = 'W';
            trip->got_atoms[trip->got_atom_count++] = p->atoms.bits >> i & 1 ? 'E' : 'N';
        }
        return;
    case PUG_ETMV3_BRANCH_ADDRESS:
        said.words[0] = p->address.value;
        said.words[1] = p->isa;
        if (!p->exception.present || p->exception.number == 0)
            break;
        said.words[2] = p->exception.number;
        said.words[3] = (p->exception.cancel ? 1u : 0) | (p->context.non_secure ? 2u : 0) |
                        (p->context.hyp ? 4u : 0);
        said.words[4] = p->exception.resume;
        break;
    case PUG_ETMV3_I_SYNC:
    case PUG_ETMV3_I_SYNC_CYCLE:
        said = (struct said){
            p->type,
            {p->address.value, p->isa,
             p->isync.reason | (p->context.non_secure ? 8u : 0) | (p->context.hyp ? 16u : 0),
             (p->context.updated_context_id ? p->context.context_id : 0) |
                 (p->isync.has_lsip ? p->isync.lsip_address << 32 : 0),
             p->cycle_count}};
        break;
    case PUG_ETMV3_TIMESTAMP:
        said.words[0] = p->timestamp;
        said.words[1] = p->clock_changed;
        break;
    case PUG_ETMV3_VMID: said.words[0] = p->context.vmid; break;
    case PUG_ETMV3_CYCLE_COUNT: said.words[0] = p->cycle_count; break;
    case PUG_ETMV3_CONTEXT_ID: said.words[0] = p->context.context_id; break;
    case PUG_ETMV3_NORM_DATA:
    case PUG_ETMV3_VAL_NOT_TRACED:
    case PUG_ETMV3_OOO_ADDR_PLC:
    case PUG_ETMV3_OOO_DATA:
        said.words[0] = p->data.updated_address ? p->data.address.value : 0;
        said.words[1] = p->data.value;
        said.words[2] = p->data.tag;
        break;
    default: break;
    }
    trip->got[trip->got_count++] = said;
}

/* ---- PTM ---- */

/** A cycle count as far as a packet carries one. */
static uint32_t cycles(struct trip *trip)
{
    return trip->cycles ? (uint32_t)number(trip) : 0;
}

static void ptm_branch(struct trip *trip)
{
    bool is_exception = some(trip, 2), hyp = trip->ptm.hyp;
    uint8_t isa = some(trip, 3) ? trip->ptm.isa : some_isa(trip);
    uint32_t target = some_address(trip, isa), count = cycles(trip);
    struct rec_ptm_exception exception = {.number = (uint16_t)(1 + some(trip, 511)),
                                          .non_secure = some(trip, 2),
                                          .hyp = some(trip, 4) ? hyp : !hyp};
    rec_ptm_branch(&trip->ptm, target, isa, is_exception ? &exception : NULL, count);
    if (is_exception)
        want(trip, PUG_PTM_BRANCH_ADDRESS, target, isa, exception.number,
             (exception.non_secure ? 2u : 0) | (exception.hyp ? 4u : 0), count);
    else
        want(trip, PUG_PTM_BRANCH_ADDRESS, target, isa, 0, 0, count);
}

static void ptm_isync(struct trip *trip)
{
    static const uint8_t sets[] = {PUG_ISA_A32, PUG_ISA_T32, PUG_ISA_TEE};
    struct rec_ptm_isync isync = {
        .isa = sets[some(trip, 3)],
        .reason = (uint8_t)some(trip, 4),
        .non_secure = some(trip, 2),
        .hyp = some(trip, 2),
        .cycles = cycles(trip),
        .context_id = context_id(trip),
    };
    isync.address = some_address(trip, isync.isa);
    rec_ptm_isync(&trip->ptm, &isync);
    want(trip, PUG_PTM_I_SYNC, isync.address, isync.isa,
         isync.reason | (isync.non_secure ? 8u : 0) | (isync.hyp ? 16u : 0), isync.context_id,
         isync.reason ? isync.cycles : 0);
}

static void ptm_other(struct trip *trip)
{
    static const uint8_t plain[] = {PUG_PTM_TRIGGER, PUG_PTM_IGNORE, PUG_PTM_EXCEPTION_RET};
    uint64_t value = number(trip);
    bool changed = some(trip, 2);
    uint32_t id = context_id(trip), count = cycles(trip);
    uint8_t type = plain[some(trip, 3)], isa = some_isa(trip);
    uint32_t address = some_address(trip, isa);
    switch (some(trip, 6)) {
    case 0:
        value &= timestamp_mask(trip);
        rec_ptm_timestamp(&trip->ptm, value, changed, count);
        want(trip, PUG_PTM_TIMESTAMP, value, changed, 0, 0, count);
        break;
    case 1:
        rec_ptm_vmid(&trip->ptm, (uint8_t)value);
        want(trip, PUG_PTM_VMID, (uint8_t)value, 0, 0, 0, 0);
        break;
    case 2:
        rec_ptm_context_id(&trip->ptm, id);
        want(trip, PUG_PTM_CONTEXT_ID, id, 0, 0, 0, 0);
        break;
    case 3:
        rec_ptm_a_sync(&trip->ptm);
        want(trip, PUG_PTM_A_SYNC, 0, 0, 0, 0, 0);
        break;
    case 4:
        rec_ptm_waypoint(&trip->ptm, address, isa);
        want(trip, PUG_PTM_WPOINT_UPDATE, address, isa, 0, 0, 0);
        break;
    default:
        rec_ptm_plain(&trip->ptm, (enum pug_ptm_packet_type)type);
        want(trip, type, 0, 0, 0, 0, 0);
    }
}

static void record_ptm(struct trip *trip)
{
    choose_registers(trip, 0x4100f300, 2);
    rec_ptm_begin(&trip->ptm,
                  &(struct rec_ptm_config){.control = control(trip),
                                           .id = (uint32_t)trip->registers[1].value,
                                           .code = (uint32_t)trip->registers[2].value},
                  &trip->trace);
    rec_ptm_a_sync(&trip->ptm);
    want(trip, PUG_PTM_A_SYNC, 0, 0, 0, 0, 0);
    ptm_isync(trip);
    while (trip->wanted_count < PACKETS) {
        uint32_t what = some(trip, 10);
        if (what < 4 && trip->wanted_atom_count < 6 * PACKETS) {
            bool taken = some(trip, 2);
            trip->wanted_atoms[trip->wanted_atom_count++] = taken ? 'E' : 'N';
            rec_ptm_atom(&trip->ptm, taken, cycles(trip));
        } else if (what < 6) {
            ptm_branch(trip);
        } else if (what < 8) {
            ptm_isync(trip);
        } else {
            ptm_other(trip);
        }
    }
    rec_ptm_flush(&trip->ptm);
}

static void got_ptm(struct trip *trip, const struct pug_ptm_packet *p)
{
    struct said said = {.type = p->type};
    switch (p->type) {
    case PUG_PTM_ATOM:
        for (unsigned i = 0; i < p->atoms.count; i++)
            trip->got_atoms[trip->got_atom_count++] = p->atoms.bits >> i & 1 ? 'E' : 'N';
        return;
    case PUG_PTM_BRANCH_ADDRESS:
        said = (struct said){p->type, {p->address.value, p->isa, 0, 0, p->cycle_count}};
        if (!p->exception.present || p->exception.number == 0)
            break;
        said.words[2] = p->exception.number;
        said.words[3] = (p->context.non_secure ? 2u : 0) | (p->context.hyp ? 4u : 0);
        break;
    case PUG_PTM_I_SYNC:
        said = (struct said){
            p->type,
            {p->address.value, p->isa,
             p->isync_reason | (p->context.non_secure ? 8u : 0) | (p->context.hyp ? 16u : 0),
             p->context.updated_context_id ? p->context.context_id : 0, p->cycle_count}};
        break;
    case PUG_PTM_WPOINT_UPDATE:
        said.words[0] = p->address.value;
        said.words[1] = p->isa;
        break;
    case PUG_PTM_TIMESTAMP:
        said = (struct said){p->type, {p->timestamp, p->clock_changed, 0, 0, p->cycle_count}};
        break;
    case PUG_PTM_VMID: said.words[0] = p->context.vmid; break;
    case PUG_PTM_CONTEXT_ID: said.words[0] = p->context.context_id; break;
    default: break;
    }
    trip->got[trip->got_count++] = said;
}

/* ---- reading ---- */

static enum pug_response sink(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct trip *trip = context;
    if (op != PUG_OP_DATA)
        return PUG_RESP_CONT;
    assert_true(trip->got_count < 4 * PACKETS);
    if (strcmp(trip->protocol, "PTM") == 0)
        got_ptm(trip, packet->data);
    else
        got_etmv3(trip, packet->data);
    return PUG_RESP_CONT;
}

static void read_trace(struct trip *trip, size_t block)
{
    struct pug_source_config config = {.protocol = trip->protocol,
                                       .settings = {.items = trip->registers, .count = 6}};
    struct pug_source *source;
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){0}, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &config, &source), PUG_OK);
    assert_int_equal(pug_source_sink(source, sink, trip), PUG_OK);
    for (size_t at = 0, used; at < trip->trace.size; at += used) {
        size_t size = block < trip->trace.size - at ? block : trip->trace.size - at;
        assert_int_equal(pug_tree_data(tree, at, trip->trace.data + at, size, &used), 0);
    }
    assert_int_equal(pug_tree_end(tree), PUG_RESP_CONT);
    pug_tree_free(tree);
}

static void check(struct trip *trip, size_t block)
{
    trip->got_count = trip->got_atom_count = 0;
    read_trace(trip, block);
    for (unsigned i = 0; i < trip->wanted_count && i < trip->got_count; i++)
        if (memcmp(&trip->wanted[i], &trip->got[i], sizeof(trip->got[i])) != 0)
            fail_msg("%s packet %u: type %u, not %u, or what it says", trip->protocol, i,
                     (unsigned)trip->got[i].type, (unsigned)trip->wanted[i].type);
    assert_int_equal(trip->got_count, trip->wanted_count);
    assert_int_equal(trip->got_atom_count, trip->wanted_atom_count);
    assert_memory_equal(trip->got_atoms, trip->wanted_atoms, trip->wanted_atom_count);
}

static void one_trip(const char *protocol, uint64_t seed)
{
    static struct trip trip;
    memset(&trip, 0, sizeof(trip));
    trip.random.state = seed;
    trip.protocol = protocol;
    if (strcmp(protocol, "PTM") == 0)
        record_ptm(&trip);
    else
        record_etmv3(&trip);
    assert_false(trip.trace.failed);
    check(&trip, SIZE_MAX);
    check(&trip, 1);
    check(&trip, 7);
    rec_bytes_free(&trip.trace);
}

static void test_etmv3(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        one_trip("ETMV3", seed);
}

static void test_ptm(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        one_trip("PTM", seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_etmv3),
        cmocka_unit_test(test_ptm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
