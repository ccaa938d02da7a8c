// SPDX-License-Identifier: MIT
#include "verify_data.h"

#include "recorder/path.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** What one element, or two of an atomic instruction, must contain. */
struct expected {
    unsigned access; /* enum pug_access */
    uint64_t pc, address;
    unsigned size;
    bool known;
    uint64_t value, after; /* after: of an atomic instruction; `value` is before it */
};

enum { TAGS = 3 }; /* of ETMv3: values that may come later */

struct cursor {
    struct rec_path_reader *reader;
    int file;
    uint8_t family;
    struct rec_path_item item;
    uint32_t at; /* access of the item */
    bool half;   /* its first word was compared: Arm's doublewords are two */
    struct expected next;
    bool has_next, ended;
    struct expected later[TAGS]; /* of which only the address came; size 0: none */
    unsigned later_at;
};

struct verify_data {
    const char *path;
    uint32_t expansion; /* 0: as usual */
    struct cursor *cursors[REC_PATH_CPUS];
    uint64_t count;
};

struct verify_data *verify_data_new(const char *path, uint32_t expansion)
{
    struct verify_data *data = calloc(1, sizeof(*data));
    if (data)
        *data = (struct verify_data){.path = path, .expansion = expansion};
    return data;
}

void verify_data_free(struct verify_data *data)
{
    for (unsigned i = 0; data && i < REC_PATH_CPUS; i++) {
        if (!data->cursors[i])
            continue;
        rec_path_reader_free(data->cursors[i]->reader);
        if (data->cursors[i]->file >= 0)
            close(data->cursors[i]->file);
        free(data->cursors[i]);
    }
    free(data);
}

static struct cursor *cursor_at(struct verify_data *data, unsigned cpu)
{
    struct rec_path_header header;
    const char *why;
    struct cursor *cursor = data->cursors[cpu];
    if (cursor)
        return cursor;
    cursor = data->cursors[cpu] = calloc(1, sizeof(*cursor));
    if (!cursor)
        return NULL;
    cursor->file = open(data->path, O_RDONLY | O_CLOEXEC);
    cursor->reader = cursor->file >= 0 ? rec_path_reader_new(cursor->file, 0) : NULL;
    if (cursor->reader && data->expansion)
        rec_path_reader_set_expansion(cursor->reader, data->expansion);
    cursor->ended = !cursor->reader || !rec_path_reader_header(cursor->reader, &header, &why);
    cursor->family = cursor->ended ? 0 : header.family;
    return cursor;
}

/* ---- what is expected ---- */

/** An atomic instruction's kind; PUG_ACCESS_LOAD, _STORE: LR, SC, or none. */
static unsigned atomic_of(const uint8_t *bytes, bool store)
{
    if ((bytes[0] & 0x7f) != 0x2f)
        return store;
    switch (bytes[3] >> 3) {
    case 0: return PUG_ACCESS_ADD;
    case 1:
    case 5: return PUG_ACCESS_SWAP;
    case 2: return PUG_ACCESS_LOAD;
    case 3: return PUG_ACCESS_STORE;
    case 4: return PUG_ACCESS_XOR;
    case 8: return PUG_ACCESS_OR;
    case 12: return PUG_ACCESS_AND;
    default: return bytes[3] >> 3 & 4 ? PUG_ACCESS_MAX : PUG_ACCESS_MIN;
    }
}

/** The accesses of the instruction at hand, which of an atomic one are one. */
static void expect(struct cursor *cursor)
{
    const struct rec_path_item *item = &cursor->item;
    const struct rec_path_block *block = item->block;
    const struct rec_path_access *first = &item->accesses[cursor->at], *last = first;
    uint32_t offset = 0;
    for (uint32_t n = 0; n < first->insn; n++)
        offset += rec_path_insn_size(block->isa, block->bytes + offset);
    const uint8_t *bytes = block->bytes + offset;
    bool control = first->size == REC_ACCESS_REGISTER;
    bool atomic = block->isa == REC_PATH_RISCV && (bytes[0] & 0x7f) == 0x2f;
    while ((atomic || control) && cursor->at + 1 < item->access_count &&
           last[1].insn == first->insn) {
        last++;
        cursor->at++;
    }
    bool words = block->isa != REC_PATH_RISCV && first->size == 3;
    unsigned behind = words && cursor->half ? 4 : 0;
    cursor->half = words && !cursor->half;
    cursor->at += !cursor->half;
    cursor->next = (struct expected){
        .access = atomic ? atomic_of(bytes, false) : first->store,
        .pc = block->address + offset,
        .address = first->address + behind,
        .size = words ? 4 : 1u << first->size,
        .known = first->known && last->known,
        .value = words ? (uint32_t)(first->value >> 8 * behind) : first->value,
        .after = last->value,
    };
    if (atomic && cursor->next.access == PUG_ACCESS_STORE)
        cursor->next.value = last->value;
    if (control) {
        cursor->next.access = PUG_ACCESS_CSR_RW + (bytes[1] >> 4 & 3) - 1;
        cursor->next.size = cursor->family == REC_FAMILY_RV32 ? 4 : 8;
    }
    cursor->has_next = true;
}

static bool next_expected(struct cursor *cursor, unsigned cpu)
{
    while (!cursor->has_next && !cursor->ended) {
        if (cursor->at < cursor->item.access_count) {
            expect(cursor);
            break;
        }
        cursor->at = 0;
        do
            cursor->ended = !rec_path_reader_next(cursor->reader, &cursor->item);
        while (!cursor->ended && (cursor->item.cpu != cpu || cursor->item.kind != REC_PATH_RAN));
        if (cursor->ended)
            cursor->item.access_count = 0;
    }
    return cursor->has_next;
}

/* ---- comparing ---- */

/** Does the operand make what was stored of what was there? */
static bool makes(const struct expected *of, uint64_t operand)
{
    uint64_t mask = of->size >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * of->size) - 1;
    uint64_t result = operand;
    switch (of->access) {
    case PUG_ACCESS_ADD: result = of->value + operand; break;
    case PUG_ACCESS_XOR: result = of->value ^ operand; break;
    case PUG_ACCESS_AND: result = of->value & operand; break;
    case PUG_ACCESS_OR: result = of->value | operand; break;
    case PUG_ACCESS_MIN:
    case PUG_ACCESS_MAX: return of->after == of->value || of->after == operand;
    default: break;
    }
    return ((result ^ of->after) & mask) == 0;
}

static const char *difference(const struct expected *of, const struct pug_element *e)
{
    bool operand = e->reason & PUG_ACCESS_OPERAND;
    if ((e->reason & ~PUG_ACCESS_OPERAND) != of->access)
        return "kind";
    if (e->flags & PUG_ELEM_HAS_PC && e->end != of->pc)
        return "instruction";
    if (e->last_size != of->size)
        return "size";
    if (e->flags & PUG_ELEM_HAS_ADDRESS && e->start != of->address)
        return "address";
    if (e->type != PUG_ELEM_DATA_VALUE || !of->known)
        return NULL;
    if (operand)
        return makes(of, e->value) ? NULL : "operand";
    return e->value == of->value ? NULL : "value";
}

/** Only its address came; where no values are traced, the oldest ones make room. */
static void keep_late(struct cursor *cursor, const struct expected *of)
{
    unsigned at = 0;
    while (at < TAGS && cursor->later[at].size != 0)
        at++;
    cursor->later[at < TAGS ? at : cursor->later_at++ % TAGS] = *of;
}

/**
 * The value of an access whose address came before. Or that address, after such a value was taken
 * for that of the next access, which is the same again: one of both is still to come.
 */
static bool is_late(struct cursor *cursor, const struct pug_element *e)
{
    for (unsigned i = 0; i < TAGS; i++) {
        struct expected *late = &cursor->later[i];
        if (late->size == 0 || !(e->flags & PUG_ELEM_HAS_ADDRESS) || difference(late, e))
            continue;
        if (e->type == PUG_ELEM_DATA_VALUE)
            *late = (struct expected){0};
        return true;
    }
    return false;
}

bool verify_data_take(struct verify_data *data, unsigned cpu, const struct pug_element *element)
{
    struct cursor *cursor = cursor_at(data, cpu);
    if (!cursor)
        return false;
    if (!next_expected(cursor, cpu)) {
        if (is_late(cursor, element))
            return true;
        printf("differs: processor %u, access %" PRIu64
               ": the trace tells one more than the path\n",
               cpu, data->count);
        return false;
    }
    const struct expected *of = &cursor->next;
    const char *what = difference(of, element);
    if (what && is_late(cursor, element))
        return true;
    if (what) {
        printf("differs: processor %u, access %" PRIu64 ", its %s: the trace tells 0x%" PRIx64
               " at 0x%" PRIx64 ", the path has 0x%" PRIx64 " at 0x%" PRIx64
               " (instruction 0x%" PRIx64 ")\n",
               cpu, data->count, what, element->value, element->start, of->value, of->address,
               of->pc);
        return false;
    }
    if (element->reason & PUG_ACCESS_OPERAND)
        return true; /* the value follows */
    if (element->type == PUG_ELEM_DATA_ADDRESS)
        keep_late(cursor, of);
    cursor->has_next = false;
    data->count++;
    return true;
}

bool verify_data_end(struct verify_data *data)
{
    for (unsigned cpu = 0; cpu < REC_PATH_CPUS; cpu++) {
        struct cursor *cursor = data->cursors[cpu];
        if (!cursor || !next_expected(cursor, cpu))
            continue;
        printf("differs: processor %u: the trace has not the access at 0x%" PRIx64
               " (instruction 0x%" PRIx64 "), nor what comes behind it\n",
               cpu, cursor->next.address, cursor->next.pc);
        return false;
    }
    return true;
}

uint64_t verify_data_count(const struct verify_data *data)
{
    return data->count;
}
