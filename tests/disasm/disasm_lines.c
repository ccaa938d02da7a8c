// SPDX-License-Identifier: MIT
/** @file Lines "ISA ADDRESS BYTES" from standard input, each answered with the instruction in
 * words. */
#include "pugmark/disasm.h"

#include <stdio.h>
#include <string.h>

static enum pug_isa isa_of(const char *name)
{
    static const struct {
        const char *name;
        enum pug_isa isa;
    } sets[] = {{"A64", PUG_ISA_A64},
                {"A32", PUG_ISA_A32},
                {"T32", PUG_ISA_T32},
                {"RV32", PUG_ISA_RV32},
                {"RV64", PUG_ISA_RV64}};
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        if (strcmp(name, sets[i].name) == 0)
            return sets[i].isa;
    return PUG_ISA_UNKNOWN;
}

int main(void)
{
    char line[128], isa[8], hex[32], text[PUG_DISASM_TEXT];
    unsigned long long address;
    struct pug_disasm *disasm;
    if (!pug_disasm_built_in())
        return 77;
    if (pug_disasm_new(NULL, &disasm) != PUG_OK)
        return 1;
    while (fgets(line, sizeof(line), stdin)) {
        uint8_t bytes[16] = {0};
        size_t count = 0;
        if (sscanf(line, "%7s %llx %31s", isa, &address, hex) != 3)
            return 1;
        for (unsigned byte; count < 16 && sscanf(hex + 2 * count, "%2x", &byte) == 1; count++)
            bytes[count] = (uint8_t)byte;
        pug_disasm_text(disasm, isa_of(isa), address, bytes, count, text, sizeof(text));
        puts(text);
    }
    pug_disasm_free(disasm);
    return 0;
}
