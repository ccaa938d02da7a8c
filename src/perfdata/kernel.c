// SPDX-License-Identifier: MIT
/** @file The kernel's text (section 14). */
#include "perfdata/perfdata.h"
#include "perfdata/program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory as it was ---- */

static bool open_memory(struct pug_perf *perf, const char *path)
{
    struct pug_perf_program *program;
    if (pug_perf_program_open(path, &perf->capture->starved, &program) != PUG_OK)
        return false;
    if (!program->core) {
        pug_perf_program_free(program);
        return false;
    }
    perf->memory = program;
    perf->memory_path = pug_capture_keep(perf->capture, path, SIZE_MAX);
    return true;
}

/** A copy of this boot's memory has the kernel's symbols beside it, where they were. */
static bool try_cached(void *context, const char *path, const char *file)
{
    struct pug_perf *perf = context;
    char beside[PATH_MAX];
    uint8_t *text = NULL;
    size_t size;
    uint64_t moved;
    (void)path;
    const int folder = (int)(strrchr(file, '/') - file);
    if (snprintf(beside, sizeof(beside), "%.*s/kallsyms", folder, file) >= (int)sizeof(beside) ||
        pug_infile_load(beside, PUG_PERF_FEATURE, &text, &size) != PUG_OK)
        return false;
    const bool same = pug_perf_kallsyms_moved(perf, (const char *)text, &moved) && moved == 0;
    free(text);
    if (!same || !open_memory(perf, file))
        return false;
    perf->memory_kallsyms = pug_capture_keep(perf->capture, beside, SIZE_MAX);
    return true;
}

/** perf's cache: [kernel.kcore]/BUILDID/TIME/kcore. */
static void seek_cached(struct pug_perf *perf)
{
    char root[PATH_MAX], path[128], folder[PATH_MAX], hex[41];
    const uint32_t kernel = pug_perf_own_kernel(perf);
    if (kernel == PUG_NO_OBJECT || !pug_perf_cache(perf, root, sizeof(root)))
        return;
    const struct pug_capture_object *object = pug_capture_objects(perf->capture)[kernel];
    if (object->build_id_size == 0)
        return;
    pug_perf_hex(object->build_id, object->build_id_size, hex);
    snprintf(path, sizeof(path), "/[kernel.kcore]/%s", hex);
    if (pug_root_resolve(root, path, folder, sizeof(folder)) > 0)
        (void)pug_root_search(folder, "kcore", PUG_ROOT_NO_LINKS, try_cached, perf);
}

void pug_perf_seek_memory(struct pug_perf *perf)
{
    const char *asked = perf->capture->options.roots.kernel;
    char path[PATH_MAX];
    if (perf->memory_sought)
        return;
    perf->memory_sought = true;
    if (asked) {
        (void)open_memory(perf, asked);
        return;
    }
    if (perf->folder) {
        snprintf(path, sizeof(path), "%s/kcore_dir/kcore", perf->folder);
        (void)open_memory(perf, path);
    }
    if (!perf->memory)
        seek_cached(perf);
}

bool pug_perf_take_memory(struct pug_perf *perf, uint32_t number)
{
    struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    struct pug_perf_object *details = &pug_perf_details(perf)[number];
    const struct pug_perf_guest *guest = pug_perf_guest_of(perf, details->guest);
    const bool is_guest = details->guest != PUG_PERF_NO_GUEST;
    pug_perf_seek_memory(perf);
    struct pug_perf_program *memory = !is_guest ? perf->memory : guest ? guest->memory : NULL;
    if (!memory)
        return false;
    details->program = memory;
    object->state = PUG_OBJECT_FOUND;
    object->file = is_guest ? guest->memory_path : perf->memory_path;
    object->why = NULL;
    return true;
}

/* ---- vmlinux ---- */

/* Kernels are moved by multiples of this, unless something says otherwise. */
#define MOVES (UINT64_C(1) << 21)

/**
 * By how much the kernel of a file without symbols was moved. Its first code is at `vaddr`: that is
 * `_text`, and the distance from it to any other mark is smaller than the unit by which kernels are
 * moved.
 */
static uint64_t slide_of(struct pug_perf *perf, uint32_t number, uint64_t vaddr)
{
    const struct pug_perf_object *details = &pug_perf_details(perf)[number];
    const char *mark = pug_perf_kernel_mark(pug_capture_objects(perf->capture)[number]);
    const uint64_t marked = pug_perf_kernel_marked(details);
    uint64_t begin;
    if (strcmp(mark, "_text") == 0)
        return marked - vaddr;
    if (pug_perf_kernel_symbols(perf, details->guest, "", "_text", &begin) == 1 &&
        marked - begin < MOVES)
        return begin - vaddr;
    return (marked - vaddr) & ~(MOVES - 1);
}

/** By how much the kernel was moved, from the symbol that its map is named after. */
static void find_slide(struct pug_perf *perf, uint32_t number)
{
    struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    const struct pug_perf_object *details = &pug_perf_details(perf)[number];
    uint64_t value;
    if (pug_perf_program_symbol(details->program, pug_perf_kernel_mark(object), &value)) {
        details->program->slide = pug_perf_kernel_marked(details) - value;
        return;
    }
    for (size_t i = 0; i < details->program->segment_count; i++) {
        if (!details->program->segments[i].executable)
            continue;
        details->program->slide = slide_of(perf, number, details->program->segments[i].vaddr);
        break;
    }
    object->state = PUG_OBJECT_UNVERIFIED;
}

static bool try_vmlinux(struct pug_perf *perf, uint32_t number)
{
    static const char *const places[] = {"/boot/vmlinux-%s", "/usr/lib/debug/boot/vmlinux-%s",
                                         "/usr/lib/debug/lib/modules/%s/vmlinux",
                                         "/lib/modules/%s/build/vmlinux"};
    char path[PATH_MAX];
    const char *asked = perf->capture->options.roots.kernel;
    if (asked)
        return pug_perf_try(perf, number, asked, true);
    if (pug_perf_try_cache(perf, number))
        return true;
    for (size_t i = 0;
         perf->release && !strchr(perf->release, '/') && i < sizeof(places) / sizeof(places[0]);
         i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(path, sizeof(path), places[i], perf->release);
#pragma GCC diagnostic pop
        if (pug_perf_try_symfs(perf, number, path))
            return true;
    }
    return pug_perf_try_folders(perf, number, "vmlinux");
}

void pug_perf_seek_kernel(struct pug_perf *perf, uint32_t number)
{
    struct pug_perf_object *details = &pug_perf_details(perf)[number];
    if (!details->program && pug_perf_take_memory(perf, number))
        return;
    const bool own = details->guest == PUG_PERF_NO_GUEST;
    if (details->program || (own ? try_vmlinux(perf, number) : pug_perf_try_cache(perf, number)))
        find_slide(perf, number);
}
