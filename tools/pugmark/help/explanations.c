// SPDX-License-Identifier: MIT
#include "explanations.h"

#include "pugmark/status.h"

#include <string.h>

/* ---- what a library's status means: its own words, and a remedy by its kind ---- */

static const struct status_row {
    enum pug_status status;
    const char *code, *remedy; /* NULL: otherwise */
} statuses[] = {
    {PUG_ERR_FAIL, "something-went-wrong", NULL},
    {PUG_ERR_MEM, "no-memory",
     "Decode a smaller part (--time, --source, list --from and --to), use fewer threads (--jobs "
     "1), or end other programs."},
    {PUG_ERR_NOT_INIT, "not-ready-for-use", NULL},
    {PUG_ERR_INVALID_ID, "invalid-trace-source-id", NULL},
    {PUG_ERR_BAD_HANDLE, "invalid-handle", NULL},
    {PUG_ERR_INVALID_PARAM_VAL, "invalid-parameter", NULL},
    {PUG_ERR_INVALID_PARAM_TYPE, "wrong-kind-of-object-for-this", NULL},
    {PUG_ERR_FILE, "file-access-error",
     "Check that the file exists and that you may read it; the message ends with the reason."},
    {PUG_ERR_NO_PROTOCOL, "protocol-not-supported", NULL},
    {PUG_ERR_ATTACH_TOO_MANY, "already-taken", NULL},
    {PUG_ERR_ATTACH_INVALID_PARAM, "cannot-attach-this", NULL},
    {PUG_ERR_ATTACH_COMP_NOT_FOUND, "not-attached", NULL},
    {PUG_ERR_RDR_FILE_NOT_FOUND, "a-file-of-the-capture-is-not-there",
     "Copy the missing file into the folder of the capture."},
    {PUG_ERR_RDR_INVALID_INIT, "the-capture-s-description-is-not-usable", NULL},
    {PUG_ERR_RDR_NO_DECODER, "no-source-could-be-made", NULL},
    {PUG_ERR_DATA_DECODE_FATAL, "a-decoder-cannot-go-on", NULL},
    {PUG_ERR_DFMTR_NOTCONTTRACE, "trace-input-has-a-gap", NULL},
    {PUG_ERR_DFMTR_BAD_FHSYNC, "bad-frame-synchronisation", NULL},
    {PUG_ERR_BAD_PACKET_SEQ, "bad-packet-sequence",
     "Run `pugmark info INPUT`: it says which setting would fit, if one does. Check the registers "
     "or parameters (--set, --params), --protocol and --transport. If they are right, bytes were "
     "lost on the way; decoding goes on at the next synchronisation point."},
    {PUG_ERR_INVALID_PCKT_HDR, "invalid-packet-header",
     "Run `pugmark info INPUT`: it says which setting would fit, if one does. Check the registers "
     "or parameters (--set, --params), --protocol and --transport. If they are right, bytes were "
     "lost on the way; decoding goes on at the next synchronisation point."},
    {PUG_ERR_PKT_INTERP_FAIL, "packets-make-no-sense",
     "Run `pugmark info INPUT`: it says which setting would fit, if one does. Check the registers "
     "or parameters (--set, --params), --protocol and --transport. If they are right, bytes were "
     "lost on the way; decoding goes on at the next synchronisation point."},
    {PUG_ERR_UNSUPPORTED_ISA, "instruction-set-not-supported",
     "Check the registers or parameters that you gave. If they are right, trace this part in "
     "another mode of the unit."},
    {PUG_ERR_HW_CFG_UNSUPP, "trace-configuration-not-supported",
     "Check the registers or parameters that you gave. If they are right, trace this part in "
     "another mode of the unit."},
    {PUG_ERR_UNSUPP_DECODE_PKT, "packet-not-supported",
     "Check the registers or parameters that you gave. If they are right, trace this part in "
     "another mode of the unit."},
    {PUG_ERR_BAD_DECODE_PKT, "reserved-or-unknown-packet",
     "Run `pugmark info INPUT`: it says which setting would fit, if one does. Check the registers "
     "or parameters (--set, --params) and --core."},
    {PUG_ERR_COMMIT_PKT_OVERRUN, "more-committed-or-cancelled-than-there-was",
     "Run `pugmark info INPUT`: it says which setting would fit, if one does. Check the registers "
     "or parameters (--set, --params) and --core."},
    {PUG_ERR_MEM_NACC, "program-memory-not-accessible",
     "Give the program that ran with --elf FILE, or memory with --image FILE@ADDRESS."},
    {PUG_ERR_RET_STACK_OVERFLOW, "return-stack-popped-more-than-pushed", NULL},
    {PUG_ERR_DCDT_NO_FORMATTER, "the-transport-has-no-frames", NULL},
    {PUG_ERR_MEM_ACC_OVERLAP, "memory-ranges-overlap", NULL},
    {PUG_ERR_MEM_ACC_FILE_NOT_FOUND, "a-file-of-program-memory-cannot-be-opened", NULL},
    {PUG_ERR_MEM_ACC_FILE_DIFF_RANGE, "a-file-is-mapped-already-elsewhere", NULL},
    {PUG_ERR_MEM_ACC_RANGE_INVALID, "invalid-memory-range", NULL},
    {PUG_ERR_MEM_ACC_BAD_LEN, "a-memory-callback-says-that-it-gave-more-than-was-wanted", NULL},
    {PUG_ERR_SNAPSHOT_PARSE, "snapshot-syntax-error",
     "Mend the snapshot's .ini file at the line that the message names. `pugmark snapshot` writes "
     "a right one."},
    {PUG_ERR_SNAPSHOT_INFO, "about-a-snapshot",
     "Mend the snapshot's .ini file at the line that the message names. `pugmark snapshot` writes "
     "a right one."},
    {PUG_ERR_SNAPSHOT_READ, "the-snapshot-cannot-be-read",
     "Mend the snapshot's .ini file at the line that the message names. `pugmark snapshot` writes "
     "a right one."},
    {PUG_ERR_SNAPSHOT_TREE, "the-snapshot-makes-no-decode-tree",
     "Mend the snapshot's .ini file at the line that the message names. `pugmark snapshot` writes "
     "a right one."},
    {PUG_ERR_DCDREG_NAME_REPEAT, "a-protocol-of-that-name-is-there-already", NULL},
    {PUG_ERR_DCDREG_NAME_UNKNOWN, "no-such-protocol", NULL},
    {PUG_ERR_DCDREG_TYPE_UNKNOWN, "no-protocol-of-that-type", NULL},
    {PUG_ERR_DCDREG_TOOMANY, "too-many-protocols-registered", NULL},
    {PUG_ERR_DCD_INTERFACE_UNUSED, "this-decoder-does-not-do-that", NULL},
    {PUG_ERR_INVALID_OPCODE, "illegal-opcode-in-program-memory",
     "Give the build that ran, loaded where it ran: --elf FILE, or --elf FILE@BIAS."},
    {PUG_ERR_I_RANGE_LIMIT_OVERRUN, "instruction-range-longer-than-the-limit", NULL},
    {PUG_ERR_BAD_DECODE_IMAGE, "trace-and-program-do-not-match",
     "Give the build that ran, loaded where it ran: --elf FILE, or --elf FILE@BIAS."},
    {PUG_ERR_TRUNCATED, "data-end-too-early",
     "Copy the file again if it was cut. If it was read while the unit was on, stop and flush the "
     "unit first."},
    {PUG_ERR_TRACE_LOST, "overflow",
     "Trace less at a time: fewer sources, a filter by address, no cycle counts; or use a larger "
     "buffer or a faster port."},
    {PUG_ERR_TRACE_MISMATCH, "trace-does-not-fit-the-program",
     "Give the build that ran, loaded where it ran: --elf FILE, or --elf FILE@BIAS."},
    {PUG_ERR_LIMIT, "a-limit-was-reached",
     "If the input is yours and right, raise the limit: --expansion N, --source-limit N."},
    {PUG_ERR_INDEX_DAMAGED, "the-index-is-damaged-or-of-another-version",
     "Make the index again with `pugmark index --rebuild INPUT`."},
    {PUG_ERR_INDEX_FOREIGN, "the-index-belongs-to-another-capture-or-other-settings",
     "Make the index again with `pugmark index --rebuild INPUT`."},
    {PUG_ERR_NOT_FOUND, "there-is-no-such-place",
     "Ask for something else: `pugmark info INPUT` and `pugmark stat INPUT` say what is in it."},
    {PUG_ERR_FORMAT, "not-a-file-of-that-format-or-a-damaged-one",
     "Check which file it is. Make it again with the program that wrote it."},
    {PUG_ERR_NOT_BUILT, "this-library-was-built-without-that",
     "Use a build that has it: `pugmark --version` lists what this one was built with."},
    {PUG_ERR_TRACE_SETTINGS, "trace-does-not-fit-the-settings",
     "Set the register or parameter that the message names as it was in the unit: --set "
     "NAME=VALUE."},
};

static const char *const otherwise =
    "Check the words of the command and its input with `pugmark info INPUT`. In a program of your "
    "own, compare the call with what the header says. If all is right, report the message with the "
    "output of `pugmark --version`.";

#define STATUSES (sizeof(statuses) / sizeof(statuses[0]))

static struct explanation of_status(const struct status_row *row)
{
    return (struct explanation){row->code, pug_status_text(row->status),
                                pug_status_help(row->status),
                                row->remedy ? row->remedy : otherwise};
}

/* ---- the table ---- */

static const struct {
    const struct explanation *items;
    const size_t *count;
} parts[] = {
    {explanations_usage, &explanations_usage_count},
    {explanations_input, &explanations_input_count},
    {explanations_trace, &explanations_trace_count},
};

bool explanation_at(size_t n, struct explanation *explanation)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (n < *parts[i].count) {
            *explanation = parts[i].items[n];
            return true;
        }
        n -= *parts[i].count;
    }
    if (n < STATUSES)
        *explanation = of_status(&statuses[n]);
    return n < STATUSES;
}

bool explanation_is_announced(const struct explanation *explanation)
{
    for (size_t i = 0; i < explanations_usage_count; i++)
        if (strcmp(explanations_usage[i].code, explanation->code) == 0)
            return false;
    return strncmp(explanation->remedy, "Nothing", 7) != 0;
}

bool explanation_find(const char *code, struct explanation *explanation)
{
    for (size_t n = 0; explanation_at(n, explanation); n++)
        if (strcmp(explanation->code, code) == 0)
            return true;
    return false;
}

/** Is the text as the pattern has it? Stars are any text. */
static bool fits(const char *pattern, size_t length, const char *text)
{
    const char *end = pattern + length, *star = NULL, *again = NULL;
    while (*text) {
        if (pattern < end && *pattern == '*') {
            star = ++pattern;
            again = text;
        } else if (pattern < end && *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++again;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

static bool says(const struct explanation *explanation, const char *text)
{
    for (const char *at = explanation->says; *at;) {
        const size_t length = strcspn(at, "|");
        if (fits(at, length, text))
            return true;
        at += length + (at[length] == '|');
    }
    return false;
}

bool explanation_match(const char *text, struct explanation *explanation)
{
    static const char *const fronts[] = {"pugmark: ", "  * ", "error: ", "warning: "};
    for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++)
        if (strncmp(text, fronts[i], strlen(fronts[i])) == 0)
            text += strlen(fronts[i]);
    for (size_t n = 0; explanation_at(n, explanation); n++)
        if (says(explanation, text) ||
            (*explanation->says != '*' && strstr(text, explanation->says)))
            return true;
    return false;
}
