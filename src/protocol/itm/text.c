// SPDX-License-Identifier: MIT
/** @file ITM packets in words, and what the DWT says in words. */
#include "base/text.h"
#include "protocol/itm/itm.h"
#include "pugmark/dwt.h"

static const struct {
    const char *name, *description;
} words[PUG_ITM_PKT_TYPE_COUNT] = {
    [PUG_ITM_PKT_NOTSYNC] = {"ITM_NOTSYNC", "ITM data stream not synchronised"},
    [PUG_ITM_PKT_INCOMPLETE_EOT] = {"ITM_INCOMPLETE_EOT",
                                    "Incomplete packet flushed at end of trace"},
    [PUG_ITM_PKT_NO_ERR_TYPE] = {"ITM_NO_ERR_TYPE", "Error type not set"},
    [PUG_ITM_PKT_ASYNC] = {"ITM_ASYNC", "Alignment synchronisation packet"},
    [PUG_ITM_PKT_OVERFLOW] = {"ITM_OVERFLOW", "ITM overflow packet"},
    [PUG_ITM_PKT_SWIT] = {"ITM_SWIT", "Software Stimulus write packet"},
    [PUG_ITM_PKT_DWT] = {"ITM_DWT", "DWT hardware stimulus write"},
    [PUG_ITM_PKT_TS_LOCAL] = {"ITM_TS_LOCAL", "Local Timestamp"},
    [PUG_ITM_PKT_GTS1] = {"ITM_GTS_1", "Global Timestamp [25:0]"},
    [PUG_ITM_PKT_GTS2] = {"ITM_GTS_2", "Global Timestamp [{63|42}:26]"},
    [PUG_ITM_PKT_EXTENSION] = {"ITM_EXTENSION", "Extension packet"},
    [PUG_ITM_PKT_BAD_SEQUENCE] = {"ITM_BAD_SEQUENCE", "Invalid sequence in packet"},
    [PUG_ITM_PKT_RESERVED] = {"ITM_RESERVED", "Reserved Packet Header"},
};

const char *pug_itm_packet_name(uint32_t type)
{
    return type < PUG_ITM_PKT_TYPE_COUNT ? words[type].name : "ITM_UNKNOWN";
}

/** As many digits as the value has bytes. */
static void put_value(struct pug_text *text, const struct pug_itm_packet *packet)
{
    uint64_t value = packet->value;
    if (packet->size == 5)
        value |= (uint64_t)packet->value_top << 32;
    pug_text_put(text, "0x");
    pug_text_hex(text, value, 2u * packet->size);
}

/* ---- hardware source packets ---- */

static const char *const counter_names[] = {" CPI ", " EXC ",  " Sleep ",
                                            " LSU ", " Fold ", " CYC "};
static const char *const action_names[] = {"reserved", "entered", "exited", "returned to"};

static void put_counters(struct pug_text *text, const struct pug_itm_packet *packet)
{
    pug_text_format(text, "[Event Counter: 0x%02x; Flags: ", packet->value);
    for (unsigned bit = 0; bit < sizeof(counter_names) / sizeof(counter_names[0]); bit++)
        pug_text_put(text, packet->value & 1u << bit ? counter_names[bit] : " --- ");
    pug_text_put(text, "] ");
}

static void put_data_trace(struct pug_text *text, const struct pug_itm_packet *packet)
{
    static const char *const parts[] = {"PC Value=", "Address=", "Val read: ", "Val write: "};
    bool value = packet->source & 0x10;
    pug_text_format(text, "[Data Trc: comp=%u; %s", packet->source >> 1 & 3u,
                    parts[(value ? 2 : 0) + (packet->source & 1)]);
    put_value(text, packet);
    pug_text_put(text, value ? "] " : " ] ");
}

static void put_dwt(struct pug_text *text, const struct pug_itm_packet *packet)
{
    pug_text_format(text, "{desc: 0x%02x} ", packet->source);
    switch (packet->source) {
    case 0: put_counters(text, packet); break;
    case 1:
        pug_text_format(text, "[Exception Num:  0x%04x(%s) ]", packet->value & 0x1ff,
                        action_names[packet->value >> 12 & 3]);
        break;
    case 2:
        pug_text_put(text, "[PC Sample: ");
        put_value(text, packet);
        pug_text_put(text, "] ");
        break;
    default:
        if (packet->source >= 8 && packet->source < 24)
            put_data_trace(text, packet);
        else
            pug_text_put(text, "[Reserved discriminator value] ");
    }
}

/* ---- timestamps and extensions ---- */

static void put_local_ts(struct pug_text *text, const struct pug_itm_packet *packet)
{
    static const char *const relations[] = {"TS Sync", "TS Delayed", "TS Sync, Packet Delayed",
                                            "TS Delayed, Packet Delayed"};
    put_value(text, packet);
    pug_text_format(text, " { %s }", relations[packet->source & 3]);
}

static void put_gts1(struct pug_text *text, const struct pug_itm_packet *packet)
{
    static const uint8_t top_bits[] = {0, 6, 13, 20, 25};
    pug_text_format(text, "{ TS bits [%u:0]", top_bits[packet->size < 5 ? packet->size : 4]);
    if (packet->source & PUG_ITM_GTS1_CLOCK_CHANGE)
        pug_text_put(text, ", Clk change");
    if (packet->source & PUG_ITM_GTS1_WRAP)
        pug_text_put(text, ", Clk wrap");
    pug_text_put(text, "} ");
    put_value(text, packet);
}

static void put_extension(struct pug_text *text, const struct pug_itm_packet *packet)
{
    if (packet->source == PUG_ITM_EXTENSION_PAGE) {
        pug_text_format(text, "{stim port page} 0x%02x", packet->value);
        return;
    }
    unsigned bits = (packet->source & 0x1fu) + 1;
    pug_text_format(text, "{unknown extension type, %u bits } 0x", bits);
    pug_text_hex(text, packet->value, bits / 4 + 1);
}

static void put_details(struct pug_text *text, const struct pug_itm_packet *packet)
{
    switch (packet->type) {
    case PUG_ITM_PKT_INCOMPLETE_EOT:
    case PUG_ITM_PKT_BAD_SEQUENCE:
        pug_text_format(text, "[Init type: %s] ", pug_itm_packet_name(packet->error_type));
        break;
    case PUG_ITM_PKT_SWIT:
        pug_text_format(text, "{src id: 0x%02x}  ", packet->source);
        put_value(text, packet);
        break;
    case PUG_ITM_PKT_DWT: put_dwt(text, packet); break;
    case PUG_ITM_PKT_TS_LOCAL: put_local_ts(text, packet); break;
    case PUG_ITM_PKT_GTS1: put_gts1(text, packet); break;
    case PUG_ITM_PKT_GTS2:
        pug_text_put(text, packet->size == 5 ? "{ TS bits [63:26]} " : "{ TS bits [47:26]} ");
        put_value(text, packet);
        break;
    case PUG_ITM_PKT_EXTENSION: put_extension(text, packet); break;
    default: break;
    }
}

size_t pug_itm_packet_text(const void *data, char *buffer, size_t size)
{
    const struct pug_itm_packet *packet = data;
    struct pug_text text = PUG_TEXT(buffer, size);
    bool known = packet->type < PUG_ITM_PKT_TYPE_COUNT;
    pug_text_put(&text, pug_itm_packet_name(packet->type));
    pug_text_put(&text, ": ");
    put_details(&text, packet);
    pug_text_format(&text, "; '%s'",
                    known ? words[packet->type].description : "ERROR: unknown packet type");
    return pug_text_end(&text);
}

/* ---- events ---- */

static const char *const exceptions[16] = {
    "thread mode", "Reset",   "NMI", "HardFault", "MemManage", "BusFault",     "UsageFault",
    "SecureFault", "",        "",    "",          "SVCall",    "DebugMonitor", "",
    "PendSV",      "SysTick",
};

size_t pug_dwt_exception_name(unsigned number, char *buffer, size_t size)
{
    struct pug_text text = PUG_TEXT(buffer, size);
    if (number < 16)
        pug_text_put(&text, exceptions[number]);
    else
        pug_text_format(&text, "IRQ%u", number - 16);
    return pug_text_end(&text);
}

/** Numbers that read the same in decimal and hexadecimal need no 0x. */
static void put_number(struct pug_text *text, uint32_t number)
{
    pug_text_format(text, number < 10 ? "%u" : "0x%x", number);
}

static void put_exception(struct pug_text *text, const struct pug_dwt_event *event)
{
    static const char *const did[] = {"(reserved function)", "entered", "exited", "returned to"};
    char name[32];
    pug_text_format(text, "exception %u ", event->number);
    if (pug_dwt_exception_name(event->number, name, sizeof(name)) > 0)
        pug_text_format(text, "%s ", name);
    pug_text_put(text, did[event->action & 3]);
}

static void put_wrapped(struct pug_text *text, const struct pug_dwt_event *event)
{
    pug_text_put(text, "event counters wrapped:");
    for (unsigned bit = 0; bit < sizeof(counter_names) / sizeof(counter_names[0]); bit++)
        if (event->counters & 1u << bit)
            pug_text_put_n(text, counter_names[bit], strlen(counter_names[bit]) - 1);
    if (!(event->counters & 0x3f))
        pug_text_put(text, " none");
}

static void put_data(struct pug_text *text, const struct pug_dwt_event *event)
{
    pug_text_put(text, "data ");
    pug_text_put(text, !event->has_value ? "access" : event->write ? "write" : "read");
    if (event->has_address) {
        pug_text_put(text, " 0x");
        pug_text_hex(text, event->address, 2u * event->address_size);
    } else {
        pug_text_format(text, " comparator %u", event->comparator);
    }
    if (event->has_value) {
        pug_text_put(text, " = ");
        put_number(text, event->value);
    }
    if (event->has_pc)
        pug_text_format(text, " by 0x%08x", event->pc);
    if (event->has_address)
        pug_text_format(text, " (comparator %u)", event->comparator);
}

size_t pug_dwt_text(const struct pug_dwt_event *event, char *buffer, size_t size)
{
    struct pug_text text = PUG_TEXT(buffer, size);
    switch (event->kind) {
    case PUG_DWT_STIMULUS:
        pug_text_format(&text, "port %u = 0x%0*x", event->number, 2 * event->size, event->value);
        break;
    case PUG_DWT_COUNTERS: put_wrapped(&text, event); break;
    case PUG_DWT_EXCEPTION: put_exception(&text, event); break;
    case PUG_DWT_PC_SAMPLE: pug_text_format(&text, "PC sample 0x%08x", event->pc); break;
    case PUG_DWT_SLEEPING: pug_text_put(&text, "PC sample: sleeping"); break;
    case PUG_DWT_DENIED: pug_text_put(&text, "PC sample: not permitted"); break;
    case PUG_DWT_PMU: pug_text_format(&text, "PMU overflow: 0x%02x", event->counters); break;
    case PUG_DWT_MATCH: pug_text_format(&text, "comparator %u matched", event->comparator); break;
    case PUG_DWT_DATA: put_data(&text, event); break;
    default:
        pug_text_format(&text, "hardware source %u = 0x%0*x", event->number, 2 * event->size,
                        event->value);
    }
    return pug_text_end(&text);
}
