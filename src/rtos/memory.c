// SPDX-License-Identifier: MIT
#include "rtos/memory.h"

#include "base/hash.h"
#include "pugmark/advanced/image.h"

#include <stdlib.h>

#define WORDS_MOST (1u << 20) /* words of memory that are kept */

/** Four bytes of memory; `known` has a bit for each. */
struct word {
    uint64_t address;
    uint8_t bytes[4], known;
};

struct thread_memory {
    struct word *words;
    size_t count, room; /* room: a power of two */
};

struct thread_memory *pug_thread_memory_new(void)
{
    return calloc(1, sizeof(struct thread_memory));
}

void pug_thread_memory_free(struct thread_memory *memory)
{
    if (!memory)
        return;
    free(memory->words);
    free(memory);
}

/** The place of a word, or the place for it. */
static struct word *find(const struct thread_memory *memory, uint64_t address)
{
    size_t at = (size_t)pug_hash_mix(0, address) & (memory->room - 1);
    while (memory->words[at].known && memory->words[at].address != address)
        at = (at + 1) & (memory->room - 1);
    return &memory->words[at];
}

static bool grow(struct thread_memory *memory)
{
    const struct thread_memory old = *memory;
    if (memory->count * 2 < memory->room)
        return true;
    if (memory->count >= WORDS_MOST)
        return false;
    const size_t room = old.room ? old.room * 2 : 1024;
    struct word *words = calloc(room, sizeof(*words));
    if (!words)
        return false;
    memory->words = words;
    memory->room = room;
    for (size_t i = 0; i < old.room; i++)
        if (old.words[i].known)
            *find(memory, old.words[i].address) = old.words[i];
    free(old.words);
    return true;
}

void pug_thread_memory_store(struct thread_memory *memory, uint64_t address, unsigned size,
                             uint64_t value)
{
    for (unsigned i = 0; i < size && i < 8; i++, value >>= 8) {
        const uint64_t at = address + i;
        if (!grow(memory))
            return;
        struct word *word = find(memory, at & ~UINT64_C(3));
        memory->count += !word->known;
        word->address = at & ~UINT64_C(3);
        word->bytes[at & 3] = (uint8_t)value;
        word->known |= (uint8_t)(1u << (at & 3));
    }
}

size_t pug_thread_memory_read(const struct thread_memory *memory, const struct pug_image *image,
                              uint64_t address, uint8_t *bytes, size_t size)
{
    static const struct pug_reader_space any = {.space = PUG_SPACE_ANY};
    for (size_t i = 0; i < size; i++) {
        const uint64_t at = address + i;
        const struct word *word = memory->room ? find(memory, at & ~UINT64_C(3)) : NULL;
        if (word && (word->known >> (at & 3) & 1))
            bytes[i] = word->bytes[at & 3];
        else if (!image || pug_image_read(image, &any, at, &bytes[i], 1) != 1)
            return i;
    }
    return size;
}
