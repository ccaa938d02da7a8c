// SPDX-License-Identifier: MIT
/** @file Any bytes as what a logic analyser saw of a line: VCD, CSV, or sigrok's zip. */
#include "driver.h"
#include "files.h"
#include "waveform/waveform.h"

#include <stdlib.h>
#include <string.h>

static bool take(void *context, const uint8_t *bytes, size_t size)
{
    size_t *count = context;
    *count += size && bytes;
    return *count < 100000;
}

static void read_line(const char *path, const char *name, enum pug_line_coding coding, double rate)
{
    struct pug_waveform waveform = {.path = path, .line = name, .hertz = 1e6};
    struct pug_line line = {.coding = coding, .rate = rate};
    size_t count = 0;
    if (!pug_line_bytes(&waveform, &line, take, &count) && !waveform.why[0])
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_write("line", data, size);
    const char *path = fuzz_place("line");
    read_line(path, NULL, PUG_LINE_ANY, 0);
    read_line(path, "0", PUG_LINE_UART, 100000);
    read_line(path, "SWO", PUG_LINE_MANCHESTER, 0);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    static const char vcd[] = "$timescale 1 us $end\n$var wire 1 ! SWO $end\n$enddefinitions $end\n"
                              "#0 1!\n#100 0!\n#110 1!\n#120 0!\n#150 1!\n#160 0!\n#170 1!\n#300\n",
                      csv[] = "; Samplerate: 1 MHz\nSWO,CLK\n1,0\n1,0\n0,1\n0,0\n1,1\n0,0\n1,1\n";
    const bool first = rec_random_below(random, 2);
    const char *text = first ? vcd : csv;
    const size_t length = (first ? sizeof(vcd) : sizeof(csv)) - 1;
    const size_t size = length < room ? length : room;
    memcpy(data, text, size);
    return size - rec_random_below(random, 20);
}
