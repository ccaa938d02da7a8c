// SPDX-License-Identifier: MIT
#include "support/harts.h"

#include <string.h>

/** Whose a packet is that lies there. */
static unsigned hart_at(size_t at, size_t stretch)
{
    return at < stretch / 2 ? 0 : at / stretch % 8 == 0 ? 1 : 2;
}

/** Build the RISC-V packet encapsulation: ids of 4 bits, no times. */
static void share_packets(uint8_t *bytes, size_t size, size_t stretch)
{
    for (size_t at = 0; at + 1 < size; at += 1 + (bytes[at] & 0x1fu))
        if (bytes[at] & 0x1f)
            bytes[at + 1] = (uint8_t)((bytes[at + 1] & 0xf0) | hart_at(at, stretch));
}

/** Nexus messages, whose SRC of 4 bits is in the second byte. */
static void share_messages(uint8_t *bytes, size_t size, size_t stretch)
{
    for (size_t at = 0; at + 1 < size; at++) {
        if (bytes[at] == 0xff)
            continue;
        bytes[at + 1] = (uint8_t)((bytes[at + 1] & 0xc3) | hart_at(at, stretch) << 2);
        while (at < size && (bytes[at] & 3) != 3)
            at++;
    }
}

bool harts_share(const char *folder, uint8_t *bytes, size_t size, size_t stretch)
{
    const char *name = strrchr(folder, '/');
    name = name ? name + 1 : folder;
    if (strcmp(name, "etrace-rv64") == 0)
        share_packets(bytes, size, stretch);
    else if (strcmp(name, "ntrace-rv64") == 0)
        share_messages(bytes, size, stretch);
    else
        return false;
    return true;
}
