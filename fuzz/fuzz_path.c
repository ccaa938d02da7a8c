// SPDX-License-Identifier: MIT
/** @file Any bytes as a recorded path. */
#include "driver.h"
#include "files.h"
#include "recorder/path.h"

#include <fcntl.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rec_path_header header;
    struct rec_path_item item;
    const char *why;
    fuzz_write("path", data, size);
    const int file = open(fuzz_place("path"), O_RDONLY | O_CLOEXEC);
    struct rec_path_reader *reader = rec_path_reader_new(file, 0);
    if (reader && rec_path_reader_header(reader, &header, &why)) {
        uint64_t sum = 0;
        for (unsigned n = 0; n < 1 << 16 && rec_path_reader_next(reader, &item); n++)
            for (uint32_t i = 0; i < item.access_count; i++)
                sum += item.accesses[i].address;
        *(volatile uint64_t *)&sum; /* each is read, which a sanitizer watches */
    }
    rec_path_reader_free(reader);
    close(file);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    return fuzz_load(rec_random_once_in(random, 2) ? "tests/captures/ptm-arm-cycles/path"
                                                   : "tests/captures/etrace-rv64/path",
                     data, room);
}
