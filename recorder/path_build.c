// SPDX-License-Identifier: MIT
#include "recorder/path_build.h"

#include "pugmark/advanced/isa.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 1024u
#define BUCKETS     65536u

struct entry {
    struct entry *next;
    struct rec_path_block block;
    uint8_t bytes[];
};

/** The block underway on a processor. */
struct draft {
    uint64_t address;
    uint32_t size, count;
    uint8_t isa;
    uint8_t bytes[BLOCK_BYTES];
    struct rec_path_access *accesses;
    uint32_t settled, access_count, access_room; /* settled: of instructions in the block */
};

struct rec_path_builder {
    uint8_t family;
    rec_path_take_fn *take;
    void *context;
    struct entry *buckets[BUCKETS];
    uint32_t blocks;
    struct draft *drafts[REC_PATH_CPUS];
};

struct rec_path_builder *rec_path_builder_new(uint8_t family, rec_path_take_fn *take, void *context)
{
    struct rec_path_builder *builder = calloc(1, sizeof(*builder));
    if (!builder)
        return NULL;
    builder->family = family;
    builder->take = take;
    builder->context = context;
    return builder;
}

void rec_path_builder_free(struct rec_path_builder *builder)
{
    if (!builder)
        return;
    for (unsigned i = 0; i < BUCKETS; i++) {
        while (builder->buckets[i]) {
            struct entry *entry = builder->buckets[i];
            builder->buckets[i] = entry->next;
            free(entry);
        }
    }
    for (unsigned i = 0; i < REC_PATH_CPUS; i++) {
        if (builder->drafts[i])
            free(builder->drafts[i]->accesses);
        free(builder->drafts[i]);
    }
    free(builder);
}

/** The block that the draft is; NULL: no memory. */
static const struct rec_path_block *find(struct rec_path_builder *builder,
                                         const struct draft *draft)
{
    uint64_t hash = (draft->address * 31 + draft->size) * UINT64_C(0x9E3779B97F4A7C15);
    struct entry **bucket = &builder->buckets[hash >> 48];
    for (struct entry *entry = *bucket; entry; entry = entry->next)
        if (entry->block.address == draft->address && entry->block.size == draft->size &&
            entry->block.isa == draft->isa && memcmp(entry->bytes, draft->bytes, draft->size) == 0)
            return &entry->block;
    struct entry *entry = malloc(sizeof(*entry) + draft->size);
    if (!entry)
        return NULL;
    memcpy(entry->bytes, draft->bytes, draft->size);
    entry->next = *bucket;
    entry->block = (struct rec_path_block){.address = draft->address,
                                           .id = builder->blocks++,
                                           .size = draft->size,
                                           .count = draft->count,
                                           .isa = draft->isa,
                                           .bytes = entry->bytes};
    *bucket = entry;
    return &entry->block;
}

static bool flush(struct rec_path_builder *builder, unsigned cpu)
{
    struct draft *draft = cpu < REC_PATH_CPUS ? builder->drafts[cpu] : NULL;
    if (!draft || draft->count == 0)
        return true;
    const struct rec_path_block *block = find(builder, draft);
    const struct rec_path_item item = {.kind = REC_PATH_RAN,
                                       .cpu = cpu,
                                       .block = block,
                                       .count = draft->count,
                                       .accesses = draft->accesses,
                                       .access_count = draft->settled};
    draft->count = draft->size = 0;
    bool more = block && builder->take(builder->context, &item);
    draft->access_count -= draft->settled;
    if (draft->access_count > 0)
        memmove(draft->accesses, draft->accesses + draft->settled,
                draft->access_count * sizeof(*draft->accesses));
    draft->settled = 0;
    return more;
}

static struct draft *draft_at(struct rec_path_builder *builder, unsigned cpu)
{
    if (cpu >= REC_PATH_CPUS)
        return NULL;
    if (!builder->drafts[cpu])
        builder->drafts[cpu] = calloc(1, sizeof(struct draft));
    return builder->drafts[cpu];
}

/** Does a block end with this instruction? */
static bool ends_block(const struct rec_path_builder *builder, uint64_t address,
                       enum rec_path_isa isa, const uint8_t *bytes, unsigned size)
{
    static const enum pug_isa isas[] = {[REC_PATH_A64] = PUG_ISA_A64,
                                        [REC_PATH_A32] = PUG_ISA_A32,
                                        [REC_PATH_T32] = PUG_ISA_T32,
                                        [REC_PATH_RISCV] = PUG_ISA_RV64};
    const struct pug_isa_config config = {0};
    struct pug_insn insn = {.type = PUG_INSTR_OTHER};
    uint8_t it = 0;
    enum pug_isa which = builder->family == REC_FAMILY_RV32 ? PUG_ISA_RV32 : isas[isa];
    return pug_isa_classify(&config, which, address, bytes, size, &it, &insn) != PUG_OK ||
           insn.type != PUG_INSTR_OTHER;
}

bool rec_path_builder_access(struct rec_path_builder *builder, unsigned cpu,
                             const struct rec_path_access *access)
{
    struct draft *draft = draft_at(builder, cpu);
    if (!draft)
        return false;
    if (draft->access_count == draft->access_room) {
        uint32_t room = draft->access_room * 2 + 16;
        struct rec_path_access *grown = realloc(draft->accesses, room * sizeof(*grown));
        if (!grown)
            return false;
        draft->accesses = grown;
        draft->access_room = room;
    }
    draft->accesses[draft->access_count++] = *access;
    return true;
}

bool rec_path_builder_insn(struct rec_path_builder *builder, unsigned cpu, uint64_t address,
                           enum rec_path_isa isa, const uint8_t *bytes, unsigned size)
{
    struct draft *draft = draft_at(builder, cpu);
    if (!draft)
        return false;
    bool follows = address == draft->address + draft->size && isa == draft->isa &&
                   draft->size + size <= BLOCK_BYTES;
    if (!follows && !flush(builder, cpu))
        return false;
    if (draft->count == 0) {
        draft->address = address;
        draft->isa = (uint8_t)isa;
    }
    memcpy(draft->bytes + draft->size, bytes, size);
    draft->size += size;
    while (draft->settled < draft->access_count)
        draft->accesses[draft->settled++].insn = draft->count;
    draft->count++;
    return !ends_block(builder, address, isa, bytes, size) || flush(builder, cpu);
}

bool rec_path_builder_event(struct rec_path_builder *builder, const struct rec_path_item *item)
{
    return flush(builder, item->cpu) && builder->take(builder->context, item);
}

bool rec_path_builder_end(struct rec_path_builder *builder)
{
    for (unsigned i = 0; i < REC_PATH_CPUS; i++)
        if (!flush(builder, i))
            return false;
    return true;
}
