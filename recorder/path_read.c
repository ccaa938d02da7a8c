// SPDX-License-Identifier: MIT
/** @file Path files are untrusted: every length is checked before room is made for it. */
#include "recorder/path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM           (1u << 18)
#define BLOCKS_LIMIT   (1u << 26)
#define FOLLOWER_LIMIT (1u << 26)          /* entries, of all processors together */
#define FIRST_REPEATS  (UINT64_C(1) << 24) /* blocks that the shortest file may repeat */
#define MOST_REPEATS   (UINT64_C(1) << 40) /* of one event: beyond it the file is damaged */

struct cpu {
    uint32_t *follower; /* by block: the one that followed it last, + 1 */
    uint32_t followers;
    uint32_t at;                      /* the block that ran last, + 1; 0: none */
    bool waiting;                     /* it was not given yet */
    struct rec_path_access *accesses; /* of the block that ran last */
    uint32_t access_count, access_room;
    bool given; /* they were */
};

struct rec_path_reader {
    int file;
    uint8_t family; /* enum rec_path_family */
    uint8_t *bytes;
    size_t at, size;
    uint64_t before; /* bytes of the file in front of those */
    bool ended;
    const char *wrong;
    char why[256]; /* `wrong`, where it has numbers in it */
    uint8_t version;
    struct rec_path_block **blocks;
    uint32_t block_count, block_room;
    struct cpu cpus[REC_PATH_CPUS];
    uint64_t followers;
    char text[REC_PATH_NAME_BYTES + 1];
    /* the chunk of events underway */
    unsigned cpu;
    uint64_t left, hits;
    uint64_t repeated; /* blocks, of all repeats that began */
    uint32_t expansion;
    uint64_t time, accessed; /* accessed: the last address */
    unsigned flushed;        /* at the end: processors whose last block was given */
    struct rec_path_item queue[4];
    unsigned queued, taken;
};

struct rec_path_reader *rec_path_reader_new(int file, unsigned had)
{
    struct rec_path_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return NULL;
    reader->file = file;
    reader->expansion = REC_PATH_EXPANSION;
    reader->bytes = malloc(ROOM);
    if (!reader->bytes) {
        free(reader);
        return NULL;
    }
    reader->size = had < REC_PATH_MAGIC_SIZE ? had : REC_PATH_MAGIC_SIZE;
    memcpy(reader->bytes, REC_PATH_MAGIC, reader->size);
    return reader;
}

void rec_path_reader_set_expansion(struct rec_path_reader *reader, uint32_t expansion)
{
    reader->expansion = expansion;
}

uint64_t rec_path_reader_at(const struct rec_path_reader *reader)
{
    return reader->before + reader->at;
}

void rec_path_reader_free(struct rec_path_reader *reader)
{
    if (!reader)
        return;
    for (uint32_t i = 0; i < reader->block_count; i++)
        free(reader->blocks[i]);
    for (unsigned i = 0; i < REC_PATH_CPUS; i++) {
        free(reader->cpus[i].follower);
        free(reader->cpus[i].accesses);
    }
    free(reader->blocks);
    free(reader->bytes);
    free(reader);
}

/* ---- bytes ---- */

static bool fill(struct rec_path_reader *reader)
{
    ssize_t got;
    if (reader->ended)
        return false;
    do {
        got = read(reader->file, reader->bytes, ROOM);
    } while (got < 0 && errno == EINTR);
    reader->before += reader->size;
    reader->at = 0;
    reader->size = got > 0 ? (size_t)got : 0;
    reader->ended = got <= 0;
    return !reader->ended;
}

static bool get_byte(struct rec_path_reader *reader, uint8_t *byte)
{
    if (reader->at == reader->size && !fill(reader))
        return false;
    *byte = reader->bytes[reader->at++];
    return true;
}

static bool wrong(struct rec_path_reader *reader, const char *why)
{
    if (!reader->wrong)
        reader->wrong = why;
    return false;
}

static bool get_number(struct rec_path_reader *reader, uint64_t *value)
{
    uint8_t byte = 0x80;
    *value = 0;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        if (!get_byte(reader, &byte))
            return wrong(reader, "the file ends in the middle of something");
        if (shift > 63)
            return wrong(reader, "a number is too long");
        *value |= (uint64_t)(byte & 0x7f) << shift;
    }
    return true;
}

static bool get_bytes(struct rec_path_reader *reader, void *bytes, size_t size)
{
    uint8_t *to = bytes;
    while (size > 0) {
        if (reader->at == reader->size && !fill(reader))
            return wrong(reader, "the file ends in the middle of something");
        size_t part = reader->size - reader->at < size ? reader->size - reader->at : size;
        memcpy(to, reader->bytes + reader->at, part);
        reader->at += part;
        to += part;
        size -= part;
    }
    return true;
}

bool rec_path_reader_header(struct rec_path_reader *reader, struct rec_path_header *header,
                            const char **why)
{
    uint8_t magic[REC_PATH_MAGIC_SIZE];
    uint64_t family, flags;
    *why = "it is no path file";
    if (!get_bytes(reader, magic, sizeof(magic)) ||
        memcmp(magic, REC_PATH_MAGIC, sizeof(magic) - 1) != 0)
        return false;
    reader->version = magic[sizeof(magic) - 1];
    if (reader->version > (uint8_t)REC_PATH_MAGIC[sizeof(magic) - 1]) {
        *why = "it is of a newer version than this program knows";
        return false;
    }
    if (reader->version < REC_PATH_OLDEST || !get_number(reader, &family) ||
        !get_number(reader, &flags) || !get_number(reader, &header->pid))
        return false;
    *why = "it is of instructions that are not known here";
    header->family = reader->family = (uint8_t)family;
    header->system = flags & REC_PATH_SYSTEM;
    header->data = flags & REC_PATH_DATA;
    header->traps = flags & REC_PATH_TRAPS;
    header->version = reader->version;
    if (flags > (reader->version == 1 ? REC_PATH_SYSTEM | REC_PATH_DATA
                                      : REC_PATH_SYSTEM | REC_PATH_DATA | REC_PATH_TRAPS)) {
        *why = "it is of a newer kind than this program knows";
        return false;
    }
    return family >= REC_FAMILY_A64 && family <= REC_FAMILY_RV64;
}

/* ---- blocks ---- */

unsigned rec_path_insn_size(uint8_t isa, const uint8_t *bytes)
{
    unsigned half = bytes[0] | (unsigned)bytes[1] << 8;
    switch (isa) {
    case REC_PATH_T32: return half >= 0xe800 ? 4 : 2;
    case REC_PATH_RISCV:
        if ((half & 3) != 3)
            return 2;
        return (half & 0x1c) != 0x1c ? 4 : (half & 0x3f) == 0x1f ? 6 : 8;
    default: return 4;
    }
}

bool rec_path_is_call(uint8_t isa, const uint8_t *bytes)
{
    uint32_t half = bytes[0] | (uint32_t)bytes[1] << 8;
    if (isa == REC_PATH_T32)
        return (half & 0xff00) == 0xdf00;
    if (isa == REC_PATH_RISCV && (half & 3) != 3)
        return false;
    uint32_t word = half | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    switch ((enum rec_path_isa)isa) {
    case REC_PATH_A64: return (word & 0xffe0001c) == 0xd4000000 && (word & 3) != 0;
    case REC_PATH_A32: return (word & 0x0f000000) == 0x0f000000 && word >> 28 != 0xf;
    default: return word == 0x73;
    }
}

/** Count its instructions; false: they do not fill it. */
static bool count_insns(struct rec_path_block *block)
{
    uint32_t at = 0;
    for (block->count = 0; at + 2 <= block->size; block->count++)
        at += rec_path_insn_size(block->isa, block->bytes + at);
    return at == block->size;
}

/** Returns whether processors of the path's family run this instruction set. */
static bool is_of_family(const struct rec_path_reader *reader, uint64_t isa)
{
    switch ((enum rec_path_family)reader->family) {
    case REC_FAMILY_A64: return isa == REC_PATH_A64;
    case REC_FAMILY_ARM: return isa == REC_PATH_A32 || isa == REC_PATH_T32;
    default: return isa == REC_PATH_RISCV;
    }
}

static bool read_block(struct rec_path_reader *reader)
{
    uint64_t isa, address, size;
    if (!get_number(reader, &isa) || !get_number(reader, &address) || !get_number(reader, &size))
        return false;
    if (isa > REC_PATH_RISCV || size == 0 || size > REC_PATH_BLOCK_BYTES)
        return wrong(reader, "a block cannot be like that");
    if (!is_of_family(reader, isa))
        return wrong(reader, "a block has an instruction set that the path's processors have not");
    if (reader->block_count == reader->block_room) {
        uint32_t room = reader->block_room * 2 + 256;
        struct rec_path_block **grown =
            room <= BLOCKS_LIMIT ? realloc(reader->blocks, room * sizeof(*grown)) : NULL;
        if (!grown)
            return wrong(reader, "there are too many blocks");
        reader->blocks = grown;
        reader->block_room = room;
    }
    struct rec_path_block *block = malloc(sizeof(*block) + size);
    if (!block)
        return wrong(reader, "there is no memory for its blocks");
    *block = (struct rec_path_block){.address = address,
                                     .id = reader->block_count,
                                     .size = (uint32_t)size,
                                     .isa = (uint8_t)isa,
                                     .bytes = (const uint8_t *)(block + 1)};
    reader->blocks[reader->block_count++] = block;
    if (!get_bytes(reader, block + 1, (size_t)size))
        return false;
    return count_insns(block) || wrong(reader, "a block ends inside an instruction");
}

/** Make room to remember which block follows this one. */
static bool reserve_follower(struct rec_path_reader *reader, struct cpu *cpu, uint32_t id)
{
    if (id < cpu->followers)
        return true;
    uint32_t count = reader->block_count + reader->block_count / 2 + 64;
    uint32_t *grown = NULL;
    if (reader->followers + (count - cpu->followers) <= FOLLOWER_LIMIT)
        grown = realloc(cpu->follower, count * sizeof(*grown));
    if (!grown)
        return wrong(reader, "it needs too much memory");
    memset(grown + cpu->followers, 0, (count - cpu->followers) * sizeof(*grown));
    reader->followers += count - cpu->followers;
    cpu->follower = grown;
    cpu->followers = count;
    return true;
}

/* ---- events ---- */

static struct rec_path_item *push(struct rec_path_reader *reader, enum rec_path_kind kind,
                                  unsigned cpu)
{
    struct rec_path_item *item = &reader->queue[reader->queued++];
    *item = (struct rec_path_item){.kind = kind, .cpu = cpu};
    return item;
}

/** Give the block that waits, if one does. */
static void give(struct rec_path_reader *reader, unsigned index, uint32_t most)
{
    struct cpu *cpu = &reader->cpus[index];
    if (!cpu->waiting)
        return;
    cpu->waiting = false;
    struct rec_path_item *item = push(reader, REC_PATH_RAN, index);
    item->block = reader->blocks[cpu->at - 1];
    item->count = item->block->count < most ? item->block->count : most;
    if (cpu->given)
        return;
    /* What an instruction accessed that did not retire is of no interest. */
    while (cpu->access_count > 0 && cpu->accesses[cpu->access_count - 1].insn >= item->count)
        cpu->access_count--;
    item->accesses = cpu->accesses;
    item->access_count = cpu->access_count;
    cpu->given = true;
}

static void run_block(struct rec_path_reader *reader, uint32_t id)
{
    struct cpu *cpu = &reader->cpus[reader->cpu];
    give(reader, reader->cpu, UINT32_MAX);
    cpu->at = id + 1;
    cpu->waiting = true;
}

static bool run_hit(struct rec_path_reader *reader)
{
    struct cpu *cpu = &reader->cpus[reader->cpu];
    uint32_t next = cpu->at && cpu->at <= cpu->followers ? cpu->follower[cpu->at - 1] : 0;
    reader->hits--;
    if (next == 0)
        return wrong(reader, "it says 'as the last time' where there was none");
    run_block(reader, next - 1);
    return true;
}

static bool get_event_number(struct rec_path_reader *reader, uint64_t *value)
{
    uint8_t byte = 0x80;
    *value = 0;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        if (reader->left == 0 || shift > 63)
            return wrong(reader, "events do not fit their chunk");
        if (!get_byte(reader, &byte))
            return wrong(reader, "the file ends in the middle of something");
        reader->left--;
        *value |= (uint64_t)(byte & 0x7f) << shift;
    }
    return true;
}

/** A block given by its number, because it did not follow the one before the last time. */
static bool named_block(struct rec_path_reader *reader, uint64_t id)
{
    struct cpu *cpu = &reader->cpus[reader->cpu];
    if (id >= reader->block_count)
        return wrong(reader, "a block runs that was not described");
    if (cpu->at) {
        if (!reserve_follower(reader, cpu, cpu->at - 1))
            return false;
        cpu->follower[cpu->at - 1] = (uint32_t)id + 1;
    }
    run_block(reader, (uint32_t)id);
    return true;
}

static bool cut_block(struct rec_path_reader *reader, uint64_t count)
{
    struct cpu *cpu = &reader->cpus[reader->cpu];
    if (!cpu->waiting)
        return wrong(reader, "it cuts a block where none ran");
    if (count >= reader->blocks[cpu->at - 1]->count)
        return wrong(reader, "a block is cut behind its end");
    give(reader, reader->cpu, (uint32_t)count);
    return true;
}

static bool reserve_access(struct rec_path_reader *reader, struct cpu *cpu)
{
    if (cpu->given)
        cpu->access_count = 0;
    cpu->given = false;
    if (cpu->access_count < cpu->access_room)
        return true;
    uint32_t room = cpu->access_room * 2 + 64;
    struct rec_path_access *grown =
        room <= 2 * REC_PATH_ACCESSES ? realloc(cpu->accesses, room * sizeof(*grown)) : NULL;
    if (!grown)
        return wrong(reader, "a block accesses memory too often");
    cpu->accesses = grown;
    cpu->access_room = room;
    return true;
}

/** The block that waits accessed memory. */
static bool access_event(struct rec_path_reader *reader, uint64_t what)
{
    struct cpu *cpu = &reader->cpus[reader->cpu];
    uint64_t insn = what >> REC_ACCESS_INSN, difference, value = 0;
    if (!cpu->waiting || insn >= reader->blocks[cpu->at - 1]->count)
        return wrong(reader, "memory is accessed by no instruction");
    if (!get_event_number(reader, &difference) ||
        (what & REC_ACCESS_KNOWN && !get_event_number(reader, &value)) ||
        !reserve_access(reader, cpu))
        return false;
    if (cpu->access_count > 0 && cpu->accesses[cpu->access_count - 1].insn > insn)
        return wrong(reader, "accesses are not in the order of their instructions");
    reader->accessed += rec_path_unfold(difference);
    cpu->accesses[cpu->access_count++] = (struct rec_path_access){.address = reader->accessed,
                                                                  .value = value,
                                                                  .insn = (uint32_t)insn,
                                                                  .size = what & REC_ACCESS_SIZE,
                                                                  .store = what & REC_ACCESS_STORE,
                                                                  .known = what & REC_ACCESS_KNOWN};
    return true;
}

/** Take the operand of a trap apart. */
static void read_trap(struct rec_path_item *item, uint64_t operand)
{
    const uint64_t number = operand >> REC_TRAP_NUMBER;
    item->value = operand & REC_TRAP_KIND;
    item->numbered = number > 0;
    item->number = number > 0 ? (uint32_t)(number - 1) : 0;
}

static bool is_trap(uint64_t operand)
{
    return (operand & REC_TRAP_KIND) < REC_TRAP_KINDS &&
           operand >> REC_TRAP_NUMBER <= (uint64_t)UINT32_MAX + 1;
}

/** An event that is no block; what waits ran before it. */
static bool other_event(struct rec_path_reader *reader, enum rec_path_event event, uint64_t operand)
{
    static const enum rec_path_kind kinds[] = {
        [REC_EVENT_SYSCALL] = REC_PATH_ASKED,
        [REC_EVENT_TRAP] = REC_PATH_TRAPPED,
        [REC_EVENT_CONTEXT] = REC_PATH_IN_CONTEXT,
        [REC_EVENT_PRIVILEGE] = REC_PATH_IN_PRIVILEGE,
        [REC_EVENT_TIME] = REC_PATH_AT,
        [REC_EVENT_GAP] = REC_PATH_LEFT_OUT,
    };
    uint64_t place = 0;
    if (event == REC_EVENT_TRAP && !is_trap(operand))
        return wrong(reader, "an exception is of no known kind");
    if (event == REC_EVENT_TRAP && !get_event_number(reader, &place))
        return false;
    if (event == REC_EVENT_TIME)
        operand = reader->time += operand;
    give(reader, reader->cpu, UINT32_MAX);
    struct rec_path_item *item = push(reader, kinds[event], reader->cpu);
    item->value = operand;
    if (event == REC_EVENT_TRAP)
        read_trap(item, operand);
    item->known = place > 0;
    item->address = place > 0 ? place - 1 : 0;
    return true;
}

/**
 * Begins a repeat of `count` blocks, unless a file of so few bytes is not expected to run so many:
 * a few bytes could keep the caller busy for ever.
 */
static bool begin_repeat(struct rec_path_reader *reader, uint64_t count)
{
    const uint64_t read = rec_path_reader_at(reader), wanted = reader->repeated + count;
    if (count > MOST_REPEATS)
        return wrong(reader, "it is damaged: a repeat count is over 2^40");
    if (wanted > FIRST_REPEATS && (wanted - FIRST_REPEATS - 1) / read >= reader->expansion) {
        const uint64_t needed = (wanted - FIRST_REPEATS - 1) / read + 1;
        int length = snprintf(reader->why, sizeof(reader->why),
                              "at byte %" PRIu64 " it repeats %" PRIu64
                              " blocks, more than %" PRIu32 " for each byte of it; what follows "
                              "is left out (--expansion ",
                              read, count, reader->expansion);
        snprintf(reader->why + length, sizeof(reader->why) - (size_t)length,
                 needed <= UINT32_MAX ? "%" PRIu64 " permits it)" : "cannot permit so many)",
                 needed);
        return wrong(reader, reader->why);
    }
    reader->repeated = wanted;
    reader->hits = count;
    return true;
}

static bool read_event(struct rec_path_reader *reader)
{
    uint64_t number;
    if (!get_event_number(reader, &number))
        return false;
    if (!(number & 1))
        return begin_repeat(reader, number >> 1);
    enum rec_path_event event = number >> 1 & 7;
    if (event == REC_EVENT_BLOCK)
        return named_block(reader, number >> 4);
    if (event == REC_EVENT_CUT)
        return cut_block(reader, number >> 4);
    if (event == REC_EVENT_GAP && number >> 4 > 0)
        return access_event(reader, (number >> 4) - 1);
    return other_event(reader, event, number >> 4);
}

/* ---- records ---- */

static bool get_cpu(struct rec_path_reader *reader, unsigned *cpu)
{
    uint64_t value;
    if (!get_number(reader, &value))
        return false;
    *cpu = (unsigned)value;
    return value < REC_PATH_CPUS || wrong(reader, "it has too many processors");
}

static bool begin_events(struct rec_path_reader *reader)
{
    if (!get_cpu(reader, &reader->cpu) || !get_number(reader, &reader->time) ||
        !get_number(reader, &reader->left))
        return false;
    if (reader->left > REC_PATH_CHUNK_BYTES)
        return wrong(reader, "a chunk of events is too long");
    struct rec_path_item *item = push(reader, REC_PATH_AT, reader->cpu);
    item->value = reader->time;
    reader->accessed = 0;
    return true;
}

static bool read_task(struct rec_path_reader *reader)
{
    uint64_t time, pid, tid;
    unsigned cpu;
    if (!get_cpu(reader, &cpu) || !get_number(reader, &time) || !get_number(reader, &pid) ||
        !get_number(reader, &tid))
        return false;
    give(reader, cpu, UINT32_MAX);
    reader->cpus[cpu].at = 0;
    struct rec_path_item *item = push(reader, REC_PATH_NEW_TASK, cpu);
    item->pid = pid;
    item->value = tid;
    return true;
}

static bool read_text(struct rec_path_reader *reader)
{
    uint64_t size;
    if (!get_number(reader, &size))
        return false;
    if (size > REC_PATH_NAME_BYTES)
        return wrong(reader, "a file's name is too long");
    reader->text[size] = 0;
    return get_bytes(reader, reader->text, (size_t)size);
}

static bool read_map(struct rec_path_reader *reader)
{
    uint64_t time, start, size, offset;
    if (!get_number(reader, &time) || !get_number(reader, &start) || !get_number(reader, &size) ||
        !get_number(reader, &offset) || !read_text(reader))
        return false;
    struct rec_path_item *item = push(reader, REC_PATH_MAPPED, 0);
    item->address = start;
    item->size = size;
    item->offset = offset;
    item->text = reader->text;
    return true;
}

static bool read_name(struct rec_path_reader *reader, enum rec_path_kind kind)
{
    if (!read_text(reader))
        return false;
    push(reader, kind, 0)->text = reader->text;
    return true;
}

/** True: go on; false: this is the end, or something is wrong. */
static bool read_record(struct rec_path_reader *reader)
{
    uint8_t record;
    if (!get_byte(reader, &record))
        return false;
    switch (record) {
    case REC_PATH_BLOCK: return read_block(reader);
    case REC_PATH_EVENTS: return begin_events(reader);
    case REC_PATH_TASK: return read_task(reader);
    case REC_PATH_MAP: return read_map(reader);
    case REC_PATH_PROGRAM: return read_name(reader, REC_PATH_NAMED);
    case REC_PATH_CORE: return read_name(reader, REC_PATH_IS_CORE);
    case REC_PATH_END: return false;
    default: return wrong(reader, "a record is not known");
    }
}

static bool step(struct rec_path_reader *reader)
{
    if (reader->wrong)
        return false;
    if (reader->hits > 0)
        return run_hit(reader);
    return reader->left > 0 ? read_event(reader) : read_record(reader);
}

bool rec_path_reader_next(struct rec_path_reader *reader, struct rec_path_item *item)
{
    if (reader->taken == reader->queued)
        reader->taken = reader->queued = 0;
    while (reader->queued == 0 && step(reader))
        ;
    /* At the end: the last block of each processor. */
    while (reader->queued == 0 && reader->flushed < REC_PATH_CPUS)
        give(reader, reader->flushed++, UINT32_MAX);
    if (reader->queued > 0) {
        *item = reader->queue[reader->taken++];
        return true;
    }
    *item = (struct rec_path_item){.kind = reader->wrong ? REC_PATH_BAD : REC_PATH_ENDED,
                                   .text = reader->wrong};
    return false;
}
