// SPDX-License-Identifier: MIT
/**
 * @file simpleperf's branch lists: trace that was turned into rows of branches on the device, with
 * how often each row was seen (feature 133). Nothing but them is left of the trace.
 */
#include "perfdata/perfdata.h"
#include "perfdata/program.h"
#include "perfdata/protobuf.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "simpleperf:EtmBranchList"

enum { BINARY_FILE, BINARY_KERNEL, BINARY_MODULE };
enum { MODE_KERNEL = 1, MODE_USER = 2 };

/* Where modules are placed that no map places: their rows count from their text on. */
#define MODULE_PLACE UINT64_C(0x100000000)

/** The part of the list that belongs to one program. */
struct binary {
    struct pug_bytes path, id;
    uint64_t type, kernel_start;
};

static struct binary read_binary(struct pug_bytes message)
{
    struct binary binary = {.type = BINARY_FILE};
    struct pug_field field;
    while (pug_field_take(&message, &field)) {
        switch (field.number) {
        case 1: binary.path = field.body; break;
        case 2: binary.id = field.body; break;
        case 4: binary.type = field.value; break;
        case 5: binary.kernel_start = pug_field_first(field.body); break;
        default: break;
        }
    }
    return binary;
}

/** Digits to a build id; its size. */
static size_t read_id(const struct pug_bytes *digits, uint8_t id[20])
{
    const size_t count = pug_bytes_left(digits) / 2;
    size_t size = 0;
    for (; size < count && size < 20; size++) {
        char pair[3] = {(char)digits->at[2 * size], (char)digits->at[2 * size + 1], 0}, *end;
        id[size] = (uint8_t)strtoul(pair, &end, 16);
        if (*end)
            return 0;
    }
    return size;
}

static uint32_t add_object(struct pug_perf *perf, const struct binary *binary)
{
    uint8_t id[20];
    const size_t id_size = read_id(&binary->id, id), length = pug_bytes_left(&binary->path);
    const uint32_t object =
        length == 0 ? PUG_NO_OBJECT
                    : pug_perf_object(perf, (const char *)binary->path.at, length, id, id_size,
                                      binary->type == BINARY_FILE ? MODE_USER : MODE_KERNEL, 0);
    if (object == PUG_NO_OBJECT)
        return object;
    struct pug_perf_object *details = &pug_perf_details(perf)[object];
    if (binary->type != BINARY_FILE)
        details->first_address =
            binary->type == BINARY_KERNEL ? binary->kernel_start : MODULE_PLACE;
    return object;
}

/** One row: the bits, how many, how often. */
static bool take_branch(struct pug_perf *perf, const struct pug_perf_row *like,
                        struct pug_bytes message)
{
    struct pug_perf_row row = *like;
    struct pug_bytes bits = {0};
    struct pug_field field;
    while (pug_field_take(&message, &field)) {
        if (field.number == 1)
            bits = field.body;
        else if (field.number == 2)
            row.branches = field.value > UINT32_MAX ? UINT32_MAX : (uint32_t)field.value;
        else if (field.number == 3)
            row.count = field.value;
    }
    row.taken = bits.at;
    if (message.bad || row.count == 0 || row.branches == 0 ||
        (row.branches - 1) / 8 >= pug_bytes_left(&bits))
        return !message.bad;
    struct pug_perf_row *kept = pug_capture_add(perf->capture, &perf->branches, sizeof(*kept));
    if (kept)
        *kept = row;
    return kept != NULL;
}

static bool take_address(struct pug_perf *perf, struct pug_perf_row row, struct pug_bytes message)
{
    struct pug_bytes again = message;
    struct pug_field field;
    bool good = true;
    while (pug_field_take(&again, &field))
        if (field.number == 1)
            row.vaddr = field.value;
    while (good && pug_field_take(&message, &field))
        if (field.number == 2)
            good = take_branch(perf, &row, field.body);
    return good && !message.bad;
}

static bool take_binary(struct pug_perf *perf, struct pug_bytes message)
{
    const struct binary binary = read_binary(message);
    struct pug_perf_row row = {.object = add_object(perf, &binary),
                               .in_memory = binary.type == BINARY_KERNEL && binary.kernel_start};
    struct pug_field field;
    bool good = row.object != PUG_NO_OBJECT;
    while (good && pug_field_take(&message, &field))
        if (field.number == 3)
            good = take_address(perf, row, field.body);
    return good && !message.bad;
}

void pug_perf_take_branch_list(struct pug_perf *perf, const uint8_t *content, size_t size)
{
    struct pug_field field;
    unsigned programs = 0;
    bool good = true, known = false;
    /* Rows point into a copy. */
    uint8_t *copy = malloc(size + 1);
    char **place =
        copy ? pug_capture_add(perf->capture, &perf->capture->texts, sizeof(*place)) : NULL;
    if (!place) {
        pug_capture_starve(perf->capture);
        free(copy);
        return;
    }
    memcpy(copy, content, size);
    *place = (char *)copy;
    struct pug_bytes list = pug_bytes_of(copy, size);
    while (good && pug_field_take(&list, &field)) {
        if (field.number == 1)
            known = pug_bytes_left(&field.body) == strlen(MAGIC) &&
                    memcmp(field.body.at, MAGIC, strlen(MAGIC)) == 0;
        if (field.number != 2)
            continue;
        good = known && take_binary(perf, field.body);
        programs++;
    }
    if (!good || list.bad || !known)
        pug_perf_damage_feature(perf, 133,
                                "its branch lists are damaged, or of another kind; what was read "
                                "before is used");
    pug_capture_add_fact(perf->capture, "branch lists",
                         "%zu rows of %u programs, in place of trace", perf->branches.count,
                         programs);
}

/* ---- asking ---- */

bool pug_perf_row(struct pug_capture *capture, size_t n, struct pug_capture_row *out)
{
    const struct pug_perf *perf = capture->own;
    if (n >= perf->branches.count)
        return false;
    const struct pug_perf_row *row = (const struct pug_perf_row *)perf->branches.items + n;
    (void)pug_capture_object_at(capture, row->object); /* now it is looked for */
    const struct pug_perf_object *details = &pug_perf_details(perf)[row->object];
    const struct pug_perf_program *program = details->program;
    *out = (struct pug_capture_row){.object = row->object,
                                    .vaddr = row->vaddr,
                                    .isa = PUG_ISA_A64,
                                    .taken = row->taken,
                                    .branches = row->branches,
                                    .count = row->count};
    if (row->in_memory && program)
        out->vaddr -= program->slide;
    if (program && program->machine == PUG_PERF_EM_ARM) {
        out->isa = row->vaddr & 1 ? PUG_ISA_T32 : PUG_ISA_A32;
        out->vaddr &= ~UINT64_C(1);
    }
    return true;
}

size_t pug_perf_read_object(struct pug_capture *capture, uint32_t object, uint64_t vaddr,
                            uint8_t *bytes, size_t size)
{
    const struct pug_perf_object *details = &pug_perf_details(capture->own)[object];
    const struct pug_perf_program *program = details->program;
    const uint8_t *at = NULL;
    uint64_t left = 0;
    for (size_t i = 0; program && i < program->placed_count && !at; i++)
        if (vaddr - program->placed[i].vaddr < program->placed[i].size)
            at = pug_perf_program_placed(
                program, program->placed[i].address + (vaddr - program->placed[i].vaddr), &left);
    if (program && program->placed_count == 0)
        at = pug_perf_program_at_vaddr(program, vaddr, &left);
    if (!at)
        return 0;
    if (size > left)
        size = (size_t)left;
    memcpy(bytes, at, size);
    return size;
}
