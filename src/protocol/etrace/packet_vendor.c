// SPDX-License-Identifier: MIT
/**
 * @file Instruction payloads of implementations that differ from the specification: Espressif's
 * ESP32 (fields end at bytes, nothing is sign-compressed but trailing addresses) and PULP's
 * rv_tracer (the address alone is compressed, in the middle of the payload).
 */
#include "protocol/etrace/packet_fields.h"

static uint64_t take(struct pug_fields *fields, unsigned width)
{
    return pug_fields_take(fields, width);
}

/** Map of a format 1 packet; returns the `branches` field. */
static unsigned take_branches(struct pug_fields *fields, struct pug_etrace_packet *packet)
{
    unsigned branches = (unsigned)take(fields, 5);
    packet->type = PUG_ETRACE_BRANCHES;
    pug_etrace_take_map(fields, branches, packet);
    return branches;
}

/* ---- ESP32 ---- */

#define ESP_ADDRESS_BITS 31u
#define ESP_MACHINE      3u
#define ESP_ILLEGAL      2u /* cause: illegal instruction */

static void esp_privilege(struct pug_fields *fields, struct pug_etrace_packet *packet)
{
    packet->branch = take(fields, 1);
    packet->privilege = take(fields, 1) ? ESP_MACHINE : 0;
}

static void esp_full_address(struct pug_fields *fields, struct pug_etrace_packet *packet)
{
    packet->address = take(fields, ESP_ADDRESS_BITS) << 1;
    packet->has_address = true;
}

/** Generation 1 has no thaddr: it always has the handler, and one of EPC and trap value. */
static void esp1_trap(struct pug_fields *fields, struct pug_etrace_packet *packet)
{
    packet->type = PUG_ETRACE_TRAP;
    esp_privilege(fields, packet);
    packet->ecause = take(fields, 5);
    packet->interrupt = take(fields, 1);
    packet->thaddr = true;
    esp_full_address(fields, packet);
    uint64_t value = take(fields, 32);
    packet->has_epc = packet->ecause == ESP_ILLEGAL && !packet->interrupt;
    if (packet->has_epc)
        packet->epc = value;
    else if (!packet->interrupt)
        packet->tval = value;
}

static void esp2_trap(struct pug_fields *fields, struct pug_etrace_packet *packet)
{
    packet->type = PUG_ETRACE_TRAP;
    esp_privilege(fields, packet);
    packet->ecause = take(fields, 6);
    packet->interrupt = take(fields, 1);
    packet->thaddr = take(fields, 1);
    esp_full_address(fields, packet);
    if (!packet->interrupt)
        packet->tval = take(fields, 32);
}

static void esp_support(const struct pug_etrace_config *config, struct pug_etrace_options *options,
                        struct pug_fields *fields, struct pug_etrace_packet *packet)
{
    packet->type = PUG_ETRACE_SUPPORT;
    packet->ienable = take(fields, 1);
    if (config->layout == PUG_ETRACE_LAYOUT_ESP2)
        packet->encoder_mode = (uint8_t)take(fields, 1);
    packet->qual_status = (uint8_t)take(fields, 2);
    if (config->layout == PUG_ETRACE_LAYOUT_ESP2 && packet->encoder_mode == 0) {
        options->implicit_return = take(fields, 1);
        options->implicit_exception = take(fields, 1);
        options->full_address = take(fields, 1);
        options->jump_target_cache = take(fields, 1);
        options->branch_prediction = take(fields, 1);
        options->sijump = take(fields, 1);
    }
    packet->options = *options;
}

/** notify and updiscon are differences to the bit before; `before` is the address's top bit. */
static void esp_flags(struct pug_fields *fields, bool before, struct pug_etrace_packet *packet)
{
    bool notify = take(fields, 1), updiscon = take(fields, 1);
    packet->notify = notify != before;
    packet->updiscon = updiscon != notify;
}

static void esp1_address(struct pug_fields *fields, struct pug_etrace_packet *packet)
{
    esp_full_address(fields, packet);
    esp_flags(fields, packet->address >> ESP_ADDRESS_BITS & 1, packet);
}

/** Generation 2: flags, then the address as the last whole bytes, 1 to 4 of them. */
static void esp2_address(const struct pug_etrace_options *options, struct pug_fields *fields,
                         unsigned size, struct pug_etrace_packet *packet)
{
    unsigned begin = (fields->at + 2 + 7) / 8;
    if (size <= begin || size > begin + 4)
        return pug_etrace_bad(packet, "address must have 1 to 4 bytes");
    esp_flags(fields, pug_fields_peek(fields, 8 * size - 1), packet);
    fields->at = 8 * begin;
    uint64_t value = pug_sign_extend(take(fields, 8 * (size - begin)), 8 * (size - begin));
    packet->has_address = true;
    packet->difference = !options->full_address;
    packet->address = value << 1;
}

void pug_etrace_parse_esp(const struct pug_etrace_config *config,
                          struct pug_etrace_options *options, struct pug_fields *fields,
                          unsigned size, struct pug_etrace_packet *packet)
{
    bool first = config->layout == PUG_ETRACE_LAYOUT_ESP1;
    switch (take(fields, 2)) {
    case 0: return pug_etrace_bad(packet, "reserved format");
    case 1:
        if (take_branches(fields, packet) == 0)
            return;
        break;
    case 2: packet->type = PUG_ETRACE_ADDRESS; break;
    default:
        switch (take(fields, 2)) {
        case 0:
            packet->type = PUG_ETRACE_SYNC;
            esp_privilege(fields, packet);
            esp_full_address(fields, packet);
            return;
        case 1:
            if (first)
                esp1_trap(fields, packet);
            else
                esp2_trap(fields, packet);
            return;
        case 3: esp_support(config, options, fields, packet); return;
        default: return pug_etrace_bad(packet, "reserved subformat of format 3");
        }
    }
    if (first)
        esp1_address(fields, packet);
    else
        esp2_address(options, fields, size, packet);
}

/* ---- PULP ---- */

/**
 * The address is cut to one bit more than a multiple of 8: what the payload holds besides the
 * `known` bits of the other fields. Without enough for a byte it is absent, a difference of 0.
 */
static void pulp_address(const struct pug_etrace_config *config,
                         const struct pug_etrace_options *options, struct pug_fields *fields,
                         unsigned size, unsigned known, bool may_differ,
                         struct pug_etrace_packet *packet)
{
    unsigned rest = 8 * size > known ? 8 * size - known : 0;
    unsigned width = rest >= 9 ? rest / 8 * 8 + 1 : 0;
    uint64_t value = 0;
    if (width > 64)
        value = take(fields, width);
    else if (width > 0)
        value = pug_sign_extend(take(fields, width), width);
    packet->has_address = true;
    packet->difference = may_differ && !options->full_address;
    packet->address = value << config->iaddress_lsb;
}

/** Flags are raw bits; updiscon says so by differing from notify. irdepth is one bit. */
static void pulp_flags(struct pug_fields *fields, struct pug_etrace_packet *packet)
{
    bool notify = take(fields, 1), updiscon = take(fields, 1), irreport = take(fields, 1);
    packet->notify = notify;
    packet->updiscon = updiscon != notify;
    packet->irreport = irreport != updiscon;
    packet->has_ir = true;
    packet->ir_value = (uint16_t)take(fields, 1);
}

static void pulp_support(struct pug_etrace_options *options, struct pug_fields *fields,
                         struct pug_etrace_packet *packet)
{
    packet->type = PUG_ETRACE_SUPPORT;
    packet->ienable = take(fields, 1);
    packet->encoder_mode = (uint8_t)take(fields, 1);
    packet->qual_status = (uint8_t)take(fields, 2);
    if (packet->encoder_mode == 0) {
        options->jump_target_cache = take(fields, 1);
        options->branch_prediction = take(fields, 1);
        options->implicit_return = take(fields, 1);
        options->sijump = take(fields, 1);
        options->implicit_exception = take(fields, 1);
        options->full_address = take(fields, 1);
        take(fields, 1); /* delta address: the opposite */
    }
    packet->options = *options;
}

static void pulp_format_3(const struct pug_etrace_config *config,
                          struct pug_etrace_options *options, struct pug_fields *fields,
                          unsigned size, struct pug_etrace_packet *packet)
{
    unsigned subformat = (unsigned)take(fields, 2);
    unsigned known = 5u + config->privilege_width;
    if (subformat == 3)
        return pulp_support(options, fields, packet);
    packet->branch = subformat == 2 || take(fields, 1);
    packet->privilege = (uint8_t)take(fields, config->privilege_width);
    if (subformat == 2) {
        packet->type = PUG_ETRACE_CONTEXT;
    } else if (subformat == 0) {
        packet->type = PUG_ETRACE_SYNC;
        pulp_address(config, options, fields, size, known, false, packet);
    } else {
        packet->type = PUG_ETRACE_TRAP;
        packet->ecause = take(fields, config->ecause_width);
        packet->interrupt = take(fields, 1);
        packet->thaddr = take(fields, 1);
        known += config->ecause_width + 2u + (packet->interrupt ? 0u : config->iaddress_width);
        if (!(options->implicit_exception && packet->thaddr))
            pulp_address(config, options, fields, size, known, false, packet);
        if (!packet->interrupt)
            packet->tval = take(fields, config->iaddress_width);
    }
}

static void pulp_format_0(const struct pug_etrace_config *config,
                          const struct pug_etrace_options *options, struct pug_fields *fields,
                          unsigned size, struct pug_etrace_packet *packet)
{
    switch (pug_etrace_take_subformat_0(options, fields)) {
    case 0:
        if (!pug_etrace_take_count(options, fields, packet))
            return;
        pulp_address(config, options, fields, size, fields->at + 4, true, packet);
        pulp_flags(fields, packet);
        break;
    case 1: pug_etrace_take_jump_cache(options, fields, packet); break;
    default: pug_etrace_bad(packet, "reserved subformat of format 0");
    }
}

void pug_etrace_parse_pulp(const struct pug_etrace_config *config,
                           struct pug_etrace_options *options, struct pug_fields *fields,
                           unsigned size, struct pug_etrace_packet *packet)
{
    switch (take(fields, 2)) {
    case 0: pulp_format_0(config, options, fields, size, packet); break;
    case 1:
        take_branches(fields, packet);
        if (size == (fields->at + 7) / 8)
            return; /* exactly the branches: no address */
        pulp_address(config, options, fields, size, fields->at + 4, true, packet);
        pulp_flags(fields, packet);
        break;
    case 2:
        packet->type = PUG_ETRACE_ADDRESS;
        pulp_address(config, options, fields, size, 6, true, packet);
        pulp_flags(fields, packet);
        break;
    default: pulp_format_3(config, options, fields, size, packet);
    }
}
