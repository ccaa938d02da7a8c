// SPDX-License-Identifier: MIT
/** @file The kernel's text and symbols (section 14). */
#include "perfdata/perfdata.h"
#include "perfdata/program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- symbols ---- */

static int by_name(const void *left, const void *right)
{
    const struct pug_perf_symbol *a = left, *b = right;
    const int names = strcmp(a->name, b->name);
    return names ? names : strcmp(a->module, b->module);
}

/** "ADDRESS TYPE NAME [MODULE]"; the line is cut up in its place. */
static void take_line(struct pug_perf *perf, char *line)
{
    char *end;
    const uint64_t address = strtoull(line, &end, 16);
    if (end == line || *end != ' ' || !end[1] || end[2] != ' ' || address == 0)
        return;
    char *name = end + 3, *module = strchr(name, '[');
    name[strcspn(name, " \t\r")] = 0;
    if (module)
        module[strcspn(module, "]")] = 0;
    struct pug_perf_symbol *symbol = *name ? pug_list_add(&perf->addresses, sizeof(*symbol)) : NULL;
    if (symbol)
        *symbol = (struct pug_perf_symbol){name, module ? module + 1 : "", address};
}

static void take_lines(struct pug_perf *perf, char *text)
{
    perf->kallsyms_text = text;
    for (char *line = text; line;) {
        char *next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        take_line(perf, line);
        line = next;
    }
    if (perf->addresses.count > 0)
        qsort(perf->addresses.items, perf->addresses.count, sizeof(struct pug_perf_symbol),
              by_name);
}

/** What the user gave, what the recorder put beside the data, or what is in them. */
void pug_perf_read_kallsyms(struct pug_perf *perf)
{
    if (perf->addresses_read)
        return;
    const char *asked = perf->capture->options.roots.kallsyms;
    char path[PATH_MAX] = "";
    uint8_t *bytes = NULL;
    size_t size;
    perf->addresses_read = true;
    if (perf->folder)
        snprintf(path, sizeof(path), "%s/kcore_dir/kallsyms", perf->folder);
    if (asked && pug_infile_load(asked, PUG_PERF_FEATURE, &bytes, &size) != PUG_OK)
        pug_capture_say(perf->capture, PUG_SEV_WARN, PUG_OK, "%s: cannot be read as kernel symbols",
                        asked);
    if (bytes)
        perf->kallsyms_path = asked;
    else if (*path && pug_infile_load(path, PUG_PERF_FEATURE, &bytes, &size) == PUG_OK)
        perf->kallsyms_path = pug_capture_keep(perf->capture, path, sizeof(path));
    if (!bytes && perf->kallsyms)
        bytes = (uint8_t *)strdup(perf->kallsyms);
    if (bytes)
        take_lines(perf, (char *)bytes);
}

bool pug_perf_kernel_symbol(struct pug_perf *perf, const char *module, const char *name,
                            uint64_t *address)
{
    pug_perf_read_kallsyms(perf);
    const struct pug_perf_symbol *symbols = perf->addresses.items;
    const char *const modules[] = {module, ""};
    for (size_t i = 0; i < 2 && perf->addresses.count > 0; i++) {
        const struct pug_perf_symbol key = {.name = name, .module = modules[i]};
        const struct pug_perf_symbol *found =
            bsearch(&key, symbols, perf->addresses.count, sizeof(key), by_name);
        if (!found)
            continue;
        *address = found->address;
        return true;
    }
    return false;
}

/* ---- memory as it was ---- */

static bool open_memory(struct pug_perf *perf, const char *path)
{
    struct pug_perf_program *program;
    if (pug_perf_program_open(path, &program) != PUG_OK)
        return false;
    if (!program->core) {
        pug_perf_program_free(program);
        return false;
    }
    perf->memory = program;
    perf->memory_path = pug_capture_keep(perf->capture, path, SIZE_MAX);
    return true;
}

static void seek_memory(struct pug_perf *perf)
{
    const char *asked = perf->capture->options.roots.kernel;
    char path[PATH_MAX];
    perf->memory_sought = true;
    if (asked && open_memory(perf, asked))
        return;
    if (perf->folder && !asked) {
        snprintf(path, sizeof(path), "%s/kcore_dir/kcore", perf->folder);
        (void)open_memory(perf, path);
    }
}

bool pug_perf_take_memory(struct pug_perf *perf, uint32_t number)
{
    struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    struct pug_perf_object *details = &pug_perf_details(perf)[number];
    const struct pug_perf_guest *guest = pug_perf_guest_of(perf, details->guest);
    const bool is_guest = details->guest != PUG_PERF_NO_GUEST;
    if (!perf->memory_sought)
        seek_memory(perf);
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

/** By how much the kernel was moved, from the symbol that its map is named after. */
static void find_slide(struct pug_perf *perf, uint32_t number)
{
    struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    const struct pug_perf_object *details = &pug_perf_details(perf)[number];
    const char *name = strchr(object->path, ']');
    const uint64_t there = details->first_offset ? details->first_offset : details->first_address;
    uint64_t value;
    name = name && name[1] ? name + 1 : "_stext";
    if (pug_perf_program_symbol(details->program, name, &value)) {
        details->program->slide = there - value;
        return;
    }
    for (size_t i = 0; i < details->program->segment_count; i++) {
        if (!details->program->segments[i].executable)
            continue;
        details->program->slide = (details->first_address & ~UINT64_C(0xffff)) -
                                  (details->program->segments[i].vaddr & ~UINT64_C(0xffff));
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
    if (details->program || (details->guest == PUG_PERF_NO_GUEST && try_vmlinux(perf, number)))
        find_slide(perf, number);
}
