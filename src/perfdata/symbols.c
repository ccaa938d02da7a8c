// SPDX-License-Identifier: MIT
/**
 * @file Symbols and lines that are not in an object's own file: separate debug information (section
 * 13), kernel symbols, the maps of JIT compilers.
 */
#include "files/crc32.h"
#include "perfdata/perfdata.h"
#include "perfdata/program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- debug information ---- */

/** A program's link to its debug information. */
struct link {
    char *name; /* a plain name, or NULL */
    uint32_t sum;
};

/** To be freed: its name. */
static struct link link_of(const struct pug_perf_program *program)
{
    struct link link = {.name = NULL};
    const struct pug_perf_section *section =
        program ? pug_perf_program_section(program, ".gnu_debuglink") : NULL;
    char *name = section ? (char *)pug_perf_program_load(program, section) : NULL;
    const size_t at = name ? (strlen(name) + 4) & ~(size_t)3 : 0;
    if (!name || !*name || strchr(name, '/') || strcmp(name, "..") == 0 || section->size < at + 4) {
        free(name);
        return link;
    }
    link.name = name;
    link.sum = pug_bytes_32((const uint8_t *)name + at);
    return link;
}

static bool has_sum(const char *path, uint32_t sum)
{
    struct pug_infile *file;
    if (pug_infile_open(path, &file) != PUG_OK)
        return false;
    const bool same = pug_crc32_of(pug_infile_descriptor(file)) == sum;
    pug_infile_close(file);
    return same;
}

/** The file that is searched for, and its properties. */
struct sought {
    struct pug_perf *perf;
    uint32_t number;
    struct link link;
};

/** Is it of the same build? Where neither a build id nor a link can say so, any file is. */
static bool is_of(const struct sought *sought, const char *file,
                  const struct pug_perf_program *program)
{
    const struct pug_perf_program *own = pug_perf_details(sought->perf)[sought->number].program;
    if (own && own->build_id_size > 0)
        return pug_perf_same_build_id(own->build_id, own->build_id_size, program->build_id,
                                      program->build_id_size);
    return pug_capture_objects(sought->perf->capture)[sought->number]->build_id_size == 0 &&
           (!sought->link.name || has_sum(file, sought->link.sum));
}

static bool take(const struct sought *sought, const char *file)
{
    struct pug_perf *perf = sought->perf;
    struct pug_capture_object *object = pug_capture_objects(perf->capture)[sought->number];
    struct pug_perf_program *program;
    if (object->symbols || (object->file && strcmp(object->file, file) == 0) ||
        pug_perf_program_open(file, &perf->capture->starved, &program) != PUG_OK)
        return object->symbols != NULL;
    if (is_of(sought, file, program))
        object->symbols = pug_capture_keep(perf->capture, file, SIZE_MAX);
    pug_perf_program_free(program);
    return object->symbols != NULL;
}

static bool take_below(const struct sought *sought, const char *root, const char *path)
{
    char file[PATH_MAX];
    return pug_root_resolve(root, path, file, sizeof(file)) > 0 && take(sought, file);
}

/** The folder of a path, with the slash at its end, and a name: "" where it does not fit. */
static void beside(const char *path, const char *between, const char *name, char *text, size_t size)
{
    const char *slash = strrchr(path, '/');
    const int length =
        snprintf(text, size, "%.*s%s%s", slash ? (int)(slash + 1 - path) : 0, path, between, name);
    if (length < 0 || (size_t)length >= size)
        *text = 0;
}

/** A file that is there, and no link to elsewhere. */
static bool is_file(const char *path)
{
    struct stat status;
    return *path && lstat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/** Is it a folder? The slash at its end, which would follow a link, is left out. */
static bool is_folder(char *path)
{
    struct stat status;
    const size_t length = strlen(path);
    path[length > 0 ? length - 1 : 0] = 0;
    return length > 1 && lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/** Beside the text itself, or in a folder there; neither is a link to elsewhere. */
static bool take_beside(const struct sought *sought, const char *between)
{
    const struct pug_capture_object *object =
        pug_capture_objects(sought->perf->capture)[sought->number];
    char path[PATH_MAX];
    beside(object->file, between, "", path, sizeof(path));
    if (*between && !is_folder(path))
        return false;
    beside(object->file, between, sought->link.name, path, sizeof(path));
    return is_file(path) && take(sought, path);
}

static bool take_link(const struct sought *sought)
{
    static const char debug[] = "/usr/lib/debug";
    const char *recorded = pug_capture_objects(sought->perf->capture)[sought->number]->path;
    char path[PATH_MAX];
    if (!sought->link.name)
        return false;
    if (take_beside(sought, "") || take_beside(sought, ".debug/"))
        return true;
    memcpy(path, debug, sizeof(debug));
    beside(recorded, "", sought->link.name, path + sizeof(debug) - 1, sizeof(path) - sizeof(debug));
    return *recorded == '/' && take_below(sought, pug_perf_symfs(sought->perf), path);
}

static void take_any(const struct sought *sought)
{
    struct pug_perf *perf = sought->perf;
    const struct pug_perf_program *program = pug_perf_details(perf)[sought->number].program;
    const char *recorded = pug_capture_objects(perf->capture)[sought->number]->path;
    const bool has_id = program && program->build_id_size > 1;
    char path[PATH_MAX], root[PATH_MAX], hex[41] = "";
    if (take_link(sought))
        return;
    if (has_id)
        pug_perf_hex(program->build_id, program->build_id_size, hex);
    snprintf(path, sizeof(path), "/.build-id/%.2s/%s/debug", hex, has_id ? hex + 2 : "");
    if (has_id && pug_perf_cache(perf, root, sizeof(root)) && take_below(sought, root, path))
        return;
    const char *symfs = pug_perf_symfs(perf);
    snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", hex,
             has_id ? hex + 2 : "");
    if (has_id && take_below(sought, symfs, path))
        return;
    snprintf(path, sizeof(path), "/usr/lib/debug%s.debug", recorded);
    if (take_below(sought, symfs, path))
        return;
    snprintf(path, sizeof(path), "/usr/lib/debug%s", recorded);
    (void)take_below(sought, symfs, path);
}

void pug_perf_seek_symbols(struct pug_perf *perf, uint32_t number)
{
    const struct sought sought = {
        .perf = perf, .number = number, .link = link_of(pug_perf_details(perf)[number].program)};
    take_any(&sought);
    free(sought.link.name);
}

/* ---- texts of symbols ---- */

void pug_perf_module_name(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    size_t at = 0;
    for (const char *from = slash ? slash + 1 : path; *from && at + 1 < size; from++) {
        if (*from == '.' || *from == ']')
            break;
        if (*from != '[')
            name[at++] = *from == '-' ? '_' : *from;
    }
    name[at] = 0;
}

/** What a JIT compiler wrote: "/tmp/perf-PID.map", below the folder of recorded paths. */
static bool jit_symbols(struct pug_perf *perf, struct pug_perf_object *details,
                        struct pug_names_symbols *symbols)
{
    char path[64], file[PATH_MAX];
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)details->jit_pid);
    if (!details->jit_map && details->jit_pid > 0 &&
        pug_root_resolve(pug_perf_symfs(perf), path, file, sizeof(file)) > 0)
        details->jit_map = pug_capture_keep(perf->capture, file, SIZE_MAX);
    symbols->kind = PUG_NAMES_JIT_MAP;
    symbols->file = details->jit_map;
    return symbols->file != NULL;
}

void pug_perf_seek_jit(struct pug_perf *perf, uint32_t number)
{
    struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    struct pug_names_symbols symbols = {0};
    if (!jit_symbols(perf, &pug_perf_details(perf)[number], &symbols))
        return;
    const bool found = is_file(symbols.file);
    object->symbols = found ? symbols.file : NULL;
    object->why = found ? "code that was made at run time, which no file holds"
                        : "memory that no file holds, and no map of a JIT compiler is there";
}

/** Where a module's text lies in memory, less where its own file has it. */
static uint64_t module_moved(const struct pug_perf_object *details)
{
    const struct pug_perf_program *program = details->program;
    if (program && program->placed_count > 0)
        return program->placed[0].address - program->placed[0].vaddr;
    return details->first_address +
           (details->has_memory_offset ? details->memory_offset - details->min_vaddr : 0);
}

static const char *module_of(struct pug_perf *perf, uint32_t number)
{
    struct pug_perf_object *details = &pug_perf_details(perf)[number];
    char name[64];
    if (!details->module) {
        pug_perf_module_name(pug_capture_objects(perf->capture)[number]->path, name, sizeof(name));
        details->module = pug_capture_keep(perf->capture, name, sizeof(name));
    }
    return details->module;
}

/**
 * Addresses of kallsyms are those of the kernel's memory; places are as pug_perf_locate() has them.
 */
static bool kernel_symbols(struct pug_perf *perf, uint32_t number,
                           struct pug_names_symbols *symbols)
{
    const struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    const struct pug_perf_object *details = &pug_perf_details(perf)[number];
    const struct pug_perf_kallsyms *kallsyms = pug_perf_kallsyms_of(perf, details->guest);
    symbols->kind = PUG_NAMES_KALLSYMS;
    symbols->file = kallsyms ? kallsyms->path : NULL;
    symbols->text = details->guest == PUG_PERF_NO_GUEST ? perf->kallsyms : NULL;
    if (object->kind == PUG_OBJECT_KERNEL) {
        symbols->module = "";
        symbols->moved =
            (details->program ? details->program->slide : 0) - (kallsyms ? kallsyms->moved : 0);
    } else if (kallsyms && kallsyms->moved) {
        return false; /* of another boot, where the modules lay elsewhere */
    } else {
        symbols->module = module_of(perf, number);
        symbols->moved = module_moved(details);
    }
    return symbols->file || symbols->text;
}

/** The recorder's knowledge of an object that is missing here. */
static bool told_symbols(const struct pug_perf_object *details, struct pug_names_symbols *symbols)
{
    symbols->kind = PUG_NAMES_JIT_MAP;
    symbols->text = details->symbols;
    return symbols->text != NULL;
}

bool pug_perf_symbols(struct pug_capture *capture, uint32_t number,
                      struct pug_names_symbols *symbols)
{
    struct pug_perf *perf = capture->own;
    const struct pug_capture_object *object = pug_capture_objects(capture)[number];
    bool found = false;
    pthread_mutex_lock(&capture->lock);
    symbols->path = object->path;
    if (object->kind == PUG_OBJECT_MEMORY)
        found = jit_symbols(perf, &pug_perf_details(perf)[number], symbols);
    else if (object->kind == PUG_OBJECT_KERNEL || object->kind == PUG_OBJECT_MODULE)
        found = kernel_symbols(perf, number, symbols);
    else
        found = told_symbols(&pug_perf_details(perf)[number], symbols);
    pthread_mutex_unlock(&capture->lock);
    return found;
}
