// SPDX-License-Identifier: MIT
/** @file Status codes in words: Pugmark's own, and the reference's spelled as it spells them. */
#include "pugmark/status.h"

#include <stddef.h>

struct status_words {
    const char *text;           /* ours */
    const char *reference_name; /* without the common prefix */
    const char *reference_text;
};

static const struct status_words words[] = {
    [0] = {"success", "OCSD_OK", "No Error."},
    [1] = {"general failure", "OCSD_ERR_FAIL", "General failure."},
    [2] = {"out of memory", "OCSD_ERR_MEM", "Internal memory allocation error."},
    [3] = {"not initialised", "OCSD_ERR_NOT_INIT", "Component not initialised."},
    [4] = {"invalid trace source id", "OCSD_ERR_INVALID_ID", "Invalid CoreSight Trace Source ID."},
    [5] = {"invalid handle", "OCSD_ERR_BAD_HANDLE", "Invalid handle passed to component."},
    [6] = {"invalid parameter value", "OCSD_ERR_INVALID_PARAM_VAL",
           "Invalid value parameter passed to component."},
    [7] = {"wrong kind of source for this", "OCSD_ERR_INVALID_PARAM_TYPE",
           "Type mismatch on abstract interface."},
    [8] = {"file access error", "OCSD_ERR_FILE_ERROR", "File access error"},
    [9] = {"protocol not supported", "OCSD_ERR_NO_PROTOCOL", "Trace protocol unsupported"},
    [10] = {"already taken", "OCSD_ERR_ATTACH_TOO_MANY",
            "Cannot attach - attach device limit reached."},
    [11] = {"cannot attach, invalid parameter", "OCSD_ERR_ATTACH_INVALID_PARAM",
            " Cannot attach - invalid parameter."},
    [12] = {"cannot detach, not found", "OCSD_ERR_ATTACH_COMP_NOT_FOUND",
            "Cannot detach - component not found."},
    [13] = {"file not found", "OCSD_ERR_RDR_FILE_NOT_FOUND", "source reader - file not found."},
    [14] = {"source reader, invalid parameter", "OCSD_ERR_RDR_INVALID_INIT",
            "source reader - invalid initialisation parameter."},
    [15] = {"source reader without a decoder", "OCSD_ERR_RDR_NO_DECODER",
            "source reader - not trace decoder set."},
    [16] = {"fatal error of a decoder", "OCSD_ERR_DATA_DECODE_FATAL",
            "A decoder in the data path has returned a fatal error."},
    [17] = {"trace input is not continuous", "OCSD_ERR_DFMTR_NOTCONTTRACE",
            "Trace input to deformatter none-continuous"},
    [18] = {"bad frame or half frame synchronisation", "OCSD_ERR_DFMTR_BAD_FHSYNC",
            "Bad frame or half frame sync in trace deformatter"},
    [19] = {"bad packet sequence", "OCSD_ERR_BAD_PACKET_SEQ", "Bad packet sequence"},
    [20] = {"invalid packet header", "OCSD_ERR_INVALID_PCKT_HDR", "Invalid packet header"},
    [21] = {"bad data or sequence", "OCSD_ERR_PKT_INTERP_FAIL",
            "Interpreter failed - cannot recover - bad data or sequence"},
    [22] = {"instruction set not supported", "OCSD_ERR_UNSUPPORTED_ISA",
            "ISA not supported in decoder"},
    [23] = {"trace configuration not supported", "OCSD_ERR_HW_CFG_UNSUPP",
            "Programmed trace configuration not supported by decodUer."},
    [24] = {"packet not supported", "OCSD_ERR_UNSUPP_DECODE_PKT",
            "Packet not supported in decoder"},
    [25] = {"reserved or unknown packet", "OCSD_ERR_BAD_DECODE_PKT",
            "Reserved or unknown packet in decoder."},
    [26] = {"more committed or cancelled than there was", "OCSD_ERR_COMMIT_PKT_OVERRUN",
            "Overrun in commit packet stack - tried to commit more than available"},
    [27] = {"program memory not accessible", "OCSD_ERR_MEM_NACC",
            "Unable to access required memory address."},
    [28] = {"return stack: popped more than pushed", "OCSD_ERR_RET_STACK_OVERFLOW",
            "Internal return stack overflow checks failed - popped more than we pushed."},
    [29] = {"no frame formatter in use", "OCSD_ERR_DCDT_NO_FORMATTER",
            "No formatter in use - operation not valid."},
    [30] = {"memory ranges overlap", "OCSD_ERR_MEM_ACC_OVERLAP",
            "Attempted to set an overlapping range in memory access map."},
    [31] = {"memory file could not be opened", "OCSD_ERR_MEM_ACC_FILE_NOT_FOUND",
            "Memory access file could not be opened."},
    [32] = {"memory file already used for another range", "OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE",
            "Attempt to re-use the same memory access file for a different address range."},
    [33] = {"invalid memory range", "OCSD_ERR_MEM_ACC_RANGE_INVALID",
            "Address range in accessor set to invalid values."},
    [34] = {"memory callback returned more than was asked for", "OCSD_ERR_MEM_ACC_BAD_LEN",
            "Memory accessor returned a bad read length value (larger than requested."},
    [35] = {"snapshot syntax error", "OCSD_ERR_TEST_SNAPSHOT_PARSE",
            "Test snapshot file parse error"},
    [36] = {"snapshot information", "OCSD_ERR_TEST_SNAPSHOT_PARSE_INFO",
            "Test snapshot file parse information"},
    [37] = {"snapshot could not be read", "OCSD_ERR_TEST_SNAPSHOT_READ",
            "test snapshot reader error"},
    [38] = {"snapshot does not make a decode tree", "OCSD_ERR_TEST_SS_TO_DECODER",
            "test snapshot to decode tree conversion error"},
    [39] = {"a protocol of that name is registered already", "OCSD_ERR_DCDREG_NAME_REPEAT",
            "Attempted to register a decoder with the same name as another one."},
    [40] = {"no protocol of that name", "OCSD_ERR_DCDREG_NAME_UNKNOWN",
            "Attempted to find a decoder with a name that is not known in the library."},
    [41] = {"no protocol of that type", "OCSD_ERR_DCDREG_TYPE_UNKNOWN",
            "Attempted to find a decoder with a type that is not known in the library."},
    [42] = {"too many protocols registered", "OCSD_ERR_DCDREG_TOOMANY",
            "Attempted to register too many custom decoders"},
    [43] = {"interface not supported", "OCSD_ERR_DCD_INTERFACE_UNUSED",
            "Attempt to connect or use and interface not supported by this decoder."},
    [44] = {"illegal opcode in program memory", "OCSD_ERR_INVALID_OPCODE",
            "Illegal Opode found while decoding program memory."},
    [45] =
        {"instruction range longer than the limit", "OCSD_ERR_I_RANGE_LIMIT_OVERRUN",
         "An optional limit on consecutive instructions in range during decode has been exceeded."},
    [46] = {"trace and program image do not match", "OCSD_ERR_BAD_DECODE_IMAGE",
            "Mismatch between trace packets and decode image."},
};

static const struct {
    enum pug_status status;
    const char *text;
} own_words[] = {
    {PUG_ERR_TRUNCATED, "data end too early"},
    {PUG_ERR_TRACE_LOST, "trace was lost"},
    {PUG_ERR_TRACE_MISMATCH, "trace does not fit the program"},
    {PUG_ERR_LIMIT, "limit reached"},
    {PUG_ERR_INDEX_DAMAGED, "the index is damaged, or of another version"},
    {PUG_ERR_INDEX_FOREIGN, "the index belongs to another capture or other settings"},
    {PUG_ERR_NOT_FOUND, "there is no such place in the trace"},
};

static const struct status_words *find(enum pug_status status)
{
    int n = -(int)status;
    return n >= 0 && (size_t)n < sizeof(words) / sizeof(words[0]) ? &words[n] : NULL;
}

const char *pug_status_text(enum pug_status status)
{
    const struct status_words *known = find(status);
    if (known)
        return known->text;
    for (size_t i = 0; i < sizeof(own_words) / sizeof(own_words[0]); i++)
        if (own_words[i].status == status)
            return own_words[i].text;
    return "unknown status";
}

const char *pug_status_reference_name(enum pug_status status)
{
    const struct status_words *known = find(status);
    return known ? known->reference_name : NULL;
}

const char *pug_status_reference_text(enum pug_status status)
{
    const struct status_words *known = find(status);
    return known ? known->reference_text : NULL;
}
