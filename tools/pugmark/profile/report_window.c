// SPDX-License-Identifier: MIT
#include "report_window.h"

#include "base/text.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/disasm.h"
#include "pugmark/walk.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MOST 400u /* bytes of a function's name */

struct report_windows {
    struct pug_capture *capture;
    struct pug_names *names;
    struct pug_disasm *disasm;
    const struct pug_address_space *space; /* of `walk` */
    struct pug_walk *walk;
    struct pug_names_file **files; /* by object */
    bool *opened;                  /* by object */
    uint32_t file_room;
};

/* ---- rings ---- */

void report_ring_add(struct report_ring *ring, const struct trace_item *item)
{
    struct report_range *to = &ring->items[ring->next];
    to->element = item->element;
    to->space = item->where->space;
    to->place = item->place ? *item->place : (struct trace_place){.object = PUG_NO_OBJECT};
    ring->next = (ring->next + 1) % REPORT_WINDOW;
    ring->count += ring->count < REPORT_WINDOW;
}

uint32_t report_ring_copy(const struct report_ring *ring, struct report_range *out)
{
    const uint32_t first = (ring->next + REPORT_WINDOW - ring->count) % REPORT_WINDOW;
    for (uint32_t i = 0; i < ring->count; i++)
        out[i] = ring->items[(first + i) % REPORT_WINDOW];
    return ring->count;
}

const struct report_range *report_ring_last(const struct report_ring *ring)
{
    return ring->count ? &ring->items[(ring->next + REPORT_WINDOW - 1) % REPORT_WINDOW] : NULL;
}

/* ---- names and memory ---- */

struct report_windows *report_windows_new(struct pug_capture *capture, struct pug_names *names)
{
    struct report_windows *windows = calloc(1, sizeof(*windows));
    if (!windows)
        return NULL;
    windows->capture = capture;
    windows->names = names;
    if (pug_disasm_new(NULL, &windows->disasm) == PUG_OK)
        return windows;
    free(windows);
    return NULL;
}

void report_windows_free(struct report_windows *windows)
{
    if (!windows)
        return;
    pug_disasm_free(windows->disasm);
    pug_walk_free(windows->walk);
    free(windows->files);
    free(windows->opened);
    free(windows);
}

static struct pug_names_file *file_of(struct report_windows *windows, uint32_t object)
{
    if (object >= windows->file_room) {
        const uint32_t room = object + object / 2 + 16;
        struct pug_names_file **files =
            realloc(windows->files, room * sizeof(struct pug_names_file *));
        windows->files = files ? files : windows->files;
        bool *opened = files ? realloc(windows->opened, room * sizeof(*opened)) : NULL;
        if (!opened)
            return NULL;
        windows->opened = opened;
        for (uint32_t i = windows->file_room; i < room; i++) {
            files[i] = NULL;
            opened[i] = false;
        }
        windows->file_room = room;
    }
    if (!windows->opened[object]) {
        windows->opened[object] = true;
        (void)pug_capture_names(windows->capture, object, windows->names, &windows->files[object]);
    }
    return windows->files[object];
}

struct pug_names_file *report_windows_file(struct report_windows *windows,
                                           const struct report_range *range, uint64_t address,
                                           uint64_t *vaddr)
{
    const struct trace_place *place = &range->place;
    *vaddr = address + place->to_vaddr;
    if (place->object == PUG_NO_OBJECT || address < place->first || address > place->last)
        return NULL;
    return file_of(windows, place->object);
}

static bool walk_in(struct report_windows *windows, const struct pug_address_space *space)
{
    const struct pug_image *image = space ? pug_address_space_image(space) : NULL;
    if (!image)
        return false;
    if (windows->walk && windows->space == space)
        return true;
    pug_walk_free(windows->walk);
    windows->walk = NULL;
    windows->space = space;
    return pug_walk_new(&(struct pug_walk_config){.image = image}, &windows->walk) == PUG_OK;
}

/* ---- writing ---- */

static const char *outcome_of(const struct pug_step *step)
{
    if (!step->last)
        return "";
    if (step->insn.type == PUG_INSTR_BR || step->insn.type == PUG_INSTR_BR_INDIRECT)
        return step->executed ? "taken" : "not taken";
    return step->executed ? "" : "not executed";
}

static void put_place(struct report_windows *windows, struct pug_json *json,
                      const struct report_range *range, uint64_t address)
{
    struct pug_names_function function = {.name = NULL};
    struct pug_names_line line = {.path = NULL};
    uint64_t vaddr;
    struct pug_names_file *file = report_windows_file(windows, range, address, &vaddr);
    const bool named = file && pug_names_function(file, vaddr, &function);
    const bool placed = file && pug_names_line(file, vaddr, &line) && line.line > 0;
    const char *name = named ? pug_names_readable(windows->names, function.name) : "";
    pug_json_string_n(json, NULL, name, strnlen(name, NAME_MOST));
    pug_json_number(json, NULL, named ? vaddr - function.start : 0);
    pug_json_string(json, NULL, placed ? line.path : "");
    pug_json_number(json, NULL, placed ? line.line : 0);
}

static void put_step(struct report_windows *windows, struct pug_json *json,
                     const struct report_range *range, const struct pug_step *step)
{
    char words[PUG_DISASM_TEXT], address[24];
    struct pug_text text = PUG_TEXT(address, sizeof(address));
    pug_text_hex(&text, step->address, 1);
    pug_text_end(&text);
    pug_disasm_text(windows->disasm, (enum pug_isa)step->isa, step->address, step->bytes,
                    step->insn.size, words, sizeof(words));
    pug_json_array(json, NULL);
    pug_json_string(json, NULL, address);
    pug_json_string(json, NULL, words);
    pug_json_string(json, NULL, outcome_of(step));
    put_place(windows, json, range, step->address);
    pug_json_close(json);
}

/** A range, but for its first instructions. */
static void put_range(struct report_windows *windows, struct pug_json *json,
                      const struct report_range *range, uint64_t skip)
{
    const struct pug_step *step;
    if (!walk_in(windows, range->space) || pug_walk_begin(windows->walk, &range->element) != PUG_OK)
        return;
    for (uint64_t n = 0; (step = pug_walk_next(windows->walk)) != NULL; n++)
        if (n >= skip)
            put_step(windows, json, range, step);
}

bool report_windows_put(struct report_windows *windows, struct pug_json *json, const char *key,
                        const struct report_range *ranges, uint32_t count)
{
    uint32_t first = count;
    uint64_t instructions = 0;
    while (first > 0 && instructions < REPORT_WINDOW)
        instructions += ranges[--first].element.count;
    pug_json_array(json, key);
    for (uint32_t i = first; i < count; i++) {
        const bool cut = i == first && instructions > REPORT_WINDOW;
        put_range(windows, json, &ranges[i], cut ? instructions - REPORT_WINDOW : 0);
    }
    pug_json_close(json);
    return pug_disasm_status(windows->disasm) == PUG_OK;
}
