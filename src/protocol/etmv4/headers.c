// SPDX-License-Identifier: MIT
/** @file The table of header bytes: what each begins in a given configuration. */
#include "protocol/etmv4/address.h"

/* ---- addresses ---- */

#define ABOVE(bits) ~((UINT64_C(1) << (bits)) - 1)
#define MATCH(n)                                                                                   \
    {                                                                                              \
        .kept = UINT64_MAX, .kept_tail = 0xffff00ff, .shift = 1, .entry = (n)                      \
    }
#define SHORT(known, more, is)                                                                     \
    {                                                                                              \
        .kept = ABOVE(known), .entry = PUG_ETMV4_REGISTER, .tail = (known) << 16 | (is) << 24,     \
        .kept_tail = 0xff, .low = 0x7f, .middle = (more)*0xff00, .shift = 2 - (is),                \
        .bits = (known)                                                                            \
    }
#define LONG(known, above, all, is)                                                                \
    {                                                                                              \
        .kept = (above), .entry = PUG_ETMV4_REGISTER,                                              \
        .high = ((known) == 32 ? UINT32_MAX : UINT64_MAX) & ~UINT64_C(0xffff),                     \
        .tail = (all) | (known) << 16 | (is) << 24, .low = 0x7f, .middle = (is) ? 0xff00 : 0x7f00, \
        .shift = 2 - (is), .bits = (known)                                                         \
    }
#define FORMS(above, all)                                                                          \
    {                                                                                              \
        [0x00] = MATCH(0), [0x10] = MATCH(0), [0x01] = MATCH(1), [0x11] = MATCH(1),                \
        [0x02] = MATCH(2), [0x12] = MATCH(2), [0x05] = SHORT(9, 0, 0), [0x15] = SHORT(17, 1, 0),   \
        [0x06] = SHORT(8, 0, 1), [0x16] = SHORT(16, 1, 1), [0x0A] = LONG(32, above, all, 0),       \
        [0x1A] = LONG(32, above, all, 0), [0x0B] = LONG(32, above, all, 1),                        \
        [0x1B] = LONG(32, above, all, 1), [0x0D] = LONG(64, 0, 64, 0),                             \
        [0x1D] = LONG(64, 0, 64, 0), [0x0E] = LONG(64, 0, 64, 1), [0x1E] = LONG(64, 0, 64, 1),     \
    }

const struct pug_etmv4_address_form pug_etmv4_address_forms[2][32] = {FORMS(0, 32),
                                                                      FORMS(ABOVE(32), 64)};

/* ---- headers ---- */

/** When a header exists. Otherwise it is reserved, or not there in this configuration. */
enum condition {
    ALWAYS,
    FUNC_RET,   /* M profile from v8 on, from ETM 4.2 on; else reserved */
    EXCEPT_RTN, /* not in ETE: there not in this configuration */
    ITE,        /* from ETE 1.3 on; else reserved */
    ETE,        /* else reserved */
    IGNORE,     /* from ETM 4.3 on; else reserved */
    TS_MARKER,  /* from ETM 4.6 on; else reserved */
    DATA_TRACE, /* else not in this configuration */
    COND_TRACE, /* else not in this configuration */
    Q_ELEMENTS, /* else reserved */
};

struct row {
    uint8_t first, last;
    uint16_t type;
    uint8_t form, condition, is;
    uint32_t fields;
};

/* Up to three fields, in order. */
#define FIELDS1(a)    (PUG_ETMV4_FIELD_##a)
#define FIELDS2(a, b) (FIELDS1(a) | PUG_ETMV4_FIELD_##b << 4)
#define ROW(first, last, type, form, condition, is, fields)                                        \
    {                                                                                              \
        first, last, PUG_ETMV4_##type, PUG_ETMV4_FORM_##form, condition, is, fields                \
    }

static const struct row rows[] = {
    ROW(0x00, 0x00, EXTENSION, EXTENSION, ALWAYS, 0, FIELDS1(EXTENSION)),
    ROW(0x01, 0x01, TRACE_INFO, TRACE_INFO, ALWAYS, 0, FIELDS1(PLCTL)),
    ROW(0x02, 0x02, TIMESTAMP, TIMESTAMP, ALWAYS, 0, FIELDS1(TS)),
    ROW(0x03, 0x03, TIMESTAMP, TIMESTAMP, ALWAYS, 0, FIELDS2(TS, LEB)),
    ROW(0x04, 0x04, TRACE_ON, BARE, ALWAYS, 0, 0),
    ROW(0x05, 0x05, FUNC_RET, BARE, FUNC_RET, 0, 0),
    ROW(0x06, 0x06, EXCEPT, EXCEPT, ALWAYS, 0, FIELDS1(EXCEPT)),
    ROW(0x07, 0x07, EXCEPT_RTN, BARE, EXCEPT_RTN, 0, 0),
    ROW(0x09, 0x09, ITE, ITE, ITE, 0, FIELDS1(9)),
    ROW(0x0A, 0x0A, TRANS_ST, BARE, ETE, 0, 0),
    ROW(0x0B, 0x0B, TRANS_COMMIT, BARE, ETE, 0, 0),
    ROW(0x0C, 0x0D, CCNT_F2, CCNT_F2, ALWAYS, 0, FIELDS1(1)),
    ROW(0x0E, 0x0E, CCNT_F1, CCNT_F1, ALWAYS, 0, FIELDS2(LEB, LEB)),
    ROW(0x0F, 0x0F, CCNT_F1, CCNT_F1, ALWAYS, 0, FIELDS1(LEB)),
    ROW(0x10, 0x1F, CCNT_F3, CCNT_F3, ALWAYS, 0, 0),
    ROW(0x20, 0x27, NUM_DS_MKR, DS_MARKER, DATA_TRACE, 0, 0),
    ROW(0x28, 0x2C, UNNUM_DS_MKR, DS_MARKER, DATA_TRACE, 0, 0),
    ROW(0x2D, 0x2D, COMMIT, COMMIT, ALWAYS, 0, FIELDS1(LEB)),
    ROW(0x2E, 0x2E, CANCEL_F1, CANCEL_F1, ALWAYS, 0, FIELDS1(LEB)),
    ROW(0x2F, 0x2F, CANCEL_F1_MISPRED, CANCEL_F1, ALWAYS, 0, FIELDS1(LEB)),
    ROW(0x30, 0x33, MISPREDICT, CANCEL, ALWAYS, 0, 0),
    ROW(0x34, 0x37, CANCEL_F2, CANCEL, ALWAYS, 0, 0),
    ROW(0x38, 0x3F, CANCEL_F3, CANCEL, ALWAYS, 0, 0),
    ROW(0x40, 0x42, COND_I_F2, COND_I, COND_TRACE, 0, 0),
    ROW(0x43, 0x43, COND_FLUSH, BARE, COND_TRACE, 0, 0),
    ROW(0x44, 0x46, COND_RES_F4, COND_RES, COND_TRACE, 0, 0),
    ROW(0x48, 0x4A, COND_RES_F2, COND_RES, COND_TRACE, 0, 0),
    ROW(0x4C, 0x4E, COND_RES_F2, COND_RES, COND_TRACE, 0, 0),
    ROW(0x50, 0x5F, COND_RES_F3, COND_RES, COND_TRACE, 0, FIELDS1(1)),
    ROW(0x68, 0x6B, COND_RES_F1, COND_RES, COND_TRACE, 0, FIELDS2(LEB, LEB)),
    ROW(0x6C, 0x6C, COND_I_F1, COND_I, COND_TRACE, 0, FIELDS1(LEB)),
    ROW(0x6D, 0x6D, COND_I_F3, COND_I, COND_TRACE, 0, FIELDS1(1)),
    ROW(0x6E, 0x6F, COND_RES_F1, COND_RES, COND_TRACE, 0, FIELDS1(LEB)),
    ROW(0x70, 0x70, IGNORE, BARE, IGNORE, 0, 0),
    ROW(0x71, 0x7F, EVENT, EVENT, ALWAYS, 0, 0),
    ROW(0x80, 0x80, CTXT, CTXT, ALWAYS, 0, 0),
    ROW(0x81, 0x81, CTXT, CTXT, ALWAYS, 0, FIELDS1(CONTEXT)),
    ROW(0x82, 0x82, ADDR_CTXT_L_32IS0, ADDR_CTXT_32, ALWAYS, 0, FIELDS2(4, CONTEXT)),
    ROW(0x83, 0x83, ADDR_CTXT_L_32IS1, ADDR_CTXT_32, ALWAYS, 1, FIELDS2(4, CONTEXT)),
    ROW(0x85, 0x85, ADDR_CTXT_L_64IS0, ADDR_CTXT_64, ALWAYS, 0, FIELDS2(8, CONTEXT)),
    ROW(0x86, 0x86, ADDR_CTXT_L_64IS1, ADDR_CTXT_64, ALWAYS, 1, FIELDS2(8, CONTEXT)),
    ROW(0x88, 0x88, TS_MARKER, BARE, TS_MARKER, 0, 0),
    ROW(0x90, 0x90, ADDR_MATCH, MATCH, ALWAYS, 0, 0),
    ROW(0x91, 0x91, ADDR_MATCH, MATCH, ALWAYS, 1, 0),
    ROW(0x92, 0x92, ADDR_MATCH, MATCH, ALWAYS, 2, 0),
    ROW(0x95, 0x95, ADDR_S_IS0, ADDR_S, ALWAYS, 0, FIELDS1(SHORT)),
    ROW(0x96, 0x96, ADDR_S_IS1, ADDR_S, ALWAYS, 1, FIELDS1(SHORT)),
    ROW(0x9A, 0x9A, ADDR_L_32IS0, ADDR_32, ALWAYS, 0, FIELDS1(4)),
    ROW(0x9B, 0x9B, ADDR_L_32IS1, ADDR_32, ALWAYS, 1, FIELDS1(4)),
    ROW(0x9D, 0x9D, ADDR_L_64IS0, ADDR_64, ALWAYS, 0, FIELDS1(8)),
    ROW(0x9E, 0x9E, ADDR_L_64IS1, ADDR_64, ALWAYS, 1, FIELDS1(8)),
    ROW(0xA0, 0xA0, Q, Q, Q_ELEMENTS, 0, FIELDS1(LEB)),
    ROW(0xA1, 0xA1, Q, Q, Q_ELEMENTS, 1, FIELDS1(LEB)),
    ROW(0xA2, 0xA2, Q, Q, Q_ELEMENTS, 2, FIELDS1(LEB)),
    ROW(0xA5, 0xA5, Q, Q, Q_ELEMENTS, 0, FIELDS2(SHORT, LEB)),
    ROW(0xA6, 0xA6, Q, Q, Q_ELEMENTS, 1, FIELDS2(SHORT, LEB)),
    ROW(0xAA, 0xAA, Q, Q, Q_ELEMENTS, 0, FIELDS2(4, LEB)),
    ROW(0xAB, 0xAB, Q, Q, Q_ELEMENTS, 1, FIELDS2(4, LEB)),
    ROW(0xAC, 0xAC, Q, Q, Q_ELEMENTS, 0, FIELDS1(LEB)),
    ROW(0xAF, 0xAF, Q, Q, Q_ELEMENTS, 0, 0),
    ROW(0xB0, 0xB0, SRC_ADDR_MATCH, MATCH, ETE, 0, 0),
    ROW(0xB1, 0xB1, SRC_ADDR_MATCH, MATCH, ETE, 1, 0),
    ROW(0xB2, 0xB2, SRC_ADDR_MATCH, MATCH, ETE, 2, 0),
    ROW(0xB4, 0xB4, SRC_ADDR_S_IS0, ADDR_S, ETE, 0, FIELDS1(SHORT)),
    ROW(0xB5, 0xB5, SRC_ADDR_S_IS1, ADDR_S, ETE, 1, FIELDS1(SHORT)),
    ROW(0xB6, 0xB6, SRC_ADDR_L_32IS0, ADDR_32, ETE, 0, FIELDS1(4)),
    ROW(0xB7, 0xB7, SRC_ADDR_L_32IS1, ADDR_32, ETE, 1, FIELDS1(4)),
    ROW(0xB8, 0xB8, SRC_ADDR_L_64IS0, ADDR_64, ETE, 0, FIELDS1(8)),
    ROW(0xB9, 0xB9, SRC_ADDR_L_64IS1, ADDR_64, ETE, 1, FIELDS1(8)),
    ROW(0xC0, 0xD4, ATOM_F6, ATOM, ALWAYS, 0, 0),
    ROW(0xD5, 0xD7, ATOM_F5, ATOM, ALWAYS, 0, 0),
    ROW(0xD8, 0xDB, ATOM_F2, ATOM, ALWAYS, 0, 0),
    ROW(0xDC, 0xDF, ATOM_F4, ATOM, ALWAYS, 0, 0),
    ROW(0xE0, 0xF4, ATOM_F6, ATOM, ALWAYS, 0, 0),
    ROW(0xF5, 0xF5, ATOM_F5, ATOM, ALWAYS, 0, 0),
    ROW(0xF6, 0xF7, ATOM_F1, ATOM, ALWAYS, 0, 0),
    ROW(0xF8, 0xFF, ATOM_F3, ATOM, ALWAYS, 0, 0),
};

/** The form that a header has where its condition does not hold; 0 where it does. */
static uint8_t refusal(const struct pug_etmv4_config *config, enum condition condition)
{
    const uint8_t reserved = PUG_ETMV4_FORM_RESERVED, cfg = PUG_ETMV4_FORM_RESERVED_CFG;
    switch (condition) {
    case ALWAYS: break;
    case FUNC_RET:
        return config->profile == PUG_PROFILE_M && config->arch >= PUG_ARCH_V8 &&
                       config->arch <= PUG_ARCH_AA64 && config->version >= 0x42
                   ? 0
                   : reserved;
    case EXCEPT_RTN: return config->ete ? cfg : 0;
    case ITE: return config->ete && (config->version & 0xf) >= 3 ? 0 : reserved;
    case ETE: return config->ete ? 0 : reserved;
    case IGNORE: return config->version >= 0x43 ? 0 : reserved;
    case TS_MARKER: return config->version >= 0x46 ? 0 : reserved;
    case DATA_TRACE: return config->data_trace ? 0 : cfg;
    case COND_TRACE: return config->cond_implemented && config->cond_enabled ? 0 : cfg;
    case Q_ELEMENTS: return config->q_supported ? 0 : reserved;
    }
    return 0;
}

uint32_t pug_etmv4_atoms(uint8_t byte)
{
    static const uint8_t f4[4] = {0x1E, 0x10, 0x1A, 0x15}; /* NEEE NNNN NENE ENEN */
    static const uint8_t f5[4] = {0x3E, 0x20, 0x2A, 0x35}; /* NEEEE NNNNN NENEN ENENE */
    const unsigned run = (byte & 0x1F) + 3;                /* F6: of E, then bit 5 says N or E */
    if (byte >= 0xF8)
        return 8 | (byte & 7);
    if (byte >= 0xF6)
        return 2 | (byte & 1);
    if (byte == 0xF5)
        return f5[0];
    if (byte >= 0xD5 && byte < 0xE0)
        return byte >= 0xDC ? f4[byte & 3] : byte >= 0xD8 ? 4 | (byte & 3) : f5[byte & 3];
    return (byte & 0x20 ? 2u : 3u) << run | ((1u << run) - 1);
}

/** The atoms that MISPREDICT and CANCEL imply. */
static uint32_t implied_atoms(uint16_t type, unsigned byte)
{
    static const uint8_t counts[4] = {0, 1, 2, 1}, bits[4] = {0, 1, 3, 0}; /* none E EE N */
    if (type == PUG_ETMV4_CANCEL_F3)
        return 1u << (byte & 1) | (byte & 1);
    return 1u << counts[byte & 3] | bits[byte & 3];
}

/** The size of a packet whose fields say that it is always the same; else 0. */
static uint8_t fixed_size(uint32_t fields)
{
    switch (fields) {
    case 0: return 1;
    case PUG_ETMV4_FIELD_1: return 2;
    case PUG_ETMV4_FIELD_4: return 5;
    case PUG_ETMV4_FIELD_8: return 9;
    case PUG_ETMV4_FIELD_9: return 10;
    default: return 0;
    }
}

static struct pug_etmv4_header make_header(const struct pug_etmv4_config *config,
                                           const struct row *row, unsigned byte)
{
    struct pug_etmv4_header header = {
        .atoms = 1, .type = row->type, .form = row->form, .fields = row->fields, .is = row->is};
    uint8_t refused = refusal(config, row->condition);
    if (refused) {
        header.form = refused;
        header.fields = 0;
    } else if (row->form == PUG_ETMV4_FORM_ATOM) {
        header.atoms = pug_etmv4_atoms((uint8_t)byte);
    } else if (row->form == PUG_ETMV4_FORM_CANCEL) {
        header.atoms = implied_atoms(row->type, byte);
    } else if (row->form == PUG_ETMV4_FORM_CCNT_F1 && config->commit_option_1) {
        header.fields >>= 4; /* no commit field */
    }
    header.atom_count = (uint8_t)(31 - __builtin_clz(header.atoms));
    header.size = fixed_size(header.fields);
    return header;
}

void pug_etmv4_make_headers(struct pug_etmv4_config *config)
{
    for (unsigned byte = 0; byte < 256; byte++)
        config->headers[byte] =
            (struct pug_etmv4_header){.type = PUG_ETMV4_RESERVED, .form = PUG_ETMV4_FORM_RESERVED};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (unsigned byte = rows[i].first; byte <= rows[i].last; byte++)
            config->headers[byte] = make_header(config, &rows[i], byte);
}
