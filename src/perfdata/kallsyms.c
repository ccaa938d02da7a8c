// SPDX-License-Identifier: MIT
/** @file Where a kernel has its symbols (section 14). */
#include "perfdata/perfdata.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the symbol that a kernel's map is named after ---- */

const char *pug_perf_kernel_mark(const struct pug_capture_object *kernel)
{
    const char *name = strchr(kernel->path, ']');
    return name && name[1] ? name + 1 : "_stext";
}

uint64_t pug_perf_kernel_marked(const struct pug_perf_object *kernel)
{
    return kernel->first_offset ? kernel->first_offset : kernel->first_address;
}

uint32_t pug_perf_own_kernel(const struct pug_perf *perf)
{
    struct pug_capture_object *const *objects = pug_capture_objects(perf->capture);
    const struct pug_perf_object *details = pug_perf_details(perf);
    for (uint32_t i = 0; i < perf->capture->objects.count; i++)
        if (objects[i]->kind == PUG_OBJECT_KERNEL && details[i].guest == PUG_PERF_NO_GUEST)
            return i;
    return PUG_NO_OBJECT;
}

/* ---- lines ---- */

static int by_name(const void *left, const void *right)
{
    const struct pug_perf_symbol *a = left, *b = right;
    const int names = strcmp(a->name, b->name), modules = strcmp(a->module, b->module);
    if (names != 0 || modules != 0)
        return names ? names : modules;
    return a->address < b->address ? -1 : a->address > b->address;
}

/** "ADDRESS TYPE NAME [MODULE]": the address, and where the name begins; 0: it is no such line. */
static uint64_t address_of(const char *line, size_t *name)
{
    char *end;
    const uint64_t address = strtoull(line, &end, 16);
    *name = (size_t)(end - line) + 3;
    return end == line || *end != ' ' || !end[1] || end[2] != ' ' ? 0 : address;
}

/** The line is cut up in its place. Only functions are kept. */
static void take_line(struct pug_perf *perf, struct pug_perf_kallsyms *kallsyms, char *line)
{
    size_t at;
    const uint64_t address = address_of(line, &at);
    if (address == 0 || !strchr("tTwW", line[at - 2]))
        return;
    const bool is_global = strchr("TW", line[at - 2]);
    char *name = line + at, *module = strchr(name, '[');
    name[strcspn(name, " \t\r")] = 0;
    if (module)
        module[strcspn(module, "]")] = 0;
    if (module && kallsyms->moved)
        return; /* of another boot, where the modules lay elsewhere */
    struct pug_perf_symbol *symbol =
        *name ? pug_capture_add(perf->capture, &kallsyms->symbols, sizeof(*symbol)) : NULL;
    if (symbol)
        *symbol = (struct pug_perf_symbol){.name = name,
                                           .module = module ? module + 1 : "",
                                           .address = address + kallsyms->moved,
                                           .is_global = is_global};
}

/** What others mean by the name of symbols in a row: their global ones, if these are at one place.
 */
static void settle_name(struct pug_perf_symbol *symbols, size_t count)
{
    bool several = false;
    for (size_t i = 0; i < count; i++) {
        if (!symbols[i].is_global)
            continue;
        several |= symbols->is_meant && symbols->meant != symbols[i].address;
        symbols->is_meant = true;
        symbols->meant = symbols[i].address;
    }
    symbols->is_meant &= !several;
}

/**
 * Answers are worked out once, for all that will ask: a kernel may have any number of one name.
 */
static void settle_names(struct pug_perf_symbol *symbols, size_t count)
{
    size_t first = 0, first_here = 0; /* of its name, and of its name and module */
    for (size_t i = 0; i < count; i++) {
        const bool same = i > 0 && strcmp(symbols[i].name, symbols[first].name) == 0;
        if (!same || strcmp(symbols[i].module, symbols[first_here].module) != 0)
            first_here = i;
        if (!same && i > 0)
            settle_name(symbols + first, i - first);
        if (!same)
            first = i;
        symbols[first_here].namesakes++;
    }
    if (count > 0)
        settle_name(symbols + first, count - first);
}

static void take_lines(struct pug_perf *perf, struct pug_perf_kallsyms *kallsyms, char *text)
{
    kallsyms->text = text;
    for (char *line = text; line;) {
        char *next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        take_line(perf, kallsyms, line);
        line = next;
    }
    if (kallsyms->symbols.count > 0)
        qsort(kallsyms->symbols.items, kallsyms->symbols.count, sizeof(struct pug_perf_symbol),
              by_name);
    settle_names(kallsyms->symbols.items, kallsyms->symbols.count);
}

bool pug_perf_kallsyms_moved(const struct pug_perf *perf, const char *text, uint64_t *moved)
{
    const uint32_t kernel = pug_perf_own_kernel(perf);
    if (kernel == PUG_NO_OBJECT)
        return false;
    const char *mark = pug_perf_kernel_mark(pug_capture_objects(perf->capture)[kernel]);
    const size_t length = strlen(mark);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        size_t at;
        line += *line == '\n';
        const uint64_t address = address_of(line, &at);
        if (address == 0 || strncmp(line + at, mark, length) != 0 || line[at + length] > ' ')
            continue;
        *moved = pug_perf_kernel_marked(&pug_perf_details(perf)[kernel]) - address;
        return true;
    }
    return false;
}

/* ---- where they are ---- */

static enum pug_status load(struct pug_perf *perf, struct pug_perf_kallsyms *kallsyms,
                            const char *path, uint8_t **text)
{
    size_t size;
    if (!path)
        return PUG_ERR_FILE;
    const enum pug_status status = pug_infile_load(path, PUG_PERF_FEATURE, text, &size);
    if (status == PUG_ERR_MEM)
        pug_capture_starve(perf->capture);
    if (status == PUG_OK)
        kallsyms->path = pug_capture_keep(perf->capture, path, SIZE_MAX);
    return status;
}

/** What the user gave. That it cannot be opened was reported before. */
static void read_asked(struct pug_perf *perf, struct pug_perf_kallsyms *kallsyms, uint8_t **text)
{
    const char *asked = perf->capture->options.roots.kallsyms;
    const enum pug_status status = load(perf, kallsyms, asked, text);
    if (status != PUG_OK && status != PUG_ERR_FILE)
        pug_capture_say(perf->capture, PUG_SEV_WARN, PUG_OK,
                        "%s: cannot be read as kernel symbols: %s", asked, pug_status_text(status));
}

/** perf's cache: .build-id/XX/YYYY…/kallsyms, or, as it was once, the file itself; of any boot. */
static bool load_cached(struct pug_perf *perf, struct pug_perf_kallsyms *kallsyms, uint8_t **text)
{
    static const char *const ends[] = {"/kallsyms", ""};
    char root[PATH_MAX], path[128], file[PATH_MAX], hex[41];
    const uint32_t kernel = pug_perf_own_kernel(perf);
    if (kernel == PUG_NO_OBJECT || !pug_perf_cache(perf, root, sizeof(root)))
        return false;
    const struct pug_capture_object *object = pug_capture_objects(perf->capture)[kernel];
    if (object->build_id_size < 2)
        return false;
    pug_perf_hex(object->build_id, object->build_id_size, hex);
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "/.build-id/%.2s/%s%s", hex, hex + 2, ends[i]);
        if (pug_root_resolve(root, path, file, sizeof(file)) == 0 ||
            load(perf, kallsyms, file, text) != PUG_OK)
            continue;
        if (pug_perf_kallsyms_moved(perf, (const char *)*text, &kallsyms->moved))
            return true;
        kallsyms->path = NULL;
        free(*text);
        *text = NULL;
    }
    return false;
}

/** What the user gave, what the recorder put beside the data, what is in them, or what is kept. */
static void read_own(struct pug_perf *perf)
{
    struct pug_perf_kallsyms *kallsyms = &perf->symbols;
    char path[PATH_MAX] = "";
    uint8_t *text = NULL;
    read_asked(perf, kallsyms, &text);
    const bool asked = text != NULL;
    if (perf->folder)
        snprintf(path, sizeof(path), "%s/kcore_dir/kallsyms", perf->folder);
    if (!text && *path)
        (void)load(perf, kallsyms, path, &text);
    pug_perf_seek_memory(perf);
    if (!text)
        (void)load(perf, kallsyms, perf->memory_kallsyms, &text);
    if (!text && perf->kallsyms && !(text = (uint8_t *)strdup(perf->kallsyms)))
        pug_capture_starve(perf->capture);
    if (!text)
        (void)load_cached(perf, kallsyms, &text);
    if (text)
        take_lines(perf, kallsyms, (char *)text);
    if (asked && kallsyms->symbols.count == 0)
        pug_capture_say(perf->capture, PUG_SEV_WARN, PUG_OK,
                        "%s: it says of no kernel function where it is", kallsyms->path);
}

static void read_guest(struct pug_perf *perf, struct pug_perf_guest *guest)
{
    uint8_t *text = NULL;
    if (load(perf, &guest->symbols, guest->kallsyms_path, &text) == PUG_OK)
        take_lines(perf, &guest->symbols, (char *)text);
}

const struct pug_perf_kallsyms *pug_perf_kallsyms_of(struct pug_perf *perf, int32_t number)
{
    struct pug_perf_guest *guest =
        number == PUG_PERF_NO_GUEST ? NULL : pug_perf_guest_of(perf, number);
    struct pug_perf_kallsyms *kallsyms = guest ? &guest->symbols : &perf->symbols;
    if (number != PUG_PERF_NO_GUEST && !guest)
        return NULL;
    if (!kallsyms->read) {
        kallsyms->read = true;
        if (guest)
            read_guest(perf, guest);
        else
            read_own(perf);
    }
    return kallsyms;
}

/** The first symbol that is not before those of a name and a module. */
static size_t first_of(const struct pug_list *symbols, const char *name, const char *module)
{
    const struct pug_perf_symbol key = {.name = name, .module = module};
    size_t low = 0, high = symbols->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_name((const struct pug_perf_symbol *)symbols->items + middle, &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t pug_perf_kernel_symbols(struct pug_perf *perf, int32_t guest, const char *module,
                               const char *name, uint64_t *lowest)
{
    const struct pug_perf_kallsyms *kallsyms = pug_perf_kallsyms_of(perf, guest);
    if (!kallsyms)
        return 0;
    const struct pug_perf_symbol *symbols = kallsyms->symbols.items;
    const size_t first = first_of(&kallsyms->symbols, name, module);
    if (first == kallsyms->symbols.count || strcmp(symbols[first].name, name) != 0 ||
        strcmp(symbols[first].module, module) != 0)
        return 0;
    *lowest = symbols[first].address;
    return symbols[first].namesakes;
}

bool pug_perf_kernel_global(struct pug_perf *perf, int32_t guest, const char *name,
                            uint64_t *address)
{
    const struct pug_perf_kallsyms *kallsyms = pug_perf_kallsyms_of(perf, guest);
    if (!kallsyms)
        return false;
    const struct pug_perf_symbol *symbols = kallsyms->symbols.items;
    const size_t first = first_of(&kallsyms->symbols, name, "");
    if (first == kallsyms->symbols.count || strcmp(symbols[first].name, name) != 0)
        return false;
    *address = symbols[first].meant;
    return symbols[first].is_meant;
}

void pug_perf_kallsyms_free(struct pug_perf_kallsyms *kallsyms)
{
    free(kallsyms->symbols.items);
    free(kallsyms->text);
}
