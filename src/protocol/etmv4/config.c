// SPDX-License-Identifier: MIT
/** @file Registers to settings (ETMv4 and ETE specifications, register descriptions). */
#include "base/text.h"
#include "isa/core_names.h"
#include "protocol/builtin.h"
#include "protocol/etmv4/etmv4.h"

#include <stdlib.h>

static uint32_t field(uint32_t reg, unsigned high, unsigned low)
{
    return (reg >> low) & ((1u << (high - low + 1)) - 1);
}

static bool bit(uint32_t reg, unsigned n)
{
    return (reg >> n) & 1;
}

/** Size of a context id or VMID in bytes: 4, 2 and 1 where the version knows them, else none. */
static uint8_t vmid_size(uint32_t size, uint8_t version)
{
    if (size == 1 || (version > 0x40 && (size == 2 || size == 4)))
        return (uint8_t)size;
    return 0;
}

static void derive(struct pug_etmv4_config *c)
{
    uint32_t instp0 = field(c->configr, 2, 1), cond = field(c->configr, 10, 8);
    c->ete = c->version >= 0x50;
    c->commit_option_1 = bit(c->idr0, 29) && bit(c->idr0, 7);
    c->trans_start_is_p0 = !bit(c->idr0, 30);
    c->marker_used = bit(c->idr0, 23) && c->version >= 0x51;
    c->q_supported = field(c->idr0, 16, 15) != 0;
    c->wfx_is_branch = bit(c->idr2, 31) && c->version >= 0x43;
    c->cycle_count = bit(c->configr, 4);
    c->broadcast = bit(c->configr, 3);
    c->timestamps = bit(c->configr, 11);
    c->return_stack = bit(c->configr, 12);
    c->load_store_p0 = instp0 != 0;
    c->data_trace = field(c->idr0, 4, 3) == 3 && instp0 != 0 && field(c->configr, 17, 16) != 0;
    c->cond_implemented = bit(c->idr0, 6);
    c->cond_enabled = cond == 1 || cond == 2 || cond == 3 || cond == 7;
    c->vmid_size = vmid_size(field(c->idr2, 14, 10), c->version);
    c->context_id_size = field(c->idr2, 9, 5) == 4 ? 4 : 0;
    c->cycle_count_bits = (uint8_t)(field(c->idr2, 28, 25) + 12);
}

static enum pug_status new_config(const struct pug_settings *settings, struct pug_log *log,
                                  bool ete, void **config)
{
    struct pug_etmv4_config *c = calloc(1, sizeof(*c));
    if (!c)
        return PUG_ERR_MEM;
    const struct {
        const char *name;
        uint32_t *reg;
        uint32_t otherwise;
    } registers[] = {
        {"TRCIDR0", &c->idr0, 0x28000EA1},
        {"TRCIDR1", &c->idr1, ete ? 0x4100FFF3 : 0x4100F403},
        {"TRCIDR2", &c->idr2, 0x00000488},
        {"TRCIDR8", &c->idr8, 0},
        {"TRCIDR9", &c->idr9, 0},
        {"TRCIDR10", &c->idr10, 0},
        {"TRCIDR11", &c->idr11, 0},
        {"TRCIDR12", &c->idr12, 0},
        {"TRCIDR13", &c->idr13, 0},
        {"TRCCONFIGR", &c->configr, 0xC1},
        {"TRCTRACEIDR", &c->traceidr, (uint32_t)pug_settings_number(settings, "src_id", 0)},
        {"TRCDEVARCH", &c->devarch, 0x47705A13},
    };
    for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
        *registers[i].reg =
            (uint32_t)pug_settings_number(settings, registers[i].name, registers[i].otherwise);
    enum pug_arch arch = ete ? PUG_ARCH_AA64 : PUG_ARCH_V7;
    enum pug_arch_profile profile = ete ? PUG_PROFILE_A : PUG_PROFILE_UNKNOWN;
    pug_core_of_settings(settings, log, ete ? "ETE" : "ETMV4I", &arch, &profile);
    c->arch = (uint16_t)arch;
    c->profile = (uint8_t)profile;
    if (ete) {
        c->idr9 = c->idr10 = c->idr11 = c->idr12 = c->idr13 = 0;
        c->version = (uint8_t)(field(c->devarch, 15, 12) << 4 | field(c->devarch, 19, 16));
    } else {
        c->version = (uint8_t)(field(c->idr1, 11, 8) << 4 | field(c->idr1, 7, 4));
    }
    derive(c);
    pug_etmv4_make_headers(c);
    *config = c;
    return PUG_OK;
}

static enum pug_status etmv4_config_new(const struct pug_settings *settings, struct pug_log *log,
                                        void **config)
{
    return new_config(settings, log, false, config);
}

static enum pug_status ete_config_new(const struct pug_settings *settings, struct pug_log *log,
                                      void **config)
{
    return new_config(settings, log, true, config);
}

static uint16_t trace_id(const void *config)
{
    const struct pug_etmv4_config *c = config;
    return c->traceidr & 0x7F;
}

static const char *yes(bool is)
{
    return is ? "yes" : "no";
}

static const char *profile_name(uint8_t profile)
{
    static const char *const names[] = {"unknown", "M", "R", "A", "custom"};
    return profile < sizeof(names) / sizeof(names[0]) ? names[profile] : "unknown";
}

static size_t config_text(const void *config, char *buffer, size_t size)
{
    const struct pug_etmv4_config *c = config;
    static const char *const q_names[] = {"no", "count only", "no count only", "yes"};
    struct pug_text text = PUG_TEXT(buffer, size);
    unsigned major = c->version >> 4, minor = c->version & 0xfu;
    if (c->ete)
        pug_text_format(&text, "version: ETE %u.%u\n", major - 4, minor);
    else
        pug_text_format(&text, "version: ETM %u.%u\n", major, minor);
    pug_text_format(&text, "trace id: 0x%02x\n", c->traceidr & 0x7Fu);
    pug_text_format(&text, "core: architecture 0x%03x, profile %s\n", c->arch,
                    profile_name(c->profile));
    pug_text_format(&text, "speculation: up to %u elements\n", c->idr8);
    pug_text_format(&text, "return stack: %s\n", yes(c->return_stack));
    pug_text_format(&text, "cycle counting: %s, %u bits, commits in its packets: %s\n",
                    yes(c->cycle_count), c->cycle_count_bits, yes(!c->commit_option_1));
    pug_text_format(&text, "context id: %u bytes, traced: %s\n", c->context_id_size,
                    yes(bit(c->configr, 6)));
    pug_text_format(&text, "VMID: %u bytes, traced: %s\n", c->vmid_size, yes(bit(c->configr, 7)));
    pug_text_format(&text, "timestamps: %s%s\n", yes(c->timestamps),
                    c->marker_used ? ", with markers" : "");
    pug_text_format(&text, "branch broadcast: %s\n", yes(c->broadcast));
    pug_text_format(&text, "Q elements: %s\n", q_names[field(c->idr0, 16, 15)]);
    pug_text_format(&text, "WFI and WFE are branches: %s\n", yes(c->wfx_is_branch));
    pug_text_format(&text, "data trace: %s\n", yes(c->data_trace));
    pug_text_format(&text, "loads and stores as P0: %s\n", yes(c->load_store_p0));
    pug_text_format(&text, "conditional instructions: %s\n",
                    yes(c->cond_implemented && c->cond_enabled));
    if (c->ete)
        pug_text_format(&text, "transaction start is P0: %s\n", yes(c->trans_start_is_p0));
    return pug_text_end(&text);
}

static const struct pug_register etmv4_registers[] = {
    {.name = "TRCCONFIGR", .other_name = "TRCONFIGR"}, /* as the snapshot format spells it */
    {.name = "TRCTRACEIDR", .need = PUG_REGISTER_ID},
    {.name = "TRCIDR0"},
    {.name = "TRCIDR1", .need = PUG_REGISTER_ASSUMED, .assumed = 0x4100f403},
    {.name = "TRCIDR2"},
    {.name = "TRCIDR8", .need = PUG_REGISTER_ASSUMED},
    {.name = "TRCIDR9", .need = PUG_REGISTER_UNUSED},
    {.name = "TRCIDR10", .need = PUG_REGISTER_UNUSED},
    {.name = "TRCIDR11", .need = PUG_REGISTER_UNUSED},
    {.name = "TRCIDR12", .need = PUG_REGISTER_UNUSED},
    {.name = "TRCIDR13", .need = PUG_REGISTER_UNUSED},
    {0},
};

static const struct pug_register ete_registers[] = {
    {.name = "TRCCONFIGR", .other_name = "TRCONFIGR"}, /* as the snapshot format spells it */
    {.name = "TRCTRACEIDR", .need = PUG_REGISTER_ID},
    {.name = "TRCIDR0"},
    {.name = "TRCIDR1", .need = PUG_REGISTER_ASSUMED, .assumed = 0x4100f403},
    {.name = "TRCIDR2"},
    {.name = "TRCIDR8", .need = PUG_REGISTER_ASSUMED},
    {.name = "TRCDEVARCH", .need = PUG_REGISTER_ASSUMED, .assumed = 0x47705a13},
    {0},
};

#define USUAL                                                                                      \
    "TRCTRACEIDR=0x10 TRCCONFIGR=0 TRCIDR8=0 TRCIDR0=0x28000ea1 TRCIDR1=0x4100f422 TRCIDR2="

static const struct pug_usual etmv4_usual[] = {
    {USUAL "0x20001088", "", NULL, 1},
    {USUAL "0x488", "TRCIDR2=0x488", NULL, 1},
    {USUAL "0x8", "TRCIDR2=0x8", NULL, 1},
    {"TRCCONFIGR=0x10 " USUAL "0x20001088", "TRCCONFIGR=0x10", NULL, 1},
    {"TRCCONFIGR=0x10 TRCIDR0=0x8000ea1 " USUAL "0x20001088",
     "TRCCONFIGR=0x10 --set TRCIDR0=0x8000ea1", NULL, 1},
    {0}};

#define ETE_USUAL                                                                                  \
    "TRCTRACEIDR=0x10 TRCCONFIGR=0 TRCIDR8=0 TRCIDR0=0x28000ea1 TRCIDR1=0x4100fff3 "               \
    "TRCDEVARCH=0x47705a13 TRCIDR2="

static const struct pug_usual ete_usual[] = {
    {"TRCCONFIGR=0x6000 TRCIDR0=0x28018ea1 " ETE_USUAL "0x20001088",
     "TRCCONFIGR=0x6000 --set TRCIDR0=0x28018ea1", NULL, 1},
    {ETE_USUAL "0x20001088", "", NULL, 1},
    {ETE_USUAL "0x488", "TRCIDR2=0x488", NULL, 1},
    {0}};

/** IHI 0064, TRCIDR0, TRCIDR2, TRCCONFIGR. */
static const struct pug_doubt doubts[] = {
    {"TRCIDR2", "CIDSIZE, bytes of a context id", 0x3e0, {0x0, 0x80}, 2},
    {"TRCIDR2", "VMIDSIZE, bytes of a VMID", 0x7c00, {0x0, 0x400, 0x800, 0x1000}, 4},
    {"TRCIDR0", "COMMOPT, whether cycle counts tell of commits", 0x20000000, {0x0, 0x20000000}, 2},
    {"TRCCONFIGR", "CCI, cycle counts", 0x10, {0x0, 0x10}, 2},
    {0},
};

static const struct pug_description etmv4_description = {
    .usual = etmv4_usual,
    .doubts = doubts,
    .types = (const struct pug_device_type[]){{"ETM", 4, "ETM4", 0}, {0}},
    .registers = etmv4_registers,
    .traces_core = true,
    .usual_arch = PUG_ARCH_AA64,
    .counts_apart = true,
};

static const struct pug_description ete_description = {
    .extends = "ETMV4I",
    .usual = ete_usual,
    .doubts = doubts,
    .types = (const struct pug_device_type[]){{"ETE", 0, "ETE", 0}, {0}},
    .registers = ete_registers,
    .traces_core = true,
    .usual_arch = PUG_ARCH_AA64,
    .counts_apart = true,
};

#define FUNCTIONS                                                                                  \
    .reader_name = "PKTP_ETMV4I", .decoder_name = "DCD_ETMV4", .program_flow = true,               \
    .config_free = free, .trace_id = trace_id, .config_text = config_text,                         \
    .reader_new = pug_etmv4_reader_new, .reader_free = pug_etmv4_reader_free,                      \
    .read = pug_etmv4_read, .read_end = pug_etmv4_read_end,                                        \
    .reader_reset = pug_etmv4_reader_reset, .decoder_new = pug_etmv4_decoder_new,                  \
    .decoder_free = pug_etmv4_decoder_free, .decode = pug_etmv4_decode,                            \
    .fast_path = pug_etmv4_fast_path, .resume = pug_etmv4_resume,                                  \
    .decode_end = pug_etmv4_decode_end, .decoder_reset = pug_etmv4_decoder_reset,                  \
    .packet_text = pug_etmv4_packet_text, .packet_name = pug_etmv4_packet_name,                    \
    .packet_marks = pug_etmv4_marks, .reader_state = pug_etmv4_reader_state,                       \
    .decoder_state = pug_etmv4_decoder_state, .options_changed = pug_etmv4_options_changed,        \
    .self_synced = pug_etmv4_self_synced

const struct pug_protocol pug_protocol_etmv4 = {
    .name = "ETMV4I",
    .title = "Arm ETMv4 instruction trace",
    .description = &etmv4_description,
    .config_new = etmv4_config_new,
    FUNCTIONS,
};

const struct pug_protocol pug_protocol_ete = {
    .name = "ETE",
    .title = "Arm Embedded Trace Extension",
    .description = &ete_description,
    .config_new = ete_config_new,
    FUNCTIONS,
};
