// SPDX-License-Identifier: MIT
/**
 * @file Trace in the notifications of OpenOCD's TCL server: `type target_trace data HEX`, each
 * ended by CR LF and 0x1a. Others, and the answer to a command, are skipped.
 */
#include "live/live.h"

#include <string.h>

static const char begin[] = "type target_trace data ";
#define BEGIN_SIZE (sizeof(begin) - 1)
#define END        0x1a
/* The text here is skipped up to the next END. */
#define SKIPPED SIZE_MAX

static int digit_of(uint8_t byte)
{
    const uint8_t lower = byte | 0x20;
    return byte >= '0' && byte <= '9'     ? byte - '0'
           : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                          : -1;
}

size_t pug_live_tcl(struct pug_live_tcl *tcl, uint8_t *bytes, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        const uint8_t byte = bytes[i];
        if (byte == END) {
            *tcl = (struct pug_live_tcl){.digit = -1};
        } else if (tcl->data) {
            const int digit = digit_of(byte);
            if (digit >= 0 && tcl->digit >= 0)
                bytes[count++] = (uint8_t)(tcl->digit << 4 | digit);
            tcl->digit = digit >= 0 && tcl->digit >= 0 ? -1 : digit;
        } else if (tcl->matched != SKIPPED && byte == (uint8_t)begin[tcl->matched]) {
            tcl->data = ++tcl->matched == BEGIN_SIZE;
            tcl->digit = -1;
        } else {
            tcl->matched = SKIPPED;
        }
    }
    return count;
}
