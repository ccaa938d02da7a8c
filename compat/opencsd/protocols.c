// SPDX-License-Identifier: MIT
/** @file The built-in protocols: names, numbers, configurations; and packets in words. */
#include "listing/listing.h"
#include "packets.h"

#include <assert.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct shell_register etmv3_registers[] = {
    {"ETMIDR", offsetof(ocsd_etmv3_cfg, reg_idr)},
    {"ETMCR", offsetof(ocsd_etmv3_cfg, reg_ctrl)},
    {"ETMCCER", offsetof(ocsd_etmv3_cfg, reg_ccer)},
    {"ETMTRACEIDR", offsetof(ocsd_etmv3_cfg, reg_trc_id)},
    {"arch", offsetof(ocsd_etmv3_cfg, arch_ver)},
    {"profile", offsetof(ocsd_etmv3_cfg, core_prof)},
};

static const struct shell_register etmv4_registers[] = {
    {"TRCIDR0", offsetof(ocsd_etmv4_cfg, reg_idr0)},
    {"TRCIDR1", offsetof(ocsd_etmv4_cfg, reg_idr1)},
    {"TRCIDR2", offsetof(ocsd_etmv4_cfg, reg_idr2)},
    {"TRCIDR8", offsetof(ocsd_etmv4_cfg, reg_idr8)},
    {"TRCIDR9", offsetof(ocsd_etmv4_cfg, reg_idr9)},
    {"TRCIDR10", offsetof(ocsd_etmv4_cfg, reg_idr10)},
    {"TRCIDR11", offsetof(ocsd_etmv4_cfg, reg_idr11)},
    {"TRCIDR12", offsetof(ocsd_etmv4_cfg, reg_idr12)},
    {"TRCIDR13", offsetof(ocsd_etmv4_cfg, reg_idr13)},
    {"TRCCONFIGR", offsetof(ocsd_etmv4_cfg, reg_configr)},
    {"TRCTRACEIDR", offsetof(ocsd_etmv4_cfg, reg_traceidr)},
    {"arch", offsetof(ocsd_etmv4_cfg, arch_ver)},
    {"profile", offsetof(ocsd_etmv4_cfg, core_prof)},
};

static const struct shell_register ete_registers[] = {
    {"TRCIDR0", offsetof(ocsd_ete_cfg, reg_idr0)},
    {"TRCIDR1", offsetof(ocsd_ete_cfg, reg_idr1)},
    {"TRCIDR2", offsetof(ocsd_ete_cfg, reg_idr2)},
    {"TRCIDR8", offsetof(ocsd_ete_cfg, reg_idr8)},
    {"TRCDEVARCH", offsetof(ocsd_ete_cfg, reg_devarch)},
    {"TRCCONFIGR", offsetof(ocsd_ete_cfg, reg_configr)},
    {"TRCTRACEIDR", offsetof(ocsd_ete_cfg, reg_traceidr)},
    {"arch", offsetof(ocsd_ete_cfg, arch_ver)},
    {"profile", offsetof(ocsd_ete_cfg, core_prof)},
};

static const struct shell_register stm_registers[] = {
    {"STMTCSR", offsetof(ocsd_stm_cfg, reg_tcsr)},
    {"STMFEAT3R", offsetof(ocsd_stm_cfg, reg_feat3r)},
    {"STMDEVID", offsetof(ocsd_stm_cfg, reg_devid)},
    {"STMFEAT1R", offsetof(ocsd_stm_cfg, reg_feat1r)},
    {"STMHEMASTR", offsetof(ocsd_stm_cfg, reg_hwev_mast)},
    {"hw_event", offsetof(ocsd_stm_cfg, hw_event)},
};

#ifndef OCSD_STRICT_1_3
static const struct shell_register itm_registers[] = {
    {"ITMTCR", offsetof(ocsd_itm_cfg, reg_tcr)},
};
#endif

static_assert(offsetof(ocsd_ptm_cfg, core_prof) == offsetof(ocsd_etmv3_cfg, core_prof) &&
                  sizeof(ocsd_ptm_cfg) == sizeof(ocsd_etmv3_cfg),
              "PTM's configuration is ETMv3's");
static_assert(COUNT(etmv4_registers) <= SHELL_MOST_REGISTERS, "they fit in a list of settings");

#define REGISTERS(list) .registers = (list), .register_count = COUNT(list)

static const struct shell_protocol protocols[] = {
    {.name = OCSD_BUILTIN_DCD_ETMV3,
     .number = OCSD_PROTOCOL_ETMV3,
     REGISTERS(etmv3_registers),
     .to_client = shell_etmv3_to_client,
     .client_text = shell_etmv3_client_text},
    {.name = OCSD_BUILTIN_DCD_ETMV4I,
     .number = OCSD_PROTOCOL_ETMV4I,
     .has_stats = true,
     REGISTERS(etmv4_registers),
     .to_client = shell_etmv4_to_client,
     .client_text = shell_etmv4_client_text},
    {.name = OCSD_BUILTIN_DCD_PTM,
     .number = OCSD_PROTOCOL_PTM,
     REGISTERS(etmv3_registers),
     .to_client = shell_ptm_to_client,
     .client_text = shell_ptm_client_text},
    {.name = OCSD_BUILTIN_DCD_STM,
     .number = OCSD_PROTOCOL_STM,
     REGISTERS(stm_registers),
     .to_client = shell_stm_to_client,
     .client_text = shell_stm_client_text},
    {.name = OCSD_BUILTIN_DCD_ETE,
     .number = OCSD_PROTOCOL_ETE,
     .has_stats = true,
     REGISTERS(ete_registers),
     .to_client = shell_etmv4_to_client,
     .client_text = shell_etmv4_client_text},
#ifndef OCSD_STRICT_1_3
    {.name = OCSD_BUILTIN_DCD_ITM,
     .number = OCSD_PROTOCOL_ITM,
     REGISTERS(itm_registers),
     .to_client = shell_itm_to_client,
     .client_text = shell_itm_client_text},
#endif
};

const struct shell_protocol *shell_protocol_by_name(const char *name)
{
    for (size_t i = 0; i < COUNT(protocols); i++)
        if (strcmp(protocols[i].name, name) == 0)
            return &protocols[i];
    return NULL;
}

const struct shell_protocol *shell_protocol_by_number(ocsd_trace_protocol_t number)
{
    for (size_t i = 0; i < COUNT(protocols); i++)
        if (protocols[i].number == number)
            return &protocols[i];
    return NULL;
}

/* ---- words ---- */

ocsd_err_t ocsd_pkt_str(const ocsd_trace_protocol_t pkt_protocol, const void *p_pkt, char *buffer,
                        const int buffer_size)
{
    if (!buffer || buffer_size < 2)
        return OCSD_ERR_INVALID_PARAM_VAL;
    buffer[0] = '\0';
    const struct shell_protocol *protocol = shell_protocol_by_number(pkt_protocol);
    if (!protocol)
        return ocsd_cust_protocol_to_str(pkt_protocol, p_pkt, buffer, buffer_size);
    if (!p_pkt)
        return OCSD_ERR_INVALID_PARAM_VAL;
    protocol->client_text(p_pkt, buffer, (size_t)buffer_size);
    return OCSD_OK;
}

void ocsd_err_str(const ocsd_err_t err, char *buffer, const int buffer_size)
{
    if (!buffer || buffer_size < 2)
        return;
    if (err == OCSD_ERR_LAST) {
        snprintf(buffer, (size_t)buffer_size,
                 "0x%04x (OCSD_ERR_LAST) [No error - error code end marker]; ", (unsigned)err);
        return;
    }
    struct pug_log_record record = {
        .code = (enum pug_status) - (int)err, .index = PUG_NO_INDEX, .source = PUG_NO_SOURCE};
    struct pug_text text = PUG_TEXT(buffer, (size_t)buffer_size);
    pug_listing_error(&text, &record);
    pug_text_end(&text);
}

uint32_t ocsd_get_version(void)
{
    return OCSD_VER_NUM;
}

const char *ocsd_get_version_str(void)
{
    return OCSD_VER_STRING;
}
