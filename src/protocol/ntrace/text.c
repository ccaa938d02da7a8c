// SPDX-License-Identifier: MIT
/** @file Messages in words: one line each, fields in the specification's order. */
#include "base/text.h"
#include "protocol/ntrace/message.h"
#include "protocol/ntrace/ntrace.h"

static const struct {
    const char *name;
    bool hex;
} fields[PUG_NTRACE_FIELDS] = {
    [PUG_NTRACE_SYNC] = {"SYNC", false},      [PUG_NTRACE_BTYPE] = {"BTYPE", false},
    [PUG_NTRACE_ETYPE] = {"ETYPE", false},    [PUG_NTRACE_RCODE] = {"RCODE", false},
    [PUG_NTRACE_EVCODE] = {"EVCODE", false},  [PUG_NTRACE_CDF] = {"CDF", false},
    [PUG_NTRACE_CKSRC] = {"CKSRC", false},    [PUG_NTRACE_CKDF] = {"CKDF", false},
    [PUG_NTRACE_ICNT] = {"ICNT", false},      [PUG_NTRACE_ADDR] = {"XADDR", true},
    [PUG_NTRACE_HIST] = {"HIST", true},       [PUG_NTRACE_HREPEAT] = {"HREPEAT", false},
    [PUG_NTRACE_ECODE] = {"ECODE", true},     [PUG_NTRACE_RDATA] = {"RDATA", true},
    [PUG_NTRACE_IDTAG] = {"IDTAG", false},    [PUG_NTRACE_DATA] = {"DQDATA", true},
    [PUG_NTRACE_CKDATA0] = {"CKDATA0", true}, [PUG_NTRACE_CKDATA1] = {"CKDATA1", true},
};

/** TCODEs that are listed by name and fields; the others are "Unknown" with their number. */
static bool is_listed(unsigned tcode)
{
    return tcode < 64 && pug_ntrace_layout((uint8_t)tcode)->name &&
           tcode != PUG_NTRACE_AUX_ACCESS_WRITE;
}

static void put_process(struct pug_text *text, uint64_t process)
{
    pug_text_format(text, " FORMAT=%u PRV=%u V=%u CONTEXT=0x", (unsigned)(process & 3),
                    (unsigned)(process >> 2 & 3), (unsigned)(process >> 4 & 1));
    pug_text_hex(text, process >> 5, 1);
}

static void put_field(struct pug_text *text, unsigned field, uint64_t value)
{
    if (field == PUG_NTRACE_PROCESS) {
        put_process(text, value);
        return;
    }
    pug_text_format(text, " %s=%s", fields[field].name, fields[field].hex ? "0x" : "");
    if (fields[field].hex)
        pug_text_hex(text, value, 1);
    else
        pug_text_decimal(text, value);
}

static void put_fields(struct pug_text *text, const struct pug_ntrace_packet *packet)
{
    const struct pug_ntrace_layout *layout = pug_ntrace_layout(packet->tcode);
    uint8_t variable[PUG_NTRACE_VARIABLES];
    unsigned count = pug_ntrace_variables(layout, packet, variable);
    for (unsigned i = 0; i < layout->fixed_count; i++)
        put_field(text, layout->fixed[i], packet->field[layout->fixed[i]]);
    for (unsigned i = 0; i < count; i++)
        put_field(text, variable[i], packet->field[variable[i]]);
}

const char *pug_ntrace_packet_name(uint32_t type)
{
    if (type == PUG_NTRACE_BAD)
        return "Bad";
    if (type == PUG_NTRACE_INCOMPLETE)
        return "Incomplete";
    return is_listed(type) ? pug_ntrace_layout((uint8_t)type)->name : "Unknown";
}

size_t pug_ntrace_packet_text(const void *data, char *buffer, size_t size)
{
    const struct pug_ntrace_packet *packet = data;
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_format(&text, "%s : ", pug_ntrace_packet_name(packet->type));
    if (packet->type == PUG_NTRACE_BAD) {
        if (packet->problem >= PUG_NTRACE_TOO_LONG) /* before that, the cause is unknown */
            pug_text_format(&text, "TCODE=%u; ", packet->tcode);
        pug_text_format(&text, "%s%s",
                        pug_ntrace_problem_text((enum pug_ntrace_problem)packet->problem),
                        packet->gap ? "; gap" : "");
        return pug_text_end(&text);
    }
    pug_text_put(&text, "Time=");
    pug_text_decimal(&text, packet->field[PUG_NTRACE_TSTAMP]);
    pug_text_format(&text, " TCODE=%u", packet->tcode);
    if (packet->tcode != PUG_NTRACE_IDLE)
        pug_text_format(&text, " Src=%u", packet->source);
    if (packet->type < 64 && is_listed(packet->tcode))
        put_fields(&text, packet);
    if (packet->gap)
        pug_text_put(&text, " gap");
    return pug_text_end(&text);
}
