// SPDX-License-Identifier: MIT
/** @file PTM: what its registers say about the trace, and the protocol's table. */
#include "protocol/builtin.h"
#include "protocol/ptm/ptm.h"

#include <stdlib.h>

/** How many atoms a header has where no cycles are traced. */
static unsigned atom_count(unsigned header)
{
    return header >= 0xc0 ? 5 : header >= 0xa0 ? 4 : header >= 0x90 ? 3 : header & 0x08 ? 2 : 1;
}

/** Atoms of the headers: bits from the highest to bit 1, set for N. */
static void set_atoms(struct pug_ptm_config *config)
{
    for (unsigned header = 0x80; header < 0x100; header += 2) {
        unsigned count = config->cycle_accurate ? 1 : atom_count(header), bits = 0;
        for (unsigned i = 0; i < count; i++)
            bits |= (header >> (count - i) & 1 ? 0u : 1u) << i;
        config->atoms[header].bits = (uint8_t)bits;
        config->atoms[header].count = (uint8_t)count;
    }
}

enum pug_status pug_ptm_config_new(const struct pug_settings *settings, struct pug_log *log,
                                   void **out)
{
    struct pug_armv7_registers registers = {0};
    enum pug_status status = pug_armv7_registers(settings, log, "PTM", &registers);
    if (status != PUG_OK)
        return status;
    struct pug_ptm_config *config = calloc(1, sizeof(*config));
    if (!config)
        return PUG_ERR_MEM;
    uint32_t control = registers.control, code = registers.code;
    config->registers = registers;
    config->minor = (uint8_t)pug_armv7_minor(&registers);
    config->cycle_accurate = pug_armv7_bit(control, 12);
    config->context_id_bytes = (uint8_t)pug_armv7_context_id_bytes(&registers);
    config->return_stack = pug_armv7_bit(code, 23) && pug_armv7_bit(control, 29);
    config->dmb_waypoints = pug_armv7_bit(code, 24);
    config->timestamp_bytes = config->minor > 0 && pug_armv7_bit(code, 29) ? 9 : 7;
    config->gray_timestamps =
        config->minor > 0 && pug_armv7_bit(code, 22) && !pug_armv7_bit(code, 28);
    set_atoms(config);
    *out = config;
    return PUG_OK;
}

void pug_ptm_config_free(void *config)
{
    free(config);
}

uint16_t pug_ptm_trace_id(const void *config)
{
    return ((const struct pug_ptm_config *)config)->registers.trace_id & 0x7f;
}

size_t pug_ptm_config_text(const void *pointer, char *buffer, size_t size)
{
    const struct pug_ptm_config *config = pointer;
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_armv7_registers_text(&text, &config->registers);
    pug_text_format(&text, "version 1.%u\n", config->minor);
    pug_text_format(&text, "cycle accurate %s\n", config->cycle_accurate ? "yes" : "no");
    pug_text_format(&text, "return stack %s\n", config->return_stack ? "yes" : "no");
    pug_text_format(&text, "DSB and DMB are waypoints %s\n", config->dmb_waypoints ? "yes" : "no");
    pug_text_format(&text, "context id %u bytes\n", config->context_id_bytes);
    pug_text_format(&text, "timestamp %u bits\n", config->timestamp_bytes == 9 ? 64 : 48);
    return pug_text_end(&text);
}

#define USUAL "ETMTRACEIDR=0x10 ETMIDR=0x4100f310 ETMCCER=0x34000000 "

static const struct pug_usual usual[] = {{USUAL "ETMCR=0", "", NULL, 1},
                                         {USUAL "ETMCR=0x1000", "ETMCR=0x1000", NULL, 1},
                                         {USUAL "ETMCR=0xc000", "ETMCR=0xc000", NULL, 1},
                                         {USUAL "ETMCR=0xd000", "ETMCR=0xd000", NULL, 1},
                                         {0}};

static const struct pug_doubt doubts[] = {
    {"ETMCR", "bytes of a context id", 0xc000, {0x0, 0x4000, 0x8000, 0xc000}, 4},
    {"ETMCR", "cycle-accurate trace", 0x1000, {0x0, 0x1000}, 2},
    {0},
};

static const struct pug_description description = {
    .usual = usual,
    .doubts = doubts,
    .types = (const struct pug_device_type[]){{"PTM", 0, "PTM1", 0}, {"PFT", 0, "PFT1", 0}, {0}},
    .registers = pug_armv7_register_list,
    .traces_core = true,
    .usual_arch = PUG_ARCH_V7,
};

const struct pug_protocol pug_protocol_ptm = {
    .name = "PTM",
    .title = "Arm PTM program flow trace",
    .reader_name = "PKTP_PTM",
    .decoder_name = "DCD_PTM",
    .program_flow = true,
    .description = &description,
    .ends_without_rest = true,
    .config_new = pug_ptm_config_new,
    .config_free = pug_ptm_config_free,
    .trace_id = pug_ptm_trace_id,
    .config_text = pug_ptm_config_text,
    .reader_new = pug_ptm_reader_new,
    .reader_free = pug_ptm_reader_free,
    .read = pug_ptm_read,
    .read_end = pug_ptm_read_end,
    .reader_reset = pug_ptm_reader_reset,
    .decoder_new = pug_ptm_decoder_new,
    .decoder_free = pug_ptm_decoder_free,
    .decode = pug_ptm_decode,
    .resume = pug_ptm_resume,
    .fast_path = pug_ptm_fast_path,
    .decode_end = pug_ptm_decode_end,
    .decoder_reset = pug_ptm_decoder_reset,
    .packet_text = pug_ptm_packet_text,
    .packet_name = pug_ptm_packet_name,
    .packet_marks = pug_ptm_marks,
    .reader_state = pug_ptm_reader_state,
    .decoder_state = pug_ptm_decoder_state,
    .self_synced = pug_ptm_self_synced,
};
