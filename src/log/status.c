// SPDX-License-Identifier: MIT
/** @file Status codes in words: Pugmark's own, and the reference's spelled as it spells them. */
#include "pugmark/status.h"
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/transport.h"

#include <stddef.h>

struct status_words {
    enum pug_status status;
    const char *text, *help;    /* ours */
    const char *reference_name; /* or NULL */
    const char *reference_text;
};

static const struct status_words words[] = {
    {PUG_OK, "success", "Nothing is wrong.", "OCSD_OK", "No Error."},
    {PUG_ERR_FAIL, "something went wrong",
     "The log says what; if it does not, this is a mistake in the library.", "OCSD_ERR_FAIL",
     "General failure."},
    {PUG_ERR_MEM, "out of memory",
     "Nothing was changed. Lower limits (code_limit, jobs) need less.", "OCSD_ERR_MEM",
     "Internal memory allocation error."},
    {PUG_ERR_NOT_READY, "not ready for use",
     "Something that this needs was not made or attached before, such as program memory.",
     "OCSD_ERR_NOT_INIT", "Component not initialised."},
    {PUG_ERR_INVALID_ID, "invalid trace source id",
     "The id is reserved, or too large for this transport.", "OCSD_ERR_INVALID_ID",
     "Invalid CoreSight Trace Source ID."},
    {PUG_ERR_NO_OBJECT, "invalid handle", "The object does not exist, or is of another kind.",
     "OCSD_ERR_BAD_HANDLE", "Invalid handle passed to component."},
    {PUG_ERR_INVALID_PARAM_VAL, "invalid parameter",
     "A pointer is NULL that must not be, or a value is outside of what the header allows.",
     "OCSD_ERR_INVALID_PARAM_VAL", "Invalid value parameter passed to component."},
    {PUG_ERR_WRONG_KIND, "wrong kind of object for this",
     "The source, element or protocol cannot do what was asked for; the header says which can.",
     "OCSD_ERR_INVALID_PARAM_TYPE", "Type mismatch on abstract interface."},
    {PUG_ERR_FILE, "file access error",
     "The file cannot be opened, read or written; errno says why.", "OCSD_ERR_FILE_ERROR",
     "File access error"},
    {PUG_ERR_NO_PROTOCOL, "protocol not supported",
     "No protocol or transport of that name is known; pug_protocol_at() and pug_transport_at() "
     "list them.",
     "OCSD_ERR_NO_PROTOCOL", "Trace protocol unsupported"},
    {PUG_ERR_TAKEN, "already taken", "There is a source with this id, or a listener, already.",
     "OCSD_ERR_ATTACH_TOO_MANY", "Cannot attach - attach device limit reached."},
    {PUG_ERR_CANNOT_ATTACH, "cannot attach this",
     "What is to be attached does not fit where it is attached to.",
     "OCSD_ERR_ATTACH_INVALID_PARAM", " Cannot attach - invalid parameter."},
    {PUG_ERR_NOT_ATTACHED, "not attached", "What is to be removed is not there.",
     "OCSD_ERR_ATTACH_COMP_NOT_FOUND", "Cannot detach - component not found."},
    {PUG_ERR_CAPTURE_FILE, "a file of the capture is not there",
     "The capture's description names a file that does not exist.", "OCSD_ERR_RDR_FILE_NOT_FOUND",
     "source reader - file not found."},
    {PUG_ERR_CAPTURE_DESCRIPTION, "the capture's description is not usable",
     "What it says of buffers and sources does not fit together.", "OCSD_ERR_RDR_INVALID_INIT",
     "source reader - invalid initialisation parameter."},
    {PUG_ERR_NO_SOURCE, "no source could be made",
     "The log says of each source why: an unknown protocol, or registers that are missing.",
     "OCSD_ERR_RDR_NO_DECODER", "source reader - not trace decoder set."},
    {PUG_ERR_DECODING_STOPPED, "a decoder cannot go on",
     "The log says why. After a reset decoding begins again.", "OCSD_ERR_DATA_DECODE_FATAL",
     "A decoder in the data path has returned a fatal error."},
    {PUG_ERR_TRACE_GAP, "trace input has a gap",
     "Blocks must follow one another; their index says that some bytes are missing.",
     "OCSD_ERR_DFMTR_NOTCONTTRACE", "Trace input to deformatter none-continuous"},
    {PUG_ERR_FRAME_SYNC, "bad frame synchronisation",
     "The bytes are not framed as the settings say, or trace is missing.",
     "OCSD_ERR_DFMTR_BAD_FHSYNC", "Bad frame or half frame sync in trace deformatter"},
    {PUG_ERR_PACKET_SEQUENCE, "bad packet sequence",
     "The trace is damaged here, or its configuration is not the one that was given.",
     "OCSD_ERR_BAD_PACKET_SEQ", "Bad packet sequence"},
    {PUG_ERR_PACKET_HEADER, "invalid packet header",
     "The trace is damaged here, or its configuration is not the one that was given.",
     "OCSD_ERR_INVALID_PCKT_HDR", "Invalid packet header"},
    {PUG_ERR_PACKET_MEANING, "packets make no sense",
     "The trace is damaged here, or its configuration is not the one that was given.",
     "OCSD_ERR_PKT_INTERP_FAIL", "Interpreter failed - cannot recover - bad data or sequence"},
    {PUG_ERR_UNSUPPORTED_ISA, "instruction set not supported",
     "The trace says that a core runs code of a set that is not known, such as Jazelle.",
     "OCSD_ERR_UNSUPPORTED_ISA", "ISA not supported in decoder"},
    {PUG_ERR_UNSUPPORTED_CONFIG, "trace configuration not supported",
     "The trace unit was programmed to trace something that cannot be decoded; see its registers.",
     "OCSD_ERR_HW_CFG_UNSUPP", "Programmed trace configuration not supported by decodUer."},
    {PUG_ERR_UNSUPPORTED_PACKET, "packet not supported",
     "The configuration does not have packets of this type.", "OCSD_ERR_UNSUPP_DECODE_PKT",
     "Packet not supported in decoder"},
    {PUG_ERR_RESERVED_PACKET, "reserved or unknown packet",
     "The trace is damaged here, or its configuration is not the one that was given.",
     "OCSD_ERR_BAD_DECODE_PKT", "Reserved or unknown packet in decoder."},
    {PUG_ERR_COMMIT_TOO_MANY, "more committed or cancelled than there was",
     "The trace is damaged here, or its configuration is not the one that was given.",
     "OCSD_ERR_COMMIT_PKT_OVERRUN",
     "Overrun in commit packet stack - tried to commit more than available"},
    {PUG_ERR_NO_PROGRAM_MEMORY, "program memory not accessible",
     "The program's file is not loaded, or not at the address that the trace has.",
     "OCSD_ERR_MEM_NACC", "Unable to access required memory address."},
    {PUG_ERR_RETURN_STACK, "return stack: popped more than pushed",
     "The program is not the one that was traced, or trace is missing.",
     "OCSD_ERR_RET_STACK_OVERFLOW",
     "Internal return stack overflow checks failed - popped more than we pushed."},
    {PUG_ERR_NO_FRAMES, "the transport has no frames", "Only a transport with frames can do this.",
     "OCSD_ERR_DCDT_NO_FORMATTER", "No formatter in use - operation not valid."},
    {PUG_ERR_MEMORY_OVERLAP, "memory ranges overlap",
     "There is other memory, for the same place, where this range begins or ends.",
     "OCSD_ERR_MEM_ACC_OVERLAP", "Attempted to set an overlapping range in memory access map."},
    {PUG_ERR_PROGRAM_FILE, "a file of program memory cannot be opened", "errno says why.",
     "OCSD_ERR_MEM_ACC_FILE_NOT_FOUND", "Memory access file could not be opened."},
    {PUG_ERR_MAPPED_ELSEWHERE, "a file is mapped already, elsewhere",
     "The reference allows each file once.", "OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE",
     "Attempt to re-use the same memory access file for a different address range."},
    {PUG_ERR_MEMORY_RANGE, "invalid memory range",
     "It is empty, ends before it begins, or goes round the end of the address space.",
     "OCSD_ERR_MEM_ACC_RANGE_INVALID", "Address range in accessor set to invalid values."},
    {PUG_ERR_MEMORY_CALLBACK, "a memory callback says that it gave more than was wanted",
     "The callback is wrong; its bytes are not used.", "OCSD_ERR_MEM_ACC_BAD_LEN",
     "Memory accessor returned a bad read length value (larger than requested."},
    {PUG_ERR_SNAPSHOT_PARSE, "snapshot syntax error",
     "The log says in which file, and in which line.", "OCSD_ERR_TEST_SNAPSHOT_PARSE",
     "Test snapshot file parse error"},
    {PUG_ERR_SNAPSHOT_INFO, "about a snapshot", "No error: something that is worth knowing.",
     "OCSD_ERR_TEST_SNAPSHOT_PARSE_INFO", "Test snapshot file parse information"},
    {PUG_ERR_SNAPSHOT_READ, "the snapshot cannot be read",
     "A file of the folder is missing, or says what makes no sense; the log says which.",
     "OCSD_ERR_TEST_SNAPSHOT_READ", "test snapshot reader error"},
    {PUG_ERR_SNAPSHOT_TREE, "the snapshot makes no decode tree",
     "None of its sources can be decoded as it is described; the log says why.",
     "OCSD_ERR_TEST_SS_TO_DECODER", "test snapshot to decode tree conversion error"},
    {PUG_ERR_NAME_TAKEN, "a protocol of that name is there already",
     "Names of protocols are unique.", "OCSD_ERR_DCDREG_NAME_REPEAT",
     "Attempted to register a decoder with the same name as another one."},
    {PUG_ERR_UNKNOWN_NAME, "no protocol of that name", "pug_protocol_at() lists them.",
     "OCSD_ERR_DCDREG_NAME_UNKNOWN",
     "Attempted to find a decoder with a name that is not known in the library."},
    {PUG_ERR_UNKNOWN_TYPE, "no protocol of that type", "It was not registered.",
     "OCSD_ERR_DCDREG_TYPE_UNKNOWN",
     "Attempted to find a decoder with a type that is not known in the library."},
    {PUG_ERR_TOO_MANY_PROTOCOLS, "too many protocols registered",
     "There is room for 32 besides those that are built in.", "OCSD_ERR_DCDREG_TOOMANY",
     "Attempted to register too many custom decoders"},
    {PUG_ERR_NOT_OFFERED, "this decoder does not do that", "The protocol does not offer it.",
     "OCSD_ERR_DCD_INTERFACE_UNUSED",
     "Attempt to connect or use and interface not supported by this decoder."},
    {PUG_ERR_INVALID_OPCODE, "illegal opcode in program memory",
     "The program is not the one that was traced, or it is data.", "OCSD_ERR_INVALID_OPCODE",
     "Illegal Opode found while decoding program memory."},
    {PUG_ERR_RANGE_LIMIT, "instruction range longer than the limit",
     "The range_limit that was asked for; the program may not be the one that was traced.",
     "OCSD_ERR_I_RANGE_LIMIT_OVERRUN",
     "An optional limit on consecutive instructions in range during decode has been exceeded."},
    {PUG_ERR_WRONG_PROGRAM, "trace and program do not match",
     "The program is not the one that was traced, or it lies elsewhere.",
     "OCSD_ERR_BAD_DECODE_IMAGE", "Mismatch between trace packets and decode image."},
    {PUG_ERR_TRUNCATED, "data end too early",
     "A file or a record is shorter than it says it is, or than it is said to be.", NULL, NULL},
    {PUG_ERR_TRACE_LOST, "trace was lost",
     "The trace unit could not keep up, and said so; what ran meanwhile is not known.", NULL, NULL},
    {PUG_ERR_TRACE_MISMATCH, "trace does not fit the program",
     "The program is not the one that was traced, or it lies elsewhere.", NULL, NULL},
    {PUG_ERR_LIMIT, "a limit was reached",
     "The header of what was called says which limits there are, and which can be set.", NULL,
     NULL},
    {PUG_ERR_INDEX_DAMAGED, "the index is damaged, or of another version", "Make it anew.", NULL,
     NULL},
    {PUG_ERR_INDEX_FOREIGN, "the index belongs to another capture or other settings",
     "Make one of this capture.", NULL, NULL},
    {PUG_ERR_NOT_FOUND, "there is no such place",
     "What was looked for is not there, or not before the end.", NULL, NULL},
    {PUG_ERR_FORMAT, "not a file of that format, or a damaged one",
     "The file can be read, but what is in it is not what it should be.", NULL, NULL},
    {PUG_ERR_NOT_BUILT, "this library was built without that",
     "It needs a package that was not there when the library was built.", NULL, NULL},
    {PUG_ERR_TRACE_SETTINGS, "trace does not fit the settings",
     "The trace unit was set up in another way than the decoder was told.", NULL, NULL},
};

static const struct status_words *find(enum pug_status status)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (words[i].status == status)
            return &words[i];
    return NULL;
}

const char *pug_status_text(enum pug_status status)
{
    const struct status_words *known = find(status);
    return known ? known->text : "unknown status";
}

const char *pug_status_help(enum pug_status status)
{
    const struct status_words *known = find(status);
    return known ? known->help : "";
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
