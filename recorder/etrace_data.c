// SPDX-License-Identifier: MIT
/** @file E-Trace data trace: one access to one payload, as short as the options allow. */
#include "pugmark/element.h"
#include "recorder/etrace.h"
#include "recorder/fields.h"

#include <string.h>

/** How an access may be compressed: the codes of `diff`. */
struct way {
    unsigned code;
    bool address_difference;
    enum { VALUE_FULL, VALUE_XOR, VALUE_DIFFERENCE } value;
};

/** One attempt at a packet, and the state that goes with it. */
struct attempt {
    struct rec_etrace_data state;
    struct rec_fields fields;
    const struct pug_etrace_data *access;
    struct way way;
};

static unsigned clog2(unsigned value)
{
    unsigned bits = 0;
    while ((1u << bits) < value)
        bits++;
    return bits;
}

static bool is_csr(const struct pug_etrace_data *access)
{
    return access->access >= PUG_ACCESS_CSR_RW && access->access <= PUG_ACCESS_CSR_RC;
}

static void put(struct attempt *a, uint64_t value, unsigned width)
{
    rec_field(&a->fields, value, width);
}

static void put_size(struct attempt *a)
{
    unsigned width = clog2(clog2(a->state.options.data_width / 8 + 1));
    put(a, a->access->size, width > 1 ? width : 1);
}

static int64_t sign_extended(uint64_t value, unsigned size)
{
    unsigned shift = 64 - (8u << size);
    return (int64_t)(value << shift) >> shift;
}

/** The number to send for a value. */
static int64_t compressed(struct attempt *a, uint64_t value)
{
    unsigned size = a->access->size;
    uint64_t *last = &a->state.value[size], sent = value;
    if (a->way.value == VALUE_XOR)
        sent = value ^ *last;
    else if (a->way.value == VALUE_DIFFERENCE)
        sent = value - *last;
    *last = value;
    return sign_extended(sent, size);
}

/** Its length in bytes less one, in `width` bits, then the bytes. */
static void put_sized(struct attempt *a, uint64_t value, unsigned width)
{
    int64_t sent = compressed(a, value);
    unsigned bytes = 1;
    while (bytes < 8 && sent >> (8 * bytes - 1) != 0 && sent >> (8 * bytes - 1) != -1)
        bytes++;
    put(a, bytes - 1, width);
    put(a, (uint64_t)sent, 8 * bytes);
}

static void put_wide(struct attempt *a, uint64_t value)
{
    put(a, (uint64_t)compressed(a, value), a->state.options.data_width);
}

static void put_address(struct attempt *a)
{
    const struct pug_etrace_data *access = a->access;
    uint64_t sent = access->unaligned ? access->address : access->address >> access->size;
    uint64_t *last = &a->state.address[access->size], number = sent;
    if (a->way.address_difference)
        number = sent - *last;
    *last = sent;
    put(a, number, a->state.options.daddress_width);
}

/** Returns the bits of the format in the draft's packets. */
static unsigned format_bits(const struct attempt *a)
{
    unsigned width = a->state.options.dtype_width;
    return width == 0 ? 2 : clog2(width);
}

static void put_format(struct attempt *a)
{
    static const uint8_t codes_2_0[] = {
        [PUG_ACCESS_SWAP] = 0, [PUG_ACCESS_ADD] = 1, [PUG_ACCESS_AND] = 2, [PUG_ACCESS_OR] = 3,
        [PUG_ACCESS_XOR] = 4,  [PUG_ACCESS_MAX] = 5, [PUG_ACCESS_MIN] = 6, [PUG_ACCESS_SC_FAIL] = 7,
    };
    const struct pug_etrace_data *access = a->access;
    unsigned memory = (access->access == PUG_ACCESS_STORE) * 2u + access->unaligned;
    bool plain = access->access <= PUG_ACCESS_STORE;
    if (a->state.options.mma_cas) {
        put(a, plain ? access->multi : 2, format_bits(a));
        put(a, plain ? memory : access->access, plain ? 2 : 4);
    } else if (plain) {
        put(a, memory, 3);
    } else if (is_csr(access)) {
        put(a, 5, 3);
        put(a, access->access - PUG_ACCESS_CSR_RW, 2);
    } else {
        put(a, 6, 3);
        put(a, codes_2_0[access->access], 3);
    }
}

static void put_csr(struct attempt *a)
{
    const struct rec_etrace_data_options *o = &a->state.options;
    unsigned length = o->xlen == 64 ? 3 : 2, number = (unsigned)a->access->address;
    put(a, a->way.code, o->no_value ? 1 : o->diff_bits);
    if (!o->no_value)
        put_sized(a, a->access->value, length);
    put(a, number >> 6, 6);
    if (!o->no_value && number >> 10 != 3)
        put_sized(a, a->access->operand, length);
    put(a, number, 6);
}

static void put_memory(struct attempt *a)
{
    const struct rec_etrace_data_options *o = &a->state.options;
    const struct pug_etrace_data *access = a->access;
    bool atomic = access->access >= PUG_ACCESS_SWAP && access->access != PUG_ACCESS_SC_FAIL;
    bool address_only = o->no_value || access->access == PUG_ACCESS_SC_FAIL;
    bool both = !address_only && !o->no_address;
    bool split = access->split && !address_only;
    put_size(a);
    if (split)
        put(a, access->lrid, o->lrid_width);
    bool one_bit = address_only || (split && !atomic);
    put(a, a->way.code, one_bit ? 1 : both || split ? 2 : o->diff_bits);
    if (split && !both) { /* the draft's: an operand alone */
        put_wide(a, access->operand);
        return;
    }
    if (access->access == PUG_ACCESS_CAS_FAIL || (atomic && !address_only))
        put_sized(a, access->operand, access->size);
    if (both && !split && access->access != PUG_ACCESS_CAS_FAIL)
        put_sized(a, access->value, access->size);
    if (address_only || both)
        put_address(a);
    else
        put_wide(a, access->value);
}

static void attempt(struct attempt *a)
{
    put_format(a);
    if (is_csr(a->access))
        put_csr(a);
    else
        put_memory(a);
}

/** The ways that the options leave for a kind of packet. */
static unsigned ways_of(const struct rec_etrace_data *encoder, const struct pug_etrace_data *access,
                        struct way ways[4])
{
    static const struct way two_bits[] = {{0, false, VALUE_FULL},
                                          {1, true, VALUE_XOR},
                                          {2, true, VALUE_FULL},
                                          {3, true, VALUE_DIFFERENCE}};
    const struct rec_etrace_data_options *o = &encoder->options;
    bool value_only =
        !o->no_value && (o->no_address || is_csr(access)) && access->access != PUG_ACCESS_SC_FAIL;
    bool address_only = o->no_value || access->access == PUG_ACCESS_SC_FAIL ||
                        (access->split && access->access == PUG_ACCESS_LOAD && !value_only);
    unsigned count = 0;
    for (unsigned i = 0; i < 4; i++) {
        struct way way = two_bits[i];
        bool wanted = i == 0 ? o->full || (!o->xor_only && !o->difference_only)
                             : !o->full && !(o->xor_only && i != 1) &&
                                   !(o->difference_only && i != (address_only ? 1u : 3u));
        if (address_only && i > 1)
            wanted = false;
        if (value_only && i == 2)
            wanted = false; /* reserved */
        if (value_only && o->diff_bits == 1) {
            if (i == 3 && o->difference_only)
                way.code = 1;
            else if (i > 1 || (i == 1 && o->difference_only))
                wanted = false;
        }
        if (wanted)
            ways[count++] = way;
    }
    return count;
}

void rec_etrace_access(struct rec_etrace_data *encoder, const struct pug_etrace_data *access,
                       rec_payload_fn *out, void *context)
{
    struct way ways[4];
    uint8_t payload[80], best[80];
    unsigned count = ways_of(encoder, access, ways), best_size = UINT32_MAX;
    struct rec_etrace_data after = *encoder;
    for (unsigned i = 0; i < count; i++) {
        struct attempt a = {.state = *encoder, .access = access, .way = ways[i]};
        attempt(&a);
        unsigned size = rec_fields_pack(&a.fields, payload);
        if (size >= best_size)
            continue;
        best_size = size;
        memcpy(best, payload, size);
        after = a.state;
    }
    *encoder = after;
    out(context, true, best, best_size);
}

void rec_etrace_reply(struct rec_etrace_data *encoder, const struct pug_etrace_data *access,
                      rec_payload_fn *out, void *context)
{
    const struct rec_etrace_data_options *o = &encoder->options;
    struct attempt a = {.state = *encoder, .access = access};
    uint8_t payload[80];
    bool atomic = access->access >= PUG_ACCESS_SWAP;
    unsigned resp = !access->has_value ? 0 : o->full ? 2 : o->difference_only ? 3 : 1;
    a.way.value = resp == 1 ? VALUE_XOR : resp == 3 ? VALUE_DIFFERENCE : VALUE_FULL;
    if (o->mma_cas)
        put(&a, 3, format_bits(&a));
    else
        put(&a, atomic ? 7 : 4, 3);
    if (o->mma_cas || !atomic)
        put_size(&a);
    put(&a, access->lrid, o->lrid_width);
    put(&a, resp, 2);
    if (resp != 0 && atomic && !o->mma_cas)
        put_sized(&a, access->value, access->size);
    else if (resp != 0)
        put_wide(&a, access->value);
    *encoder = a.state;
    out(context, true, payload, rec_fields_pack(&a.fields, payload));
}

void rec_etrace_data_restart(struct rec_etrace_data *encoder)
{
    memset(encoder->address, 0, sizeof(encoder->address));
    memset(encoder->value, 0, sizeof(encoder->value));
}
