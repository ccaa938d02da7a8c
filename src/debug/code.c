// SPDX-License-Identifier: MIT
/** @file What program memory says: functions, and where a branch goes. */
#include "base/hash.h"
#include "debug/history.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/isa.h"

#include <stdlib.h>

/** The names of an object, or NULL. */
static struct pug_names_file *file_of(struct pug_history *history, uint32_t object)
{
    if (!history->config.names || object == PUG_NO_OBJECT ||
        !pug_history_grow(history, &history->files, &history->file_room, (uint64_t)object + 1,
                          sizeof(*history->files)))
        return NULL;
    struct pug_history_file *file = &history->files[object];
    if (!file->opened) {
        file->opened = true;
        (void)pug_capture_names(history->config.capture, object, history->config.names,
                                &file->file);
    }
    return file->file;
}

static bool find_function(struct pug_history *history, uint64_t address,
                          struct pug_function *function)
{
    struct pug_location location;
    struct pug_names_function found;
    if (!pug_capture_locate(history->config.capture, history->origin, address, &location))
        return false;
    struct pug_names_file *file = file_of(history, location.object);
    if (!file || !pug_names_function(file, location.vaddr, &found))
        return false;
    *function = (struct pug_function){.name = found.name,
                                      .start = address - (location.vaddr - found.start),
                                      .size = found.size,
                                      .id = location.object};
    return true;
}

bool pug_history_function(void *context, uint32_t task, const struct pug_element *element,
                          uint64_t address, struct pug_function *function)
{
    struct pug_history *history = context;
    const struct pug_address_space *space = history->origin->space;
    (void)task;
    (void)element;
    if (!history->memos) {
        history->memos = calloc(PUG_FUNCTION_MEMOS, sizeof(*history->memos));
        if (!history->memos)
            return find_function(history, address, function);
    }
    const uint64_t hash = pug_hash_mix((uintptr_t)space, address);
    struct pug_function_memo *memo = &history->memos[hash & (PUG_FUNCTION_MEMOS - 1)];
    if (!memo->used || memo->space != space || memo->address != address) {
        *memo = (struct pug_function_memo){
            .space = space, .address = address, .used = true, .function = {.start = address}};
        memo->known = find_function(history, address, &memo->function);
    }
    *function = memo->function;
    return memo->known;
}

/** The target of a direct branch, from its opcode. */
static bool find_target(const struct pug_history_line *line, uint64_t *next, uint8_t *isa)
{
    const struct pug_element *range = &line->range;
    const struct pug_isa_config config = {.zcmp_zcmt = true};
    struct pug_reader_space reader;
    struct pug_insn insn;
    uint8_t bytes[8], it = 0;
    const uint64_t address = range->end - range->last_size;
    if (!line->space || range->last_size == 0 || range->last_size > sizeof(bytes))
        return false;
    pug_element_space(range, &reader);
    const int64_t got = pug_image_read(pug_address_space_image(line->space), &reader, address,
                                       bytes, range->last_size);
    if (got != range->last_size ||
        pug_isa_classify(&config, (enum pug_isa)range->isa, address, bytes, range->last_size, &it,
                         &insn) != PUG_OK ||
        insn.type != PUG_INSTR_BR || insn.table_jump)
        return false;
    *next = insn.target;
    *isa = insn.next_isa;
    return true;
}

bool pug_history_next(struct pug_history *history, const struct pug_history_line *line,
                      uint64_t *next, uint8_t *isa)
{
    (void)history;
    const bool taken = line->range.flags & PUG_ELEM_EXECUTED;
    *isa = line->range.isa;
    *next = line->range.end;
    if (!taken ||
        (line->range.last_type != PUG_INSTR_BR && line->range.last_type != PUG_INSTR_BR_INDIRECT))
        return true;
    return line->range.last_type == PUG_INSTR_BR && find_target(line, next, isa);
}
