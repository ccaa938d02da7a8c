// SPDX-License-Identifier: MIT
#include "protocol/armv7.h"

#include "image/codemap.h"
#include "isa/core_names.h"

#include <stdio.h>

/* ---- registers ---- */

static bool take_register(const struct pug_settings *settings, const char *name, uint32_t *value,
                          struct pug_log *log, const char *component)
{
    const struct pug_setting *setting = pug_settings_find(settings, name);
    if (setting && !setting->text) {
        *value = (uint32_t)setting->value;
        return true;
    }
    char text[48];
    snprintf(text, sizeof(text), "Register %s is missing.", name);
    pug_log_put(log, &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                              .code = PUG_ERR_INVALID_PARAM_VAL,
                                              .index = PUG_NO_INDEX,
                                              .source = PUG_NO_SOURCE,
                                              .component = component,
                                              .text = text});
    return false;
}

const struct pug_register pug_armv7_register_list[] = {
    {.name = "ETMIDR"},
    {.name = "ETMCR"},
    {.name = "ETMCCER"},
    {.name = "ETMTRACEIDR", .need = PUG_REGISTER_ID},
    {0},
};

enum pug_status pug_armv7_registers(const struct pug_settings *settings, struct pug_log *log,
                                    const char *component, struct pug_armv7_registers *registers)
{
    enum pug_arch arch = PUG_ARCH_V7;
    enum pug_arch_profile profile = PUG_PROFILE_UNKNOWN;
    pug_core_of_settings(settings, log, component, &arch, &profile);
    registers->arch = arch;
    registers->profile = profile;
    bool all = take_register(settings, "ETMCR", &registers->control, log, component);
    all &= take_register(settings, "ETMIDR", &registers->id, log, component);
    all &= take_register(settings, "ETMCCER", &registers->code, log, component);
    registers->trace_id = (uint32_t)pug_settings_number(settings, "ETMTRACEIDR",
                                                        pug_settings_number(settings, "src_id", 0));
    return all ? PUG_OK : PUG_ERR_INVALID_PARAM_VAL;
}

void pug_armv7_registers_text(struct pug_text *text, const struct pug_armv7_registers *registers)
{
    pug_text_format(text, "ETMCR 0x%08x\n", registers->control);
    pug_text_format(text, "ETMIDR 0x%08x\n", registers->id);
    pug_text_format(text, "ETMCCER 0x%08x\n", registers->code);
    pug_text_format(text, "trace id 0x%02x\n", registers->trace_id & 0x7f);
}

/* ---- values in packets ---- */

size_t pug_armv7_parse_timestamp(const uint8_t *bytes, size_t size, unsigned longest,
                                 uint64_t *timestamp, uint8_t *bits)
{
    unsigned got = 0;
    uint64_t value = 0;
    size_t at = 0;
    for (bool more = true; more && at < size && at < longest; at++) {
        unsigned width = at + 1 < longest ? 7 : longest == 9 ? 8 : 6;
        value |= (bytes[at] & pug_armv7_mask(width)) << got;
        got += width;
        more = bytes[at] & 0x80;
    }
    *timestamp = (*timestamp & ~pug_armv7_mask(got)) | value;
    *bits = (uint8_t)got;
    return at;
}

/* ---- exceptions ---- */

static const struct {
    const char *name;
    uint8_t type;
} exceptions[16] = {
    {"No Exception", PUG_EXC_NO_EXCEPTION},
    {"Debug Halt", PUG_EXC_DEBUG_HALT},
    {"SMC", PUG_EXC_SMC},
    {"Hyp", PUG_EXC_HYP},
    {"Async Data Abort", PUG_EXC_ASYNC_DATA_ABORT},
    {"Jazelle", PUG_EXC_JAZELLE},
    {"Reserved", PUG_EXC_RESERVED},
    {"Reserved", PUG_EXC_RESERVED},
    {"PE Reset", PUG_EXC_RESET},
    {"Undefined Instr", PUG_EXC_UNDEF},
    {"SVC", PUG_EXC_SVC},
    {"Prefetch Abort", PUG_EXC_PREFETCH_ABORT},
    {"Data Fault", PUG_EXC_SYNC_DATA_ABORT},
    {"Generic", PUG_EXC_GENERIC},
    {"IRQ", PUG_EXC_IRQ},
    {"FIQ", PUG_EXC_FIQ},
};

uint8_t pug_armv7_exception_type(uint16_t number)
{
    return number < 16 ? exceptions[number].type : PUG_EXC_RESERVED;
}

const char *pug_armv7_exception_name(uint16_t number)
{
    return number < 16 ? exceptions[number].name : "Unknown";
}

/* ---- what decoders keep ---- */

void pug_armv7_clear_context(struct pug_stage *stage)
{
    struct pug_element *blank = &stage->out.blank;
    blank->security = PUG_SEC_SECURE;
    blank->level = 0;
    blank->context_flags = 0;
    blank->context_id = 0;
    blank->vmid = 0;
}

bool pug_armv7_set_security(struct pug_stage *stage, bool non_secure, bool hyp)
{
    struct pug_element *blank = &stage->out.blank;
    uint8_t security = non_secure ? PUG_SEC_NONSECURE : PUG_SEC_SECURE;
    bool had_hyp = blank->context_flags & PUG_CTX_LEVEL;
    bool changed = blank->security != security || had_hyp != hyp;
    blank->security = security;
    blank->level = hyp ? 2 : 0;
    blank->context_flags &= (uint8_t)~PUG_CTX_LEVEL;
    if (hyp)
        blank->context_flags |= PUG_CTX_LEVEL;
    return changed;
}

bool pug_armv7_set_context_id(struct pug_stage *stage, uint32_t id)
{
    struct pug_element *blank = &stage->out.blank;
    bool changed = !(blank->context_flags & PUG_CTX_CONTEXT_ID) || blank->context_id != id;
    blank->context_flags |= PUG_CTX_CONTEXT_ID;
    blank->context_id = id;
    return changed;
}

bool pug_armv7_set_vmid(struct pug_stage *stage, uint8_t vmid)
{
    struct pug_element *blank = &stage->out.blank;
    bool changed = !(blank->context_flags & PUG_CTX_VMID) || blank->vmid != vmid;
    blank->context_flags |= PUG_CTX_VMID;
    blank->vmid = vmid;
    return changed;
}

uint8_t pug_armv7_space(const struct pug_stage *stage, const struct pug_armv7_registers *registers)
{
    const struct pug_element *blank = &stage->out.blank;
    if (blank->security == PUG_SEC_SECURE)
        return PUG_SPACE_S;
    if (stage->quirks.armv7_space_without_hyp)
        return PUG_SPACE_N;
    if (blank->context_flags & PUG_CTX_LEVEL)
        return PUG_SPACE_EL2;
    return pug_armv7_bit(registers->code, 26) ? PUG_SPACE_EL1N : PUG_SPACE_N;
}

void pug_armv7_tell_space(struct pug_stage *stage, const struct pug_armv7_registers *registers)
{
    pug_codemap_element_space(stage->code, &stage->out.blank, pug_armv7_space(stage, registers));
    pug_codemap_context_changed(stage->code);
}

uint8_t pug_armv7_trace_on(uint8_t isync_reason)
{
    static const uint8_t reasons[4] = {
        [PUG_ISYNC_PERIODIC] = PUG_TRACE_ON_NORMAL,
        [PUG_ISYNC_TRACE_ENABLE] = PUG_TRACE_ON_NORMAL,
        [PUG_ISYNC_RESTART_OVERFLOW] = PUG_TRACE_ON_OVERFLOW,
        [PUG_ISYNC_DEBUG_EXIT] = PUG_TRACE_ON_EX_DEBUG,
    };
    return reasons[isync_reason & 3];
}

uint64_t pug_armv7_natural(uint64_t sent, bool gray)
{
    for (unsigned shift = 1; gray && shift < 64; shift *= 2)
        sent ^= sent >> shift;
    return sent;
}

uint64_t pug_armv7_timestamp(const struct pug_stage *stage, struct pug_element *element,
                             uint64_t sent, bool gray, bool clock_changed)
{
    element->flags |= PUG_ELEM_HAS_TS;
    if (stage->quirks.armv7_raw_timestamps)
        return sent;
    if (clock_changed)
        element->flags |= PUG_ELEM_FREQ_CHANGE;
    return pug_armv7_natural(sent, gray);
}

/* ---- words ---- */

const char *pug_armv7_isa_text(uint8_t isa)
{
    static const char *const names[] = {
        [PUG_ISA_A32] = "ARM(32)", [PUG_ISA_T32] = "Thumb2",      [PUG_ISA_A64] = "AArch64",
        [PUG_ISA_TEE] = "ThumbEE", [PUG_ISA_JAZELLE] = "Jazelle",
    };
    return isa < sizeof(names) / sizeof(names[0]) ? names[isa] : "Unknown";
}

const char *pug_armv7_isync_reason_text(uint8_t reason)
{
    static const char *const texts[4] = {"Periodic", "Trace Enable", "Restart Overflow",
                                         "Debug Exit"};
    return texts[reason & 3];
}

void pug_armv7_hex_text(struct pug_text *text, uint64_t value, unsigned digits)
{
    pug_text_format(text, "%0*llX", (int)digits, (unsigned long long)value);
}

void pug_armv7_address_text(struct pug_text *text, const struct pug_armv7_address *address)
{
    unsigned known = address->valid_bits, digits = (known + 3) / 4;
    pug_text_put(text, "0x");
    for (unsigned i = digits; i < 8; i++)
        pug_text_put(text, "?");
    pug_armv7_hex_text(text, address->value & pug_armv7_mask(known), digits);
    if (known < 32)
        pug_text_format(text, " (%d:0)", (int)known - 1);
    if (address->packet_bits > 0) {
        pug_text_put(text, " ~[0x");
        pug_armv7_hex_text(text, address->value & pug_armv7_mask(address->packet_bits), 1);
        pug_text_put(text, "]");
    }
}

const char *pug_armv7_security_text(const struct pug_armv7_context *context)
{
    return context->non_secure ? "NS; " : "S; ";
}

void pug_armv7_vmid_text(struct pug_text *text, const struct pug_armv7_context *context)
{
    char character = (char)context->vmid;
    if (context->vmid_as_character)
        pug_text_put_n(text, &character, 1);
    else
        pug_text_hex(text, context->vmid, 1);
}

void pug_armv7_atoms_text(struct pug_text *text, const struct pug_armv7_atoms *atoms)
{
    for (unsigned i = 0; i < atoms->count; i++)
        pug_text_put(text, atoms->bits >> i & 1 ? "E" : "N");
}

void pug_armv7_branch_text(struct pug_text *text, const struct pug_armv7_address *address,
                           uint8_t isa, uint8_t previous_isa,
                           const struct pug_armv7_context *context)
{
    pug_text_put(text, "Addr=");
    pug_armv7_address_text(text, address);
    pug_text_put(text, "; ");
    if (isa != previous_isa)
        pug_text_format(text, "ISA=%s; ", pug_armv7_isa_text(isa));
    if (!context->updated)
        return;
    pug_text_put(text, pug_armv7_security_text(context));
    if (context->hyp)
        pug_text_put(text, "Hyp; ");
}
