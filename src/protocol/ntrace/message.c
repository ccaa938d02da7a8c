// SPDX-License-Identifier: MIT
/** @file Chapter "message details" as a table. */
#include "protocol/ntrace/message.h"

const struct pug_ntrace_layout pug_ntrace_layouts[64] = {
    [PUG_NTRACE_OWNERSHIP] = {.name = "Ownership",
                              .variable_count = 1,
                              .variable = {PUG_NTRACE_PROCESS}},
    [PUG_NTRACE_DIRECT_BRANCH] = {.name = "DirectBranch",
                                  .variable_count = 1,
                                  .variable = {PUG_NTRACE_ICNT}},
    [PUG_NTRACE_INDIRECT_BRANCH] = {.name = "IndirectBranch",
                                    .fixed_count = 1,
                                    .fixed = {PUG_NTRACE_BTYPE},
                                    .variable_count = 2,
                                    .variable = {PUG_NTRACE_ICNT, PUG_NTRACE_ADDR}},
    [PUG_NTRACE_DATA_ACQUISITION] = {.name = "DataAcquisition",
                                     .variable_count = 2,
                                     .variable = {PUG_NTRACE_IDTAG, PUG_NTRACE_DATA}},
    [PUG_NTRACE_ERROR] = {.name = "Error",
                          .fixed_count = 1,
                          .fixed = {PUG_NTRACE_ETYPE},
                          .variable_count = 1,
                          .variable = {PUG_NTRACE_ECODE}},
    [PUG_NTRACE_PROG_TRACE_SYNC] = {.name = "ProgTraceSync",
                                    .fixed_count = 1,
                                    .fixed = {PUG_NTRACE_SYNC},
                                    .variable_count = 2,
                                    .variable = {PUG_NTRACE_ICNT, PUG_NTRACE_ADDR}},
    [PUG_NTRACE_DIRECT_BRANCH_SYNC] = {.name = "DirectBranchSync",
                                       .fixed_count = 1,
                                       .fixed = {PUG_NTRACE_SYNC},
                                       .variable_count = 2,
                                       .variable = {PUG_NTRACE_ICNT, PUG_NTRACE_ADDR}},
    [PUG_NTRACE_INDIRECT_BRANCH_SYNC] = {.name = "IndirectBranchSync",
                                         .fixed_count = 2,
                                         .fixed = {PUG_NTRACE_SYNC, PUG_NTRACE_BTYPE},
                                         .variable_count = 2,
                                         .variable = {PUG_NTRACE_ICNT, PUG_NTRACE_ADDR}},
    [PUG_NTRACE_AUX_ACCESS_WRITE] = {.name = "AuxAccessWrite",
                                     .variable_count = 2,
                                     .variable = {PUG_NTRACE_ADDR, PUG_NTRACE_DATA}},
    [PUG_NTRACE_RESOURCE_FULL] = {.name = "ResourceFull",
                                  .fixed_count = 1,
                                  .fixed = {PUG_NTRACE_RCODE},
                                  .conditional = true,
                                  .variable_count = 2,
                                  .variable = {PUG_NTRACE_RDATA, PUG_NTRACE_HREPEAT}},
    [PUG_NTRACE_INDIRECT_BRANCH_HIST] = {.name = "IndirectBranchHist",
                                         .fixed_count = 1,
                                         .fixed = {PUG_NTRACE_BTYPE},
                                         .variable_count = 3,
                                         .variable = {PUG_NTRACE_ICNT, PUG_NTRACE_ADDR,
                                                      PUG_NTRACE_HIST}},
    [PUG_NTRACE_INDIRECT_BRANCH_HIST_SYNC] = {.name = "IndirectBranchHistSync",
                                              .fixed_count = 2,
                                              .fixed = {PUG_NTRACE_SYNC, PUG_NTRACE_BTYPE},
                                              .variable_count = 3,
                                              .variable = {PUG_NTRACE_ICNT, PUG_NTRACE_ADDR,
                                                           PUG_NTRACE_HIST}},
    [PUG_NTRACE_REPEAT_BRANCH] = {.name = "RepeatBranch",
                                  .variable_count = 1,
                                  .variable = {PUG_NTRACE_HREPEAT}},
    [PUG_NTRACE_PROG_TRACE_CORRELATION] = {.name = "ProgTraceCorrelation",
                                           .fixed_count = 2,
                                           .fixed = {PUG_NTRACE_EVCODE, PUG_NTRACE_CDF},
                                           .conditional = true,
                                           .variable_count = 2,
                                           .variable = {PUG_NTRACE_ICNT, PUG_NTRACE_HIST}},
    [PUG_NTRACE_ICT] = {.name = "ICT",
                        .fixed_count = 2,
                        .fixed = {PUG_NTRACE_CKSRC, PUG_NTRACE_CKDF},
                        .conditional = true,
                        .variable_count = 2,
                        .variable = {PUG_NTRACE_CKDATA0, PUG_NTRACE_CKDATA1}},
    [PUG_NTRACE_ICT_SYNC] = {.name = "ICTSync",
                             .fixed_count = 2,
                             .fixed = {PUG_NTRACE_CKSRC, PUG_NTRACE_CKDF},
                             .conditional = true,
                             .variable_count = 2,
                             .variable = {PUG_NTRACE_CKDATA0, PUG_NTRACE_CKDATA1}},
    [PUG_NTRACE_IDLE] = {.name = "Idle"},
};

/** Returns the kind of RDATA in ResourceFull, by RCODE. */
static uint8_t rdata_field(uint64_t rcode)
{
    return rcode == 0 ? PUG_NTRACE_ICNT : rcode <= 2 ? PUG_NTRACE_HIST : PUG_NTRACE_RDATA;
}

unsigned pug_ntrace_variables(const struct pug_ntrace_layout *layout,
                              const struct pug_ntrace_packet *packet,
                              uint8_t fields[PUG_NTRACE_VARIABLES])
{
    unsigned count = layout->variable_count;
    for (unsigned i = 0; i < PUG_NTRACE_VARIABLES; i++)
        fields[i] = layout->variable[i];
    switch (packet->tcode) {
    case PUG_NTRACE_RESOURCE_FULL:
        fields[0] = rdata_field(packet->field[PUG_NTRACE_RCODE]);
        return packet->field[PUG_NTRACE_RCODE] == 2 ? count : count - 1;
    case PUG_NTRACE_PROG_TRACE_CORRELATION:
        return packet->field[PUG_NTRACE_CDF] == 1 ? count : count - 1;
    case PUG_NTRACE_ICT:
    case PUG_NTRACE_ICT_SYNC: return packet->field[PUG_NTRACE_CKDF] == 1 ? count : count - 1;
    default: return count;
    }
}

const uint8_t pug_ntrace_field_bits[PUG_NTRACE_FIELDS] = {
    [PUG_NTRACE_SYNC] = 4,     [PUG_NTRACE_BTYPE] = 2,   [PUG_NTRACE_ETYPE] = 4,
    [PUG_NTRACE_RCODE] = 4,    [PUG_NTRACE_EVCODE] = 4,  [PUG_NTRACE_CDF] = 2,
    [PUG_NTRACE_CKSRC] = 4,    [PUG_NTRACE_CKDF] = 2,    [PUG_NTRACE_ICNT] = 22,
    [PUG_NTRACE_ADDR] = 64,    [PUG_NTRACE_HIST] = 32,   [PUG_NTRACE_HREPEAT] = 18,
    [PUG_NTRACE_PROCESS] = 64, [PUG_NTRACE_ECODE] = 64,  [PUG_NTRACE_RDATA] = 64,
    [PUG_NTRACE_IDTAG] = 64,   [PUG_NTRACE_DATA] = 64,   [PUG_NTRACE_CKDATA0] = 64,
    [PUG_NTRACE_CKDATA1] = 64, [PUG_NTRACE_TSTAMP] = 64,
};

static const struct {
    const char *text;
    enum pug_status status;
} problems[] = {
    [PUG_NTRACE_GOOD] = {"", PUG_OK},
    [PUG_NTRACE_RESERVED_MSEO] = {"reserved MSEO value 2", PUG_ERR_PACKET_SEQUENCE},
    [PUG_NTRACE_NO_START] = {"MSEO is 1 where a message must start", PUG_ERR_PACKET_SEQUENCE},
    [PUG_NTRACE_TOO_LONG] = {"message of an unknown kind does not end", PUG_ERR_PACKET_HEADER},
    [PUG_NTRACE_TOO_SHORT] = {"message ends before its fields", PUG_ERR_PACKET_SEQUENCE},
    [PUG_NTRACE_TOO_WIDE] = {"field value out of its range", PUG_ERR_PACKET_SEQUENCE},
    [PUG_NTRACE_NO_TIMESTAMP] = {"sync message without its timestamp", PUG_ERR_PACKET_SEQUENCE},
};

const char *pug_ntrace_problem_text(enum pug_ntrace_problem problem)
{
    return problems[problem].text;
}

enum pug_status pug_ntrace_problem_status(enum pug_ntrace_problem problem)
{
    return problems[problem].status;
}
