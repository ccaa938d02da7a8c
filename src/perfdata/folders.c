// SPDX-License-Identifier: MIT
/**
 * @file Folders in which programs are looked for by name and build id (section 13). Each is walked
 * once, when something is looked for in it first, and what is there is kept.
 */
#include "base/bisect.h"
#include "perfdata/perfdata.h"
#include "perfdata/program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kept {
    const char *path, *name; /* what it is called; its last component */
    const char *file;        /* what is to be opened */
    size_t folder;           /* number of the folder it is in */
    uint8_t build_id[20];    /* with zeros after it */
};

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- what is there ---- */

struct walk {
    struct pug_perf *perf;
    struct pug_perf_folders *folders;
    size_t folder;
};

static bool keep(void *context, const char *path, const char *file)
{
    const struct walk *walk = context;
    struct pug_capture *capture = walk->perf->capture;
    struct kept *kept = pug_capture_add(capture, &walk->folders->files, sizeof(*kept));
    if (!kept)
        return true;
    kept->path = pug_capture_keep(capture, path, SIZE_MAX);
    kept->file = strcmp(path, file) == 0 ? kept->path : pug_capture_keep(capture, file, SIZE_MAX);
    kept->name = last_component(kept->path);
    kept->folder = walk->folder;
    return false;
}

static int by_name(const void *left, const void *right)
{
    const struct kept *a = left, *b = right;
    const int names = strcmp(a->name, b->name);
    if (names != 0)
        return names;
    if (a->folder != b->folder)
        return a->folder < b->folder ? -1 : 1;
    return strcmp(a->path, b->path);
}

static void walk_folder(struct pug_perf *perf, struct pug_perf_folders *folders, size_t number,
                        const char *folder, enum pug_root_links links)
{
    struct walk walk = {perf, folders, number};
    if (pug_root_search(folder, NULL, links, keep, &walk) == PUG_ERR_LIMIT)
        pug_capture_say(perf->capture, PUG_SEV_WARN, PUG_OK,
                        "%s: there is more in it than is looked at", folder);
}

static void sort(struct pug_perf_folders *folders)
{
    if (folders->files.count > 0)
        qsort(folders->files.items, folders->files.count, sizeof(struct kept), by_name);
}

/** The folders that the user wants searched. */
static const struct pug_perf_folders *given(struct pug_perf *perf)
{
    const struct pug_capture_options *options = &perf->capture->options;
    struct pug_perf_folders *folders = &perf->given;
    if (folders->walked)
        return folders;
    folders->walked = true;
    for (size_t i = 0; i < options->roots.symdir_count; i++)
        walk_folder(perf, folders, i, options->roots.symdirs[i],
                    options->confine ? PUG_ROOT_LINKS_WITHIN : PUG_ROOT_LINKS);
    sort(folders);
    return folders;
}

/** The folders that hold the recorded kernel's modules. */
static const struct pug_perf_folders *modules(struct pug_perf *perf)
{
    char path[PATH_MAX], folder[PATH_MAX];
    struct pug_perf_folders *folders = &perf->modules;
    if (folders->walked)
        return folders;
    folders->walked = true;
    if (!perf->release || strchr(perf->release, '/') || *perf->release == '.')
        return folders;
    snprintf(path, sizeof(path), "/lib/modules/%s", perf->release);
    if (pug_root_resolve(pug_perf_symfs(perf), path, folder, sizeof(folder)) > 0)
        walk_folder(perf, folders, 0, folder, PUG_ROOT_NO_LINKS);
    sort(folders);
    return folders;
}

/* ---- by name ---- */

/** How many components two paths have in common at their ends. */
static size_t common_end(const char *left, const char *right)
{
    size_t a = strlen(left), b = strlen(right), count = 0;
    for (; a > 0 && b > 0 && left[a - 1] == right[b - 1]; a--, b--)
        count += left[a - 1] == '/';
    return count + ((a == 0 || left[a - 1] == '/') && (b == 0 || right[b - 1] == '/'));
}

/**
 * Is a file what can hardly lie where an object was mapped? Code of 32 bits is below 4 GiB, and
 * libraries of 64 bits are loaded far above.
 */
static bool is_unlikely(const char *path, bool high)
{
    enum { DYNAMIC = 3 };
    uint8_t head[18];
    struct pug_infile *file;
    if (pug_infile_open(path, &file) != PUG_OK)
        return false;
    const bool elf =
        pug_infile_read(file, 0, head, sizeof(head)) == PUG_OK && memcmp(head, "\177ELF", 4) == 0;
    pug_infile_close(file);
    return elf && (high ? head[4] == 1 : head[4] == 2 && head[16] == DYNAMIC);
}

struct candidate {
    size_t common, number;
    bool unlikely;
};

static int by_likelihood(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->common != b->common)
        return a->common > b->common ? -1 : 1;
    if (a->unlikely != b->unlikely)
        return a->unlikely ? 1 : -1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/** Files that are in order, and the one that is looked for among them. */
struct lookup {
    const struct pug_perf_folders *folders;
    struct kept wanted;
};

static uint64_t is_from_name_on(const void *context, uint64_t at)
{
    const struct lookup *lookup = context;
    const struct kept *files = lookup->folders->files.items;
    return strcmp(files[at].name, lookup->wanted.name) >= 0;
}

static uint64_t is_from_id_on(const void *context, uint64_t at)
{
    const struct lookup *lookup = context;
    const struct kept *const *files = lookup->folders->by_id.items;
    return memcmp(files[at]->build_id, lookup->wanted.build_id, sizeof(lookup->wanted.build_id)) >=
           0;
}

/** The first file with this name, or with a name that sorts after it. */
static size_t first_called(const struct pug_perf_folders *folders, const char *name)
{
    const struct lookup lookup = {folders, {.name = name}};
    return (size_t)pug_bisect_value(0, folders->files.count, 1, is_from_name_on, &lookup);
}

bool pug_perf_each_called(struct pug_perf *perf, const char *path, bool high,
                          pug_perf_file_fn *take, void *context)
{
    const struct pug_perf_folders *folders = given(perf);
    const struct kept *files = folders->files.items;
    const char *name = last_component(path);
    const size_t first = first_called(folders, name);
    size_t count = 0;
    while (first + count < folders->files.count && strcmp(files[first + count].name, name) == 0)
        count++;
    struct candidate *candidates = count > 0 ? malloc(count * sizeof(*candidates)) : NULL;
    if (!candidates) {
        if (count > 0)
            pug_capture_starve(perf->capture);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        candidates[i] =
            (struct candidate){.common = common_end(path, files[first + i].path),
                               .number = first + i,
                               .unlikely = count > 1 && is_unlikely(files[first + i].file, high)};
    qsort(candidates, count, sizeof(*candidates), by_likelihood);
    bool taken = false;
    for (size_t i = 0; i < count && !taken; i++)
        taken = take(context, files[candidates[i].number].file);
    free(candidates);
    return taken;
}

struct wanted {
    struct pug_perf *perf;
    uint32_t object;
    const char *inner; /* of an archive: where it is in it, with the mark in front */
};

static bool try_file(void *context, const char *file)
{
    const struct wanted *wanted = context;
    char path[PATH_MAX];
    return snprintf(path, sizeof(path), "%s%s", file, wanted->inner) < (int)sizeof(path) &&
           pug_perf_try(wanted->perf, wanted->object, path, false);
}

/** "…/base.apk!/lib/x.so" is in an archive of this name. */
static bool try_archives(struct pug_perf *perf, uint32_t number)
{
    const char *path = pug_capture_objects(perf->capture)[number]->path;
    const char *mark = strstr(path, "!/");
    char *archive = mark ? strndup(path, (size_t)(mark - path)) : NULL;
    struct wanted wanted = {perf, number, mark};
    const bool found = archive && pug_perf_each_called(perf, archive, false, try_file, &wanted);
    free(archive);
    return found;
}

bool pug_perf_try_release(struct pug_perf *perf, uint32_t number)
{
    const struct pug_perf_folders *folders = modules(perf);
    const struct kept *files = folders->files.items;
    char own[64], name[64];
    pug_perf_module_name(pug_capture_objects(perf->capture)[number]->path, own, sizeof(own));
    for (size_t i = 0; i < folders->files.count; i++) {
        pug_perf_module_name(files[i].path, name, sizeof(name));
        if (strstr(files[i].name, ".ko") && strcmp(own, name) == 0 &&
            pug_perf_try(perf, number, files[i].file, false))
            return true;
    }
    return false;
}

/* ---- by build id ---- */

static int by_build_id(const void *left, const void *right)
{
    const struct kept *const *a = left, *const *b = right;
    const int ids = memcmp((*a)->build_id, (*b)->build_id, sizeof((*a)->build_id));
    if (ids != 0)
        return ids;
    return *a < *b ? -1 : *a > *b;
}

/** Read the build ids of all that is there, once. */
static void read_build_ids(struct pug_perf *perf, struct pug_perf_folders *folders)
{
    struct kept *files = folders->files.items;
    struct pug_perf_program *program;
    folders->has_ids = true;
    for (size_t i = 0; i < folders->files.count; i++) {
        if (pug_perf_program_open(files[i].file, &perf->capture->starved, &program) != PUG_OK)
            continue;
        memcpy(files[i].build_id, program->build_id, program->build_id_size);
        if (program->build_id_size > 0) {
            struct kept **kept = pug_capture_add(perf->capture, &folders->by_id, sizeof(*kept));
            if (kept)
                *kept = &files[i];
        }
        pug_perf_program_free(program);
    }
    if (folders->by_id.count > 0)
        qsort(folders->by_id.items, folders->by_id.count, sizeof(struct kept *), by_build_id);
}

/** A file of any name is taken only for its build id. */
static bool try_ids(struct pug_perf *perf, uint32_t number)
{
    const struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    struct pug_perf_folders *folders = &perf->given;
    struct lookup lookup = {folders, {.path = NULL}};
    if (object->build_id_size == 0)
        return false;
    if (!folders->has_ids)
        read_build_ids(perf, folders);
    struct kept *const *files = folders->by_id.items;
    memcpy(lookup.wanted.build_id, object->build_id, object->build_id_size);
    size_t at = (size_t)pug_bisect_value(0, folders->by_id.count, 1, is_from_id_on, &lookup);
    for (; at < folders->by_id.count &&
           memcmp(files[at]->build_id, lookup.wanted.build_id, sizeof(files[at]->build_id)) == 0;
         at++)
        if (pug_perf_try(perf, number, files[at]->file, false))
            return true;
    return false;
}

bool pug_perf_try_folders(struct pug_perf *perf, uint32_t number, const char *name)
{
    const char *path = name ? name : pug_capture_objects(perf->capture)[number]->path;
    struct wanted wanted = {perf, number, ""};
    return perf->capture->options.roots.symdir_count > 0 &&
           (pug_perf_each_called(perf, path, pug_perf_details(perf)[number].high, try_file,
                                 &wanted) ||
            try_archives(perf, number) || try_ids(perf, number));
}

void pug_perf_folders_free(struct pug_perf_folders *folders)
{
    free(folders->files.items);
    free(folders->by_id.items);
}
