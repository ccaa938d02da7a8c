// SPDX-License-Identifier: MIT
/** @file How often source lines and instructions ran. */
#include "base/bisect.h"
#include "export/export.h"

#include "pugmark/advanced/isa.h"
#include "pugmark/names.h"

#include <stdlib.h>
#include <string.h>

/* ---- instructions ---- */

/* A range raises the count of its instructions from its first one to its last.
 */
struct change {
    uint64_t at, up, down;
};

static int by_address(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    return a->at < b->at ? -1 : a->at > b->at;
}

void pug_export_steps_free(struct export_steps *steps)
{
    free(steps->at);
    free(steps->count);
}

enum pug_status pug_export_steps(const struct exporter *exporter, uint32_t object,
                                 struct export_steps *steps)
{
    size_t count, changed = 0;
    const struct pug_profile_range *ranges = pug_profile_ranges(exporter->profile, &count);
    struct change *changes = calloc(2 * count + 1, sizeof(*changes));
    *steps = (struct export_steps){.at = calloc(2 * count + 1, sizeof(uint64_t)),
                                   .count = calloc(2 * count + 1, sizeof(uint64_t))};
    if (!changes || !steps->at || !steps->count) {
        free(changes);
        return PUG_ERR_MEM;
    }
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].object != object || ranges[i].count == 0)
            continue;
        const uint64_t end = ranges[i].last + ranges[i].last_size;
        changes[changed++] = (struct change){ranges[i].first, ranges[i].count, 0};
        changes[changed++] = (struct change){end, 0, ranges[i].count};
    }
    qsort(changes, changed, sizeof(*changes), by_address);
    /* what is beyond 2^64 is kept beside, so that it can go down again */
    uint64_t low = 0, high = 0;
    for (size_t i = 0; i < changed; i++) {
        high += low + changes[i].up < low;
        low += changes[i].up;
        high -= low < changes[i].down;
        low -= changes[i].down;
        if (steps->steps == 0 || steps->at[steps->steps - 1] != changes[i].at)
            steps->at[steps->steps++] = changes[i].at;
        steps->count[steps->steps - 1] = high ? UINT64_MAX : low;
    }
    free(changes);
    return PUG_OK;
}

uint64_t pug_export_count_at(const struct export_steps *steps, uint64_t vaddr)
{
    const size_t low = pug_bisect_to(steps->at, steps->steps, sizeof(*steps->at), 0, vaddr);
    return low > 0 ? steps->count[low - 1] : 0;
}

/* ---- code ---- */

static uint8_t size_of(uint8_t isa, const uint8_t *bytes, uint64_t left)
{
    if (isa == PUG_ISA_A64 || isa == PUG_ISA_A32)
        return 4;
    if (left < 2)
        return 2;
    const unsigned half = bytes[0] | (unsigned)bytes[1] << 8;
    if (isa == PUG_ISA_T32)
        return half >= 0xe800 ? 4 : 2;
    return (half & 3) == 3 ? 4 : 2;
}

/* Also the number of instructions after it in its IT block. */
static bool classify(const struct export_instruction *instruction, uint8_t *it_count,
                     struct pug_insn *insn)
{
    static const struct pug_isa_config config = {.zcmp_zcmt = true, .track_it = true};
    *it_count = instruction->it_count;
    return pug_isa_classify(&config, (enum pug_isa)instruction->isa, instruction->vaddr,
                            instruction->bytes, instruction->size, it_count, insn) == PUG_OK;
}

bool pug_export_is_conditional(const struct export_instruction *instruction)
{
    uint8_t it_count;
    struct pug_insn insn;
    return classify(instruction, &it_count, &insn) && insn.conditional &&
           (insn.type == PUG_INSTR_BR || insn.type == PUG_INSTR_BR_INDIRECT);
}

bool pug_export_calls(const struct export_instruction *instruction)
{
    uint8_t it_count;
    struct pug_insn insn;
    return classify(instruction, &it_count, &insn) && insn.link &&
           (insn.type == PUG_INSTR_BR || insn.type == PUG_INSTR_BR_INDIRECT);
}

static uint8_t it_count_behind(const struct export_instruction *instruction)
{
    uint8_t it_count;
    struct pug_insn insn;
    return instruction->isa == PUG_ISA_T32 && classify(instruction, &it_count, &insn) ? it_count
                                                                                      : 0;
}

static uint64_t end_of_code(const void *context, uint64_t n)
{
    struct pug_names_file *const *file = context;
    struct pug_names_code code;
    return pug_names_code_at(*file, (size_t)n, &code) ? code.end : UINT64_MAX;
}

/* The code that an address lies in. */
static bool code_of(struct pug_names_file *file, uint64_t vaddr, struct pug_names_code *code)
{
    const uint64_t n = pug_bisect_value(0, UINT32_MAX, vaddr + 1, end_of_code, &file);
    return pug_names_code_at(file, (size_t)n, code) && code->start <= vaddr;
}

/* Are there so many instructions, from the first to the last one? */
static bool fits(const struct pug_profile_range *range, const struct pug_names_code *code)
{
    const uint64_t end = range->last + range->last_size;
    uint64_t at = range->first, count = 0;
    if (end <= at || end > code->end)
        return false;
    for (; at < end; count++)
        at += size_of(range->isa, code->bytes + (at - code->start), code->end - at);
    return at == end && count == range->instructions;
}

struct export_walk pug_export_walk(const struct exporter *exporter,
                                   const struct pug_profile_range *range)
{
    struct pug_names_file *file = pug_export_file(exporter, range->object);
    const uint64_t bytes = range->last - range->first + range->last_size;
    struct export_walk walk = {.at = range->first, .left = range->instructions, .isa = range->isa};
    struct pug_names_code code;
    if (range->instructions > 0)
        walk.mean = bytes / range->instructions;
    if (!file || !code_of(file, range->first, &code) || !fits(range, &code))
        return walk;
    walk.bytes = code.bytes + (range->first - code.start);
    walk.end = code.end;
    return walk;
}

uint32_t pug_export_walk_to(struct export_walk *walk, uint64_t vaddr)
{
    const uint32_t before = walk->left;
    if (!walk->bytes) {
        const uint64_t far = vaddr > walk->at ? vaddr - walk->at : 0;
        const uint64_t passed = walk->mean > 0 ? far / walk->mean + (far % walk->mean > 0) : before;
        walk->left -= passed < before ? (uint32_t)passed : before;
        walk->at += (before - walk->left) * walk->mean;
        return before - walk->left;
    }
    while (walk->left > 0 && walk->at < vaddr) {
        const uint8_t size = size_of(walk->isa, walk->bytes, walk->end - walk->at);
        walk->at += size;
        walk->bytes += size;
        walk->left--;
    }
    return before - walk->left;
}

static bool go_through(const struct export_steps *steps, struct pug_names_file *file,
                       const struct pug_names_code *code,
                       bool (*take)(void *, const struct export_instruction *), void *context)
{
    struct pug_names_line line = {0};
    uint8_t it_count = 0;
    for (uint64_t at = code->start; at < code->end;) {
        const uint8_t *bytes = code->bytes + (at - code->start);
        struct export_instruction instruction = {
            .vaddr = at, .bytes = bytes, .isa = code->isa, .it_count = it_count, .plt = code->plt};
        instruction.size = size_of(code->isa, bytes, code->end - at);
        if (instruction.size > code->end - at)
            return true;
        const bool same = line.path && at >= line.start && at < line.end;
        if (same || pug_names_line(file, at, &line)) {
            instruction.path = line.path;
            instruction.line = line.line;
            instruction.discriminator = line.discriminator;
        }
        instruction.count = pug_export_count_at(steps, at);
        if (!take(context, &instruction))
            return false;
        at += instruction.size;
        it_count = it_count_behind(&instruction);
    }
    return true;
}

enum pug_status pug_export_instructions(const struct exporter *exporter, uint32_t object,
                                        bool (*take)(void *context,
                                                     const struct export_instruction *instruction),
                                        void *context)
{
    struct pug_names_file *file = pug_export_file(exporter, object);
    struct export_steps steps;
    struct pug_names_code code;
    if (!file || !pug_names_code_at(file, 0, &code))
        return PUG_ERR_NOT_FOUND;
    enum pug_status status = pug_export_steps(exporter, object, &steps);
    for (size_t n = 0; status == PUG_OK && pug_names_code_at(file, n, &code); n++)
        if (!go_through(&steps, file, &code, take, context))
            break;
    pug_export_steps_free(&steps);
    return status;
}

/* ---- lines ---- */

struct collecting {
    struct export_lines *lines;
    uint32_t object;
    bool any, failed;
};

/* Instructions of a line are joined later; neighbours at once. */
static bool take_line(void *context, const struct export_instruction *instruction)
{
    struct collecting *collecting = context;
    struct export_lines *lines = collecting->lines;
    if (!instruction->path || instruction->line == 0)
        return true;
    collecting->any = true;
    struct export_line *last = lines->count > 0 ? &lines->items[lines->count - 1] : NULL;
    if (last && last->object == collecting->object && last->path == instruction->path &&
        last->line == instruction->line) {
        last->sum = pug_profile_sum(last->sum, instruction->count);
        if (instruction->count > last->highest)
            last->highest = instruction->count;
        return true;
    }
    if (lines->count == lines->room) {
        const size_t room = lines->room ? lines->room * 2 : 256;
        void *items = realloc(lines->items, room * sizeof(*lines->items));
        collecting->failed = !items;
        if (!items)
            return false;
        lines->items = items;
        lines->room = room;
    }
    lines->items[lines->count++] =
        (struct export_line){collecting->object, instruction->path, instruction->line,
                             instruction->count, instruction->count};
    return true;
}

static int by_line(const void *left, const void *right)
{
    const struct export_line *a = left, *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    const int path = a->path == b->path ? 0 : strcmp(a->path, b->path);
    if (path != 0)
        return path;
    return a->line < b->line ? -1 : a->line > b->line;
}

static void join_lines(struct export_lines *lines)
{
    size_t kept = 0;
    if (lines->count > 0)
        qsort(lines->items, lines->count, sizeof(*lines->items), by_line);
    for (size_t i = 0; i < lines->count; i++) {
        const struct export_line *line = &lines->items[i];
        struct export_line *last = kept > 0 ? &lines->items[kept - 1] : NULL;
        if (!last || by_line(last, line) != 0) {
            lines->items[kept++] = *line;
            continue;
        }
        last->sum = pug_profile_sum(last->sum, line->sum);
        if (line->highest > last->highest)
            last->highest = line->highest;
    }
    lines->count = kept;
}

enum pug_status pug_export_lines(const struct exporter *exporter, struct export_lines *lines)
{
    *lines = (struct export_lines){0};
    for (size_t i = 0; i < exporter->object_count; i++) {
        struct collecting collecting = {.lines = lines, .object = exporter->objects[i]};
        enum pug_status status =
            pug_export_instructions(exporter, exporter->objects[i], take_line, &collecting);
        if (collecting.failed || (status != PUG_OK && status != PUG_ERR_NOT_FOUND))
            return collecting.failed ? PUG_ERR_MEM : status;
        lines->missing += !collecting.any;
    }
    join_lines(lines);
    return PUG_OK;
}
