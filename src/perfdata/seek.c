// SPDX-License-Identifier: MIT
/** @file Looking for the text of objects (section 13). */
#include "perfdata/perfdata.h"
#include "perfdata/program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef _WIN32
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;
#endif

/* ---- taking a file ---- */

void pug_perf_hex(const uint8_t *id, size_t size, char *text)
{
    for (size_t i = 0; i < size; i++)
        sprintf(text + 2 * i, "%02x", id[i]);
    text[2 * size] = 0;
}

/** Why a file that is there is not taken; the first reason stays. */
static void refuse(struct pug_perf *perf, struct pug_capture_object *object,
                   enum pug_object_state state, const char *path, const char *why)
{
    if (object->state != PUG_OBJECT_MISSING)
        return;
    object->state = state;
    object->why = pug_capture_keep_format(perf->capture, "%s: %s", path, why);
}

/** Why a file cannot be what was mapped; NULL: it can. */
static const char *misfit(const struct pug_perf *perf, uint32_t number,
                          const struct pug_perf_program *program)
{
    if (!program->has_text)
        return "it holds no code";
    if (perf->has_info && program->machine != PUG_PERF_EM_ARM &&
        program->machine != PUG_PERF_EM_AARCH64)
        return "it is a program of another kind of processor";
    if (pug_perf_details(perf)[number].high && !program->is64)
        return "it is of 32 bits, and what is looked for was mapped above 4 GiB";
    return NULL;
}

static bool fits(struct pug_perf *perf, uint32_t number, const char *path,
                 const struct pug_perf_program *program)
{
    struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    if (object->build_id_size > 0 &&
        !pug_perf_same_build_id(object->build_id, object->build_id_size, program->build_id,
                                program->build_id_size)) {
        refuse(perf, object, PUG_OBJECT_OTHER_BUILD, path,
               program->build_id_size > 0 ? "it has another build id" : "it has no build id");
        return false;
    }
    const char *why = misfit(perf, number, program);
    if (why)
        refuse(perf, object, PUG_OBJECT_UNUSABLE, path, why);
    return !why;
}

bool pug_perf_try(struct pug_perf *perf, uint32_t number, const char *path, bool whatever)
{
    struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    struct pug_perf_object *details = &pug_perf_details(perf)[number];
    struct pug_perf_program *program;
    const enum pug_status status = pug_perf_program_open(path, &perf->capture->starved, &program);
    if (status == PUG_ERR_FILE && whatever) /* one that the user names */
        refuse(perf, object, PUG_OBJECT_UNUSABLE, path, strerror(errno));
    if (status == PUG_ERR_FILE || status == PUG_ERR_MEM)
        return false;
    if (status != PUG_OK) {
        refuse(perf, object, PUG_OBJECT_UNUSABLE, path, "no ELF file, or a damaged one");
        return false;
    }
    if (!whatever && !fits(perf, number, path, program)) {
        pug_perf_program_free(program);
        return false;
    }
    object->state = pug_perf_same_build_id(object->build_id, object->build_id_size,
                                           program->build_id, program->build_id_size)
                        ? PUG_OBJECT_FOUND
                        : PUG_OBJECT_UNVERIFIED;
    object->file = pug_capture_keep(perf->capture, path, SIZE_MAX);
    object->why = NULL;
    details->program = program;
    return true;
}

static bool try_below(struct pug_perf *perf, uint32_t object, const char *root, const char *path)
{
    char file[PATH_MAX];
    return pug_root_resolve_packed(root, path, file, sizeof(file)) > 0 &&
           pug_perf_try(perf, object, file, false);
}

/* ---- places ---- */

static bool try_replacements(struct pug_perf *perf, uint32_t number)
{
    const struct pug_capture_roots *roots = &perf->capture->options.roots;
    struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    for (size_t i = 0; i < roots->replacement_count; i++) {
        const struct pug_capture_replacement *taken = &roots->replacements[i];
        if (!pug_object_is(object->path, object->build_id, object->build_id_size, taken->path))
            continue;
        if (pug_perf_try(perf, number, taken->file, true))
            return true;
    }
    return false;
}

/** "~/x" is below the home folder. */
static bool expand_home(const char *path, char *folder, size_t size)
{
    const char *home = getenv("HOME");
    const bool at_home = path[0] == '~' && (path[1] == '/' || path[1] == 0);
    if (at_home && !home)
        return false;
    const int length =
        snprintf(folder, size, "%s%s", at_home ? home : "", at_home ? path + 1 : path);
    return length > 0 && (size_t)length < size;
}

#define MOST_CONFIG ((size_t)1 << 20)

/** buildid.dir of perf's own settings; false: it is not said there. */
static bool configured_cache(char *folder, size_t size)
{
    char path[PATH_MAX], *rest = NULL;
    uint8_t *text;
    size_t length;
    bool in_section = false, found = false;
    if (!expand_home("~/.perfconfig", path, sizeof(path)) ||
        pug_infile_load(path, MOST_CONFIG, &text, &length) != PUG_OK)
        return false;
    for (char *line = strtok_r((char *)text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, '=');
        line += strspn(line, " \t");
        if (*line == '[')
            in_section = strncmp(line, "[buildid]", 9) == 0;
        if (!in_section || !value || strncmp(line, "dir", 3) != 0 ||
            line + 3 + strspn(line + 3, " \t") != value)
            continue;
        value += 1 + strspn(value + 1, " \t\"");
        value[strcspn(value, " \t\r\"#;")] = 0;
        found = *value && expand_home(value, folder, size);
    }
    free(text);
    return found;
}

bool pug_perf_cache(const struct pug_perf *perf, char *folder, size_t size)
{
    const char *given = perf->capture->options.roots.build_ids;
    if (given)
        return *given && snprintf(folder, size, "%s", given) < (int)size;
    if (perf->capture->options.confine)
        return false;
    return configured_cache(folder, size) || expand_home("~/.debug", folder, size);
}

/** perf's cache: .build-id/XX/YYYY…/elf, or vdso, kallsyms beside it. */
bool pug_perf_try_cache(struct pug_perf *perf, uint32_t number)
{
    const struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    const char *file = object->kind == PUG_OBJECT_VDSO ? "vdso" : "elf";
    char root[PATH_MAX], path[128], hex[41];
    if (object->build_id_size < 2 || !pug_perf_cache(perf, root, sizeof(root)))
        return false;
    pug_perf_hex(object->build_id, object->build_id_size, hex);
    snprintf(path, sizeof(path), "/.build-id/%.2s/%s/%s", hex, hex + 2, file);
    if (try_below(perf, number, root, path))
        return true;
    snprintf(path, sizeof(path), "/.build-id/%.2s/%s", hex, hex + 2);
    return try_below(perf, number, root, path);
}

const char *pug_perf_symfs(const struct pug_perf *perf)
{
    const char *symfs = perf->capture->options.roots.symfs;
    return symfs && *symfs ? symfs : perf->capture->options.confine ? NULL : "/";
}

bool pug_perf_try_symfs(struct pug_perf *perf, uint32_t object, const char *path)
{
    return try_below(perf, object, pug_perf_symfs(perf), path);
}

/* ---- debuginfod ---- */

/** What debuginfod-find prints: the path of a file in its cache; false: it found nothing. */
static bool run_debuginfod(const char *urls, const char *hex, char *path, size_t size)
{
#ifdef _WIN32
    (void)urls;
    (void)hex;
    (void)path;
    (void)size;
    return false;
#else
    char variable[4096];
    char program[] = "debuginfod-find", kind[] = "executable";
    char *arguments[] = {program, kind, (char *)(uintptr_t)hex, NULL};
    char **environment, **end = environ;
    int ends[2], status = -1;
    pid_t child;
    while (*end)
        end++;
    environment = calloc((size_t)(end - environ) + 2, sizeof(*environment));
    if (!environment || pipe(ends) != 0) {
        free(environment);
        return false;
    }
    snprintf(variable, sizeof(variable), "DEBUGINFOD_URLS=%s", urls);
    environment[0] = variable;
    for (size_t i = 0, n = 1; environ[i]; i++)
        if (strncmp(environ[i], "DEBUGINFOD_URLS=", 16) != 0)
            environment[n++] = environ[i];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    const bool started =
        posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environment) == 0;
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got = 1; started && got > 0 && length + 1 < size;
         length += got > 0 ? (size_t)got : 0)
        got = read(ends[0], path + length, size - 1 - length);
    close(ends[0]);
    path[length] = 0;
    path[strcspn(path, "\n")] = 0;
    return started && waitpid(child, &status, 0) == child && status == 0 && *path == '/';
#endif
}

static bool try_debuginfod(struct pug_perf *perf, uint32_t number)
{
    const struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    const char *urls = perf->capture->options.roots.debuginfod;
    char hex[41], path[PATH_MAX];
    if (!urls || !*urls || object->build_id_size == 0)
        return false;
    pug_perf_hex(object->build_id, object->build_id_size, hex);
    return run_debuginfod(urls, hex, path, sizeof(path)) && pug_perf_try(perf, number, path, false);
}

/* ---- all together ---- */

static void explain(struct pug_perf *perf, struct pug_capture_object *object)
{
    const char *root = pug_perf_symfs(perf);
    char hex[41];
    if (object->state == PUG_OBJECT_MISSING && object->kind == PUG_OBJECT_MEMORY) {
        object->why = object->why ? object->why : "memory that no file holds";
    } else if (object->state == PUG_OBJECT_MISSING) {
        pug_perf_hex(object->build_id, object->build_id_size, hex);
        object->why = pug_capture_keep_format(
            perf->capture, "not below %s%s; give --symfs DIR, --symdir DIR or --dso %s=FILE%s%s%s",
            root ? root : "a folder that was given",
            object->build_id_size > 0 ? " or in the build id cache" : "", object->path,
            *hex ? " (or --debuginfod URL; build id " : "", hex, *hex ? ")" : "");
    } else if (object->why) {
        object->why = pug_capture_keep_format(perf->capture, "%s; give --dso %s=FILE", object->why,
                                              object->path);
    }
}

/** A module lies in a copy of the kernel's memory, or is placed as the kernel did it. */
static void seek_module(struct pug_perf *perf, uint32_t number, bool found)
{
    const struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    if (!found && pug_perf_take_memory(perf, number))
        return;
    if (!found && pug_perf_details(perf)[number].guest !=
                      PUG_PERF_NO_GUEST) /* its paths are not those of the host */
        found = pug_perf_try_cache(perf, number);
    else if (!found)
        found = pug_perf_try_cache(perf, number) ||
                (*object->path == '/' && pug_perf_try_symfs(perf, number, object->path)) ||
                (*object->path == '[' && pug_perf_try_release(perf, number)) ||
                pug_perf_try_folders(perf, number, NULL);
    if (found &&
        pug_perf_place_module(perf, number, pug_perf_details(perf)[number].program) == PUG_ERR_MEM)
        pug_capture_starve(perf->capture);
}

static void seek_file(struct pug_perf *perf, uint32_t number, bool found)
{
    struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    found = found || pug_perf_try_cache(perf, number) ||
            (*object->path == '/' && pug_perf_try_symfs(perf, number, object->path)) ||
            pug_perf_try_folders(perf, number, NULL) || try_debuginfod(perf, number);
    if (found)
        pug_perf_seek_symbols(perf, number);
}

static void seek(struct pug_perf *perf, uint32_t number)
{
    struct pug_capture_object *object = pug_capture_objects(perf->capture)[number];
    const bool found = try_replacements(perf, number);
    switch (object->kind) {
    case PUG_OBJECT_MEMORY: pug_perf_seek_jit(perf, number); break;
    case PUG_OBJECT_KERNEL: pug_perf_seek_kernel(perf, number); break;
    case PUG_OBJECT_MODULE: seek_module(perf, number, found); break;
    case PUG_OBJECT_VDSO:
        if (!found && !pug_perf_try_cache(perf, number))
            (void)pug_perf_try_folders(perf, number, "vdso.so");
        break;
    case PUG_OBJECT_FILE: seek_file(perf, number, found); break;
    }
    explain(perf, object);
}

void pug_perf_seek(struct pug_capture *capture, uint32_t object)
{
    struct pug_perf *perf = capture->own;
    struct pug_perf_object *details = &pug_perf_details(perf)[object];
    pthread_mutex_lock(&capture->lock);
    if (!atomic_load_explicit(&details->sought, memory_order_relaxed)) {
        seek(perf, object);
        atomic_store_explicit(&details->sought, true, memory_order_release);
    }
    pthread_mutex_unlock(&capture->lock);
}
