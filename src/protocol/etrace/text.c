// SPDX-License-Identifier: MIT
/** @file E-Trace packets in words. */
#include "protocol/etrace/etrace.h"

#include "base/text.h"

#include <inttypes.h>

static const char *const names[PUG_ETRACE_TYPE_COUNT] = {
    [PUG_ETRACE_SYNC] = "TE_SYNC",       [PUG_ETRACE_TRAP] = "TE_TRAP",
    [PUG_ETRACE_CONTEXT] = "TE_CTX",     [PUG_ETRACE_SUPPORT] = "TE_SUPP",
    [PUG_ETRACE_ADDRESS] = "TE_ADDR",    [PUG_ETRACE_BRANCHES] = "TE_BR",
    [PUG_ETRACE_COUNT] = "TE_CNT",       [PUG_ETRACE_JUMP_CACHE] = "TE_JTC",
    [PUG_ETRACE_DATA] = "TE_DATA",       [PUG_ETRACE_DATA_REPLY] = "TE_DATA_REPLY",
    [PUG_ETRACE_UNKNOWN] = "TE_UNKNOWN", [PUG_ETRACE_BAD] = "TE_BAD",
};

const char *pug_etrace_packet_name(uint32_t type)
{
    return type < PUG_ETRACE_TYPE_COUNT ? names[type] : NULL;
}

/* Every field begins with a space; the space after the colon belongs to the first field. */

static void put_context(struct pug_text *text, const struct pug_etrace_packet *packet)
{
    pug_text_format(text, " priv=%u", packet->privilege);
    if (packet->has_time)
        pug_text_format(text, " time=0x%" PRIx64, packet->time);
    if (packet->has_context)
        pug_text_format(text, " ctx=0x%" PRIx64, packet->context);
}

static void put_taken(struct pug_text *text, const struct pug_etrace_packet *packet)
{
    if (!packet->branch)
        pug_text_put(text, " taken");
}

static void put_sync(struct pug_text *text, const struct pug_etrace_packet *packet)
{
    pug_text_format(text, " addr=0x%" PRIx64, packet->address);
    put_taken(text, packet);
    put_context(text, packet);
}

static void put_trap(struct pug_text *text, const struct pug_etrace_packet *packet)
{
    pug_text_format(text, " %s cause=%" PRIu64, packet->interrupt ? "int" : "exc", packet->ecause);
    if (packet->has_address)
        pug_text_format(text, " %s=0x%" PRIx64, packet->thaddr ? "handler" : "epc",
                        packet->address);
    if (packet->has_epc)
        pug_text_format(text, " epc=0x%" PRIx64, packet->epc);
    put_taken(text, packet);
    put_context(text, packet);
    if (!packet->interrupt && !packet->has_epc)
        pug_text_format(text, " tval=0x%" PRIx64, packet->tval);
}

static void put_options(struct pug_text *text, const struct pug_etrace_options *options)
{
    const struct {
        bool on;
        const char *name;
    } flags[] = {
        {options->sijump, "sijump"},           {options->implicit_return, "iret"},
        {options->branch_prediction, "bpred"}, {options->jump_target_cache, "jtc"},
        {options->implicit_exception, "iexc"}, {options->full_address, "full"},
    };
    bool any = false;
    for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (!flags[i].on)
            continue;
        pug_text_format(text, "%s%s", any ? "," : "", flags[i].name);
        any = true;
    }
    if (!any)
        pug_text_put(text, "-");
}

static void put_support(struct pug_text *text, const struct pug_etrace_packet *packet)
{
    static const char *const quals[] = {"no_change", "ended_rep", "trace_lost", "ended_ntr"};
    pug_text_format(text, " ien=%u mode=%u qual=%s opts=", packet->ienable, packet->encoder_mode,
                    quals[packet->qual_status & 3]);
    put_options(text, &packet->options);
}

static void put_branches(struct pug_text *text, const struct pug_etrace_packet *packet)
{
    if (packet->branches == 0)
        return;
    pug_text_format(text, " br=%u:", packet->branches);
    for (unsigned i = 0; i < packet->branches; i++)
        pug_text_put(text, packet->branch_map >> i & 1 ? "n" : "t");
}

static void put_flow(struct pug_text *text, const struct pug_etrace_packet *packet)
{
    put_branches(text, packet);
    if (packet->type == PUG_ETRACE_COUNT)
        pug_text_format(text, " ok=%" PRIu64 "%s", packet->branch_count,
                        packet->branch_fmt == 0 || packet->branch_fmt == 3 ? " fail" : "");
    if (packet->type == PUG_ETRACE_JUMP_CACHE)
        pug_text_format(text, " idx=%u", packet->cache_index);
    if (packet->has_address) {
        bool negative = packet->difference && packet->address >> 63;
        pug_text_format(text, " addr=%s0x%" PRIx64,
                        negative             ? "-"
                        : packet->difference ? "+"
                                             : "",
                        negative ? -packet->address : packet->address);
    }
    if (packet->notify)
        pug_text_put(text, " notify");
    if (packet->updiscon)
        pug_text_put(text, " updiscon");
    if (packet->irreport && packet->has_ir)
        pug_text_format(text, " %s=%u", packet->irets ? "irets" : "irdepth", packet->ir_value);
}

static void put_data(struct pug_text *text, const struct pug_etrace_packet *packet)
{
    static const char *const accesses[] = {
        "load", "store", "?",   "?",  "csrrw", "csrrs", "csrrc", "cas-fail",
        "swap", "add",   "and", "or", "xor",   "max",   "min",   "sc-fail",
    };
    const struct pug_etrace_data *data = &packet->data;
    if (packet->type == PUG_ETRACE_DATA)
        pug_text_format(text, " %s%s%s", accesses[data->access & 15], data->multi ? " multi" : "",
                        data->unaligned ? " unaligned" : "");
    pug_text_format(text, " size=%u", 1u << data->size);
    if (data->split || packet->type == PUG_ETRACE_DATA_REPLY)
        pug_text_format(text, " lrid=%u", data->lrid);
    pug_text_format(text, " %s=%u", packet->type == PUG_ETRACE_DATA ? "diff" : "resp", data->diff);
    if (data->has_address)
        pug_text_format(text, " addr=0x%" PRIx64, data->address);
    if (data->has_operand)
        pug_text_format(text, " op=0x%" PRIx64, data->operand);
    if (data->has_value)
        pug_text_format(text, " data=0x%" PRIx64, data->value);
}

size_t pug_etrace_packet_text(const void *data, char *buffer, size_t size)
{
    const struct pug_etrace_packet *packet = data;
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_format(&text, "%s :", names[packet->type]);
    switch (packet->type) {
    case PUG_ETRACE_SYNC: put_sync(&text, packet); break;
    case PUG_ETRACE_TRAP: put_trap(&text, packet); break;
    case PUG_ETRACE_CONTEXT: put_context(&text, packet); break;
    case PUG_ETRACE_SUPPORT: put_support(&text, packet); break;
    case PUG_ETRACE_DATA:
    case PUG_ETRACE_DATA_REPLY: put_data(&text, packet); break;
    case PUG_ETRACE_UNKNOWN: pug_text_put(&text, " encoder mode is not known"); break;
    case PUG_ETRACE_BAD: pug_text_format(&text, " %s", packet->problem); break;
    default: put_flow(&text, packet);
    }
    if (packet->gap)
        pug_text_put(&text, " gap");
    return pug_text_end(&text);
}
