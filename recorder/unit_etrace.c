// SPDX-License-Identifier: MIT
/** @file The engine's view of an E-Trace encoder, in packet encapsulation. */
#include "recorder/encapsulation.h"
#include "recorder/etrace.h"
#include "recorder/unit_etrace_data.h"
#include "recorder/unit_riscv.h"

#include <stdlib.h>

/* Causes of the privileged architecture. */
enum { ILLEGAL = 2, LOAD_FAULT = 13, ECALL = 8, TIMER = 7 }; /* ECALL: + privilege */

enum value {
    RESYNC,
    FULL_ADDRESS,
    SIJUMP,
    RETURN_STACK,
    CALL_COUNTER,
    IRETS,
    IMPLICIT_EXCEPTION,
    VECTOR,
    VECTORED,
    PREDICTOR,
    JUMP_CACHE,
    TIME_BITS,
    CONTEXT_BITS,
    STANDARD_SUPPORT,
    UPDISCON_ON_RETURNS,
    NOTIFY,
    SRC_BITS,
    ZCMT,
    JVT_BASE,
    STAMP_BYTES,
    PADDING,
    RESYNC_DISABLED,
    DATA_FORM,
    DATA_MMA_CAS,
    DATA_SPLIT,
    DATA_METHOD,
    DATA_DIFF_BITS,
    DATA_WIDTH,
    DADDRESS_WIDTH,
    LRID_WIDTH,
    DTYPE_WIDTH,
    TYPE_BITS,
    IADDRESS_WIDTH,
    IADDRESS_LSB,
    SIGN_EXTEND,
    PRIVILEGE_WIDTH,
    ECAUSE_WIDTH,
    OPTIONS
};

static const struct rec_option options[OPTIONS] = {
    [RESYNC] = {"resync", 4000, 1u << 30, 4000, "instructions between synchronisations; 0: none"},
    [FULL_ADDRESS] = {"full_address", 0, 1, 1, "addresses are whole, not differences"},
    [SIJUMP] = {"sijump", 1, 1, 1, "sequentially inferable jumps are left out"},
    [RETURN_STACK] = {"return_stack", 4, 8, 7, "implicit returns: exponent of the stack's size"},
    [CALL_COUNTER] = {"call_counter", 0, 9, 9, "implicit returns: exponent of the call counter"},
    [IRETS] = {"irets", 1, 1, 1, "the implicit return field counts returns, not depth"},
    [IMPLICIT_EXCEPTION] = {"implicit_exception", 0, 1, 0, "handlers are where `vector` says"},
    [VECTOR] = {"vector", 0, UINT64_MAX, 0, "address of the handler of traps"},
    [VECTORED] = {"vectored", 0, 1, 0, "that of an interrupt is 4 * cause behind it"},
    [PREDICTOR] = {"branch_prediction", 0, 10, 7, "exponent of the branch predictor's size"},
    [JUMP_CACHE] = {"jump_cache", 0, 8, 7, "exponent of the jump target cache's size"},
    [TIME_BITS] = {"time_bits", 64, 64, 64, "time in synchronisations: 0, 16, 32, 48, 64 bits"},
    [CONTEXT_BITS] = {"context_bits", 32, 32, 32, "context: 0, 8, 16, 24, 32 bits"},
    [STANDARD_SUPPORT] = {"standard_support", 1, 1, 0, "support packets of the standard's form"},
    [UPDISCON_ON_RETURNS] = {"updiscon_on_returns", 0, 1, 1, "also behind predicted returns"},
    [NOTIFY] = {"notify_once_in", 0, 65535, 1000, "instructions that the user is told of"},
    [STAMP_BYTES] = {"timestamp_bytes", 0, 8, 8, "timestamps of the encapsulation"},
    [PADDING] = {"padding", 0, 2, 0, "of packets: 0 sign, 1 zeros, 2 ones"},
    [RESYNC_DISABLED] = {"resync_disabled", 0, 1, 1, "what is learnt outlives synchronisations"},
    [DATA_FORM] = {"data_form", 0, 2, 2, "of --data: 0 addresses and values, 1, 2 only these"},
    [DATA_MMA_CAS] = {"data_mma_cas", 0, 1, 1, "of --data: packets of the draft's set"},
    [DATA_SPLIT] = {"data_split", 0, 1, 1, "of --data: loaded values come later"},
    [DATA_METHOD] = {"data_method", 0, 3, 3, "of --data: 0 best, 1 full, 2 XOR, 3 difference"},
    [DATA_DIFF_BITS] = {"data_diff_bits", 2, 2, 2, "of --data: width of `diff`, 1 or 2"},
    [DATA_WIDTH] = {"data_width", 64, 128, 0, "of --data: bits of the widest: 8, 16, ... 128"},
    [DADDRESS_WIDTH] = {"daddress_width", 0, 64, 0, "of --data: bits of addresses; 0: all"},
    [LRID_WIDTH] = {"lrid_width", 4, 6, 6, "of --data: bits of the ids of loads that are split"},
    [DTYPE_WIDTH] = {"dtype_width", 4, 4, 0, "of --data: bits that tell kinds; 3: all kinds"},
    [TYPE_BITS] = {"type_bits", 2, 32, 8, "of --data: bits that tell data from instructions"},
    [IADDRESS_WIDTH] = {"iaddress_width", 0, 64, 0, "bits of addresses; 0: all"},
    [IADDRESS_LSB] = {"iaddress_lsb", 1, 2, 1, "lowest bits of addresses that are not sent"},
    [SIGN_EXTEND] = {"iaddress_sign_extend", 0, 1, 1, "the highest bit of an address is its sign"},
    [PRIVILEGE_WIDTH] = {"privilege_width", 2, 4, 4, "bits of privileges"},
    [ECAUSE_WIDTH] = {"ecause_width", 6, 64, 16, "bits of causes of traps"},
    REC_RISCV_OPTIONS,
};

enum { BOTH, ADDRESSES, VALUES };
enum { KINDS = 3 }; /* bits from which on the draft can express all kinds of accesses */
enum { BEST, FULL, XOR, DIFFERENCE };

/* Causes have four bits; as many as payloads have room for, with all other fields at their widest.
 */
enum { LEAST_CAUSE = 4, ROOM_FOR_CAUSE = 140, LEAST_ADDRESS = 8 };

struct rec_unit {
    struct rec_unit_setup setup;
    struct rec_etrace *encoder;
    struct rec_encapsulation wrap;
    struct rec_random random;
    struct rec_etrace_accesses data;
    uint64_t time;
    unsigned privilege;
};

/** No wider than an address is. */
static void settle_address(uint64_t *width, unsigned xlen)
{
    if (*width == 0 || *width > xlen)
        *width = xlen;
    if (*width < LEAST_ADDRESS)
        *width = LEAST_ADDRESS;
}

static void settle_widths(uint64_t *values, unsigned xlen)
{
    uint64_t width = 8;
    settle_address(&values[IADDRESS_WIDTH], xlen);
    settle_address(&values[DADDRESS_WIDTH], xlen);
    while (width < 128 && width < values[DATA_WIDTH])
        width *= 2;
    values[DATA_WIDTH] = width;
    if (values[PRIVILEGE_WIDTH] == 0)
        values[PRIVILEGE_WIDTH] = 2;
    if (values[TYPE_BITS] == 0)
        values[TYPE_BITS] = 1;
    if (values[DTYPE_WIDTH] == 0)
        values[DTYPE_WIDTH] = 1;
    if (values[DATA_MMA_CAS] && values[DTYPE_WIDTH] < KINDS)
        values[DATA_SPLIT] = 0; /* there is no packet for what comes later */
    uint64_t room = ROOM_FOR_CAUSE - values[TIME_BITS] - values[CONTEXT_BITS] - values[TYPE_BITS];
    if (values[ECAUSE_WIDTH] < LEAST_CAUSE)
        values[ECAUSE_WIDTH] = LEAST_CAUSE;
    if (values[ECAUSE_WIDTH] > room)
        values[ECAUSE_WIDTH] = room;
}

static void settle(uint64_t *values, uint8_t family)
{
    values[TIME_BITS] = values[TIME_BITS] / 16 * 16;
    values[CONTEXT_BITS] = values[CONTEXT_BITS] / 8 * 8;
    if (values[STANDARD_SUPPORT]) { /* its fields hold no more */
        values[PREDICTOR] = values[PREDICTOR] > 7 ? 7 : values[PREDICTOR];
        values[JUMP_CACHE] = values[JUMP_CACHE] > 7 ? 7 : values[JUMP_CACHE];
        values[RETURN_STACK] = values[RETURN_STACK] > 7 ? 7 : values[RETURN_STACK];
    }
    if (values[CALL_COUNTER] && !values[IRETS])
        values[CALL_COUNTER] = 0; /* a depth cannot say that the counter is full */
    if (values[SRC_BITS] % 8 != 0)
        values[PADDING] = 0;
    if (values[DATA_METHOD] == BEST || values[DATA_DIFF_BITS] == 0)
        values[DATA_DIFF_BITS] = 2; /* one bit has no name for the best one */
    settle_widths(values, rec_riscv_width(family));
}

static bool reaches(const uint64_t *values, uint8_t family, bool data,
                    const struct rec_path_item *item)
{
    const struct rec_path_block *block = item->block;
    unsigned xlen = rec_riscv_width(family);
    for (uint32_t i = 0; data && i < item->access_count; i++)
        if (!rec_riscv_repeats(item->accesses[i].address, (unsigned)values[DADDRESS_WIDTH], xlen,
                               false))
            return false;
    bool compressed = block->size != 4 * block->count;
    return rec_riscv_repeats(block->address, (unsigned)values[IADDRESS_WIDTH], xlen,
                             values[SIGN_EXTEND]) &&
           !(compressed && values[IADDRESS_LSB] > 1);
}

static struct rec_etrace_options options_of(const struct rec_unit_setup *setup)
{
    const uint64_t *v = setup->values;
    unsigned xlen = rec_riscv_xlen(setup);
    return (struct rec_etrace_options){
        .xlen = xlen,
        .iaddress_width = (unsigned)v[IADDRESS_WIDTH],
        .iaddress_lsb = (unsigned)v[IADDRESS_LSB],
        .privilege_width = (unsigned)v[PRIVILEGE_WIDTH],
        .ecause_width = (unsigned)v[ECAUSE_WIDTH],
        .context_width = (unsigned)v[CONTEXT_BITS],
        .options = {.sijump = v[SIJUMP],
                    .implicit_return = v[RETURN_STACK] || v[CALL_COUNTER],
                    .implicit_exception = v[IMPLICIT_EXCEPTION],
                    .branch_prediction = v[PREDICTOR],
                    .jump_target_cache = v[JUMP_CACHE],
                    .full_address = v[FULL_ADDRESS],
                    .resync_disabled = v[RESYNC_DISABLED],
                    .data_no_address = setup->data && v[DATA_FORM] == VALUES,
                    .data_no_value = setup->data && v[DATA_FORM] == ADDRESSES,
                    .data_mma_cas = setup->data && v[DATA_MMA_CAS],
                    .irets = v[IRETS],
                    .time_width = (uint8_t)v[TIME_BITS],
                    .f0s_width = v[PREDICTOR] && v[JUMP_CACHE],
                    .return_stack_size = (uint8_t)v[RETURN_STACK],
                    .call_counter_size = (uint8_t)v[CALL_COUNTER],
                    .bpred_size = (uint8_t)v[PREDICTOR],
                    .cache_size = (uint8_t)v[JUMP_CACHE]},
        .support = v[STANDARD_SUPPORT] ? REC_ETRACE_SUPPORT_STD : REC_ETRACE_SUPPORT_REF_SIJUMP,
        .resync = (uint32_t)v[RESYNC],
        .vector = v[VECTOR],
        .vectored = v[VECTORED],
        .interrupt_epc = true,
        .updiscon_on_returns = v[UPDISCON_ON_RETURNS],
    };
}

static struct rec_etrace_data_options data_options_of(const struct rec_unit_setup *setup)
{
    const uint64_t *v = setup->values;
    return (struct rec_etrace_data_options){.xlen = rec_riscv_xlen(setup),
                                            .data_width = (unsigned)v[DATA_WIDTH],
                                            .daddress_width = (unsigned)v[DADDRESS_WIDTH],
                                            .lrid_width = (unsigned)v[LRID_WIDTH],
                                            .dtype_width = (unsigned)v[DTYPE_WIDTH],
                                            .diff_bits = (unsigned)v[DATA_DIFF_BITS],
                                            .mma_cas = v[DATA_MMA_CAS],
                                            .no_address = v[DATA_FORM] == VALUES,
                                            .no_value = v[DATA_FORM] == ADDRESSES,
                                            .split = v[DATA_SPLIT],
                                            .full = v[DATA_METHOD] == FULL,
                                            .xor_only = v[DATA_METHOD] == XOR,
                                            .difference_only = v[DATA_METHOD] == DIFFERENCE};
}

static uint32_t tells(const uint64_t *values, uint8_t isa_of, const uint8_t *bytes,
                      struct rec_path_access *accesses, uint32_t count)
{
    (void)isa_of;
    const struct rec_etrace_told told = {
        .values = values[DATA_FORM] != ADDRESSES,
        .data_width = (unsigned)values[DATA_WIDTH],
        .kinds = values[DATA_MMA_CAS] ? (unsigned)values[DTYPE_WIDTH] : KINDS,
    };
    return rec_etrace_tells(&told, bytes, accesses, count);
}

static void put(void *context, bool data, const uint8_t *payload, unsigned size)
{
    struct rec_unit *unit = context;
    rec_encapsulate(&unit->wrap, unit->setup.source, data,
                    unit->wrap.timestamp_bytes ? &unit->time : NULL, payload, size);
}

static void encoded(void *context, bool synced, bool last)
{
    struct rec_unit *unit = context;
    rec_etrace_accesses_put(&unit->data, synced, last, put, unit);
    unit->setup.out->failed |= unit->data.failed;
}

static unsigned type_bits_of(const struct rec_unit_setup *setup)
{
    return setup->data ? (unsigned)setup->values[TYPE_BITS] : 0;
}

static struct rec_unit *make(const struct rec_unit_setup *setup)
{
    struct rec_unit *unit = calloc(1, sizeof(*unit));
    if (!unit)
        return NULL;
    struct rec_etrace_options encoder = options_of(setup);
    unit->setup = *setup;
    unit->random.state = setup->seed;
    unit->wrap = (struct rec_encapsulation){.src_bits = (unsigned)setup->values[SRC_BITS],
                                            .timestamp_bytes = (unsigned)setup->values[STAMP_BYTES],
                                            .type_bits = type_bits_of(setup),
                                            .padding = (enum rec_padding)setup->values[PADDING],
                                            .out = setup->out};
    unit->encoder = rec_etrace_new(&encoder, put, unit);
    if (!unit->encoder) {
        free(unit);
        return NULL;
    }
    unit->data.encoder.options = data_options_of(setup);
    unit->data.random.state = setup->seed + 1;
    if (setup->data)
        rec_etrace_on_encoded(unit->encoder, encoded);
    return unit;
}

static void unit_free(struct rec_unit *unit)
{
    rec_etrace_free(unit->encoder);
    free(unit->data.waiting);
    free(unit);
}

static void isa(const uint64_t *values, struct pug_isa_config *config)
{
    config->zcmp_zcmt = values[ZCMT];
    config->jvt_base = values[JVT_BASE];
}

static void situate(struct rec_unit *unit, const struct rec_situation *situation)
{
    uint64_t bits = unit->setup.values[CONTEXT_BITS];
    uint64_t context = bits ? situation->context_id & ((UINT64_C(1) << bits) - 1) : 0;
    unit->time = situation->time;
    unit->privilege = situation->privilege;
    rec_etrace_context(unit->encoder, situation->privilege, context, false);
    rec_etrace_time(unit->encoder, situation->time);
}

static void begin(struct rec_unit *unit, const struct rec_place *at,
                  const struct rec_situation *situation, enum rec_why why)
{
    (void)at, (void)why;
    rec_encapsulation_sync(&unit->wrap);
    rec_etrace_start(unit->encoder);
    situate(unit, situation);
}

static void instruction(struct rec_unit *unit, const struct rec_step *step)
{
    uint64_t notify = unit->setup.values[NOTIFY];
    if (notify && (step->pc / 2 * 7 + 3) % notify == 0)
        rec_etrace_notify(unit->encoder);
    rec_etrace_retire(unit->encoder, step->pc, step->insn, step->next.address);
    if (unit->setup.data)
        rec_etrace_accesses_take(&unit->data, step);
}

static void trap(struct rec_unit *unit, const struct rec_trap *trap)
{
    bool interrupt = trap->kind == REC_TRAP_INTERRUPT;
    unsigned cause = interrupt                     ? TIMER
                     : trap->kind == REC_TRAP_CALL ? ECALL + unit->privilege
                     : trap->begun                 ? LOAD_FAULT
                                                   : ILLEGAL;
    if (trap->numbered) {
        interrupt = trap->number & REC_TRAP_RISCV_INTERRUPT;
        cause = trap->number & ~REC_TRAP_RISCV_INTERRUPT;
    }
    if (!trap->traced) {
        rec_etrace_stop(unit->encoder);
        return;
    }
    rec_etrace_trap(unit->encoder, interrupt, cause, trap->begun ? 0x1000 : 0, trap->back.address);
    situate(unit, &trap->situation);
}

static void between(struct rec_unit *unit, unsigned what, const struct rec_place *at,
                    const struct rec_situation *situation)
{
    (void)at;
    if (what & (REC_BETWEEN_CONTEXT | REC_BETWEEN_TIME))
        situate(unit, situation);
    if (what & REC_BETWEEN_OTHER)
        rec_encapsulation_nulls(&unit->wrap, 1 + rec_random_below(&unit->random, 5));
    if (what & REC_BETWEEN_SYNC)
        rec_encapsulation_sync(&unit->wrap);
}

static void end(struct rec_unit *unit, const struct rec_place *last, const struct rec_place *next,
                uint32_t since)
{
    (void)last, (void)next, (void)since;
    rec_etrace_stop(unit->encoder);
}

static void lose(struct rec_unit *unit, const struct rec_place *at)
{
    (void)at;
    rec_etrace_stop(unit->encoder);
    rec_etrace_lose(unit->encoder);
}

static void describe_data(const struct rec_unit_setup *setup, FILE *file)
{
    static const char *const methods[] = {"best", "full", "xor", "diff"};
    const struct rec_etrace_data_options o = data_options_of(setup);
    fprintf(file,
            "data_width_p=%u\ndaddress_width_p=%u\nlrid_width_p=%u\ndtype_width_p=%u\n"
            "diff_bits=%u\nnoaddr=%d\nnodata=%d\nsplit=%d\nformat_set=%s\ncompression=%s\n",
            o.data_width, o.daddress_width, o.lrid_width, o.dtype_width, o.diff_bits, o.no_address,
            o.no_value, o.split, o.mma_cas ? "mmacas" : "2.0", methods[setup->values[DATA_METHOD]]);
}

static void describe(const struct rec_unit_setup *setup, FILE *file)
{
    const struct rec_etrace_options o = options_of(setup);
    const struct pug_etrace_options *p = &o.options;
    const uint64_t *v = setup->values;
    fprintf(file,
            "xlen=%u\niaddress_width_p=%u\niaddress_lsb_p=%u\nprivilege_width_p=%u\n"
            "ecause_width_p=%u\nnocontext_p=%d\ncontext_width_p=%u\nnotime_p=%d\n"
            "time_width_p=%u\nbpred_size_p=%u\ncache_size_p=%u\nreturn_stack_size_p=%u\n"
            "call_counter_size_p=%u\nf0s_width_p=%u\nsijump_p=%d\nsupport_format=%s\n"
            "iret_field=%s\nsrcid_bits=%u\nsrcid=%u\n",
            o.xlen, o.iaddress_width, o.iaddress_lsb, o.privilege_width, o.ecause_width,
            o.context_width == 0, o.context_width, p->time_width == 0, p->time_width, p->bpred_size,
            p->cache_size, p->return_stack_size, p->call_counter_size, p->f0s_width, p->sijump,
            v[STANDARD_SUPPORT] ? "std" : "ref+sijump", p->irets ? "irets" : "irdepth",
            (unsigned)v[SRC_BITS], setup->source);
    fprintf(file,
            "resync_disabled=%d\nimplicit_exception=%d\nimplicit_exception_vector=0x%llx\n"
            "implicit_exception_vectored=%u\niaddress_sign_extend=%u\n",
            p->resync_disabled, p->implicit_exception, (unsigned long long)v[VECTOR],
            (unsigned)v[VECTORED], (unsigned)v[SIGN_EXTEND]);
    rec_riscv_describe(file, v[ZCMT], v[JVT_BASE]);
    if (setup->data)
        describe_data(setup, file);
}

static void describe_buffer(const struct rec_unit_setup *setup, FILE *file)
{
    const uint64_t *v = setup->values;
    fprintf(file, "srcid_bits=%u\ntimestamp_bytes=%u\npadding=%s\ntype_bits=%u\n",
            (unsigned)v[SRC_BITS], (unsigned)v[STAMP_BYTES], v[PADDING] ? "dontcare" : "sign",
            type_bits_of(setup));
}

static const char *format(const struct rec_unit_setup *setup)
{
    (void)setup;
    return "encapsulation";
}

const struct rec_unit_class rec_unit_etrace = {
    .name = "etrace",
    .device = "E-Trace",
    .tells = tells,
    REC_RISCV_CLASS,
};
