// SPDX-License-Identifier: MIT
/**
 * @file Damaged files of histories whose checksum is right: they are refused, or one can go through
 * them, forwards and backwards, and ask what is known anywhere.
 */
#include "debug/kept.h"
#include "driver.h"
#include "files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDENTITY 7u

static struct pug_capture *capture(void)
{
    static struct pug_capture *opened;
    if (!opened && pug_capture_open(PUG_SOURCE_DIR "/examples/crash",
                                    &(struct pug_capture_options){0}, &opened) != PUG_OK)
        abort();
    return opened;
}

static void look(struct pug_history *history, uint64_t position)
{
    struct pug_history_place place;
    struct pug_history_packet packet;
    struct pug_history_frame frames[32];
    uint8_t bytes[64];
    if (!pug_history_at(history, position, &place))
        return;
    (void)pug_history_packet(history, position, &packet);
    (void)pug_history_frames(history, position, frames, 32);
    (void)pug_history_memory_at(history, &place, place.pc & ~(uint64_t)15, bytes, sizeof(bytes));
}

static void move(struct pug_history *history, uint64_t position, bool backward)
{
    struct pug_history_move step = {.position = position, .backward = backward};
    for (unsigned n = 0; n < 20; n++) {
        if (n % 4 == 3)
            pug_history_run(history, &step);
        else
            pug_history_step(history, &step);
        look(history, step.position);
    }
}

static void go_through(struct pug_history *history)
{
    const struct pug_history_breakpoint at = {.address = 0x210398, .pid = PUG_NO_CPU};
    const uint64_t count = pug_history_count(history);
    struct pug_history_block block;
    uint64_t found;
    uint32_t mark = 0;
    (void)pug_history_breakpoints(history, &at, 1);
    for (uint64_t n = 0; n < 8; n++) {
        look(history, count / 8 * n);
        move(history, count / 8 * n, n & 1);
    }
    look(history, count - 1);
    for (unsigned want = PUG_FIND_ADDRESS; want <= PUG_FIND_LOSS; want++)
        (void)pug_history_find(history, (enum pug_history_want)want, 0x210398, count / 2, want & 1,
                               &found);
    while (pug_history_next_block(history, &mark, &block))
        continue;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct pug_history_config config = {.capture = capture(), .limit = 64u << 20};
    struct pug_history *history;
    fuzz_write("history", data, size);
    if (pug_history_load(&config, fuzz_place("history"), IDENTITY, &history) == PUG_OK)
        go_through(history);
    pug_history_free(history);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    const struct pug_history_config config = {.capture = capture()};
    struct pug_history *history;
    char path[4096];
    (void)random;
    snprintf(path, sizeof(path), "%s", fuzz_place("begin"));
    if (pug_history_new(&config, &history) != PUG_OK ||
        pug_capture_elements(capture(), pug_history_take, history) != PUG_OK)
        abort();
    pug_history_end(history);
    if (pug_history_save(history, path, IDENTITY) != PUG_OK)
        abort();
    pug_history_free(history);
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(data, 1, room, file) : 0;
    if (file)
        fclose(file);
    return size;
}

/** Gives it the checksum of what follows the header. */
void fuzz_mend(uint8_t *data, size_t size)
{
    struct pug_kept_header header;
    if (size < sizeof(header))
        return;
    memcpy(&header, data, sizeof(header));
    header.checksum = pug_kept_hash(data + sizeof(header), size - sizeof(header));
    memcpy(data, &header, sizeof(header));
}
