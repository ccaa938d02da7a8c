// SPDX-License-Identifier: MIT
/** @file Names: files that were asked for, and where they are looked for. */
#include "names/names.h"

#include "files/infile.h"
#include "files/roots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT      ((size_t)256 << 20)
#define TEXT_LIMIT ((size_t)1 << 30)

/* ---- the object ---- */

static bool copy_list(char ***to, size_t *count, const char *const *from, size_t wanted)
{
    *to = calloc(wanted + 1, sizeof(**to));
    if (!*to)
        return false;
    for (*count = 0; *count < wanted; ++*count)
        if (!((*to)[*count] = strdup(from[*count])))
            return false;
    return true;
}

static void free_list(char **list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        free(list[i]);
    free(list);
}

struct pug_names *pug_names_new(const struct pug_names_options *options)
{
    static const struct pug_names_options none = {0};
    char debug_dir[4096];
    const char *const debug_dirs[] = {debug_dir};
    const struct pug_names_options *o = options ? options : &none;
    struct pug_names *names = calloc(1, sizeof(*names));
    if (!names)
        return NULL;
    names->limit = o->limit ? o->limit : LIMIT;
    names->symfs = strdup(o->symfs ? o->symfs : "");
    const int length = snprintf(debug_dir, sizeof(debug_dir), "%s/usr/lib/debug",
                                o->symfs && strcmp(o->symfs, "/") != 0 ? o->symfs : "");
    bool good = names->symfs && length > 0 && (size_t)length < sizeof(debug_dir) &&
                copy_list(&names->symdirs, &names->symdir_count, o->symdirs, o->symdir_count);
    if (good && o->debug_dir_count > 0)
        good = copy_list(&names->debug_dirs, &names->debug_dir_count, o->debug_dirs,
                         o->debug_dir_count);
    else if (good)
        good = copy_list(&names->debug_dirs, &names->debug_dir_count, debug_dirs, 1);
    if (good)
        return names;
    pug_names_free(names);
    return NULL;
}

static void free_file(struct pug_names_file *file)
{
    if (!file)
        return;
    pug_names_dwarf_free(file->dwarf);
    pug_names_elf_close(file->elf);
    free(file->wanted);
    free(file->path);
    free(file->debug);
    free(file->text);
    if (!file->shared)
        free(file->symbols.items);
    free(file->data.items);
    free(file->segments);
    free(file->code);
    free(file);
}

static void free_missing(struct names_missing *missing)
{
    if (!missing)
        return;
    free(missing->path);
    free(missing->file);
    free(missing);
}

void pug_names_free(struct pug_names *names)
{
    if (!names)
        return;
    while (names->missing) {
        struct names_missing *next = names->missing->next;
        free_missing(names->missing);
        names->missing = next;
    }
    while (names->files) {
        struct pug_names_file *next = names->files->next;
        free_file(names->files);
        names->files = next;
    }
    pug_names_strings_free(&names->strings);
    free_list(names->symdirs, names->symdir_count);
    free_list(names->debug_dirs, names->debug_dir_count);
    free(names->symfs);
    free(names->readable);
    free(names);
}

bool pug_names_failure(const struct pug_names *names, struct pug_read_failure *failure)
{
    if (!names)
        return false;
    *failure = names->unread;
    if (names->starved || names->strings.starved)
        *failure = (struct pug_read_failure){.path = "names", .status = PUG_ERR_MEM};
    return failure->status != PUG_OK;
}

const char *pug_names_left_out(const struct pug_names *names)
{
    for (const struct pug_names_file *file = names ? names->files : NULL; file; file = file->next)
        if (file->overfull)
            return file->path;
    return NULL;
}

enum pug_status pug_names_status(const struct pug_names *names)
{
    struct pug_read_failure failure;
    return pug_names_failure(names, &failure) ? failure.status : PUG_OK;
}

/* ---- opening ---- */

static struct pug_names_file *new_file(struct pug_names *names, const char *wanted)
{
    struct pug_names_file *file = calloc(1, sizeof(*file));
    if (file)
        file->wanted = strdup(wanted);
    names->starved |= !file || !file->wanted;
    if (file && file->wanted) {
        file->names = names;
        return file;
    }
    free_file(file);
    return NULL;
}

static void keep(struct pug_names *names, struct pug_names_file *file)
{
    file->next = names->files;
    names->files = file;
    names->last = NULL; /* the new one comes first */
}

static bool is_wanted(const struct pug_names_file *file, const struct pug_names_wanted *wanted)
{
    const uint8_t *id = wanted->build_id ? wanted->build_id : file->wanted_id;
    return strcmp(file->wanted, wanted->path) == 0 &&
           (!file->path || (file->wanted_id_size == wanted->build_id_size &&
                            memcmp(file->wanted_id, id, file->wanted_id_size) == 0));
}

static struct pug_names_file *known_file(struct pug_names *names,
                                         const struct pug_names_wanted *wanted)
{
    struct pug_names_file *file = names->last;
    if (file && is_wanted(file, wanted))
        return file;
    for (file = names->files; file && !is_wanted(file, wanted);)
        file = file->next;
    if (file)
        names->last = file;
    return file;
}

/* ---- what is not there ---- */

static bool same_missing(const struct names_missing *a, const struct names_missing *b)
{
    const char *left = a->file ? a->file : "", *right = b->file ? b->file : "";
    return a->text == b->text && a->id_size == b->id_size &&
           memcmp(a->id, b->id, a->id_size) == 0 && strcmp(a->path, b->path) == 0 &&
           strcmp(left, right) == 0;
}

/** Returns why the file is missing; PUG_OK: it was not searched for yet. */
static enum pug_status why_missing(struct pug_names *names, const struct names_missing *wanted)
{
    for (struct names_missing **at = &names->missing; *at; at = &(*at)->next) {
        struct names_missing *found = *at;
        if (!same_missing(found, wanted))
            continue;
        *at = found->next;
        found->next = names->missing;
        names->missing = found;
        return found->status;
    }
    return PUG_OK;
}

/** Keep the result of the search. The next call gets the same answer, where memory allows. */
static enum pug_status keep_missing(struct pug_names *names, const struct names_missing *wanted,
                                    enum pug_status status)
{
    struct names_missing *kept =
        status == PUG_OK || status == PUG_ERR_MEM ? NULL : malloc(sizeof(*kept));
    if (!kept)
        return status;
    *kept = *wanted;
    kept->status = status;
    kept->path = strdup(wanted->path);
    kept->file = wanted->file ? strdup(wanted->file) : NULL;
    if (!kept->path || (wanted->file && !kept->file)) {
        free_missing(kept);
        return status;
    }
    kept->next = names->missing;
    names->missing = kept;
    return status;
}

/* ---- looking for files ---- */

/* Try a path made of a folder and a rest. */
static enum pug_status try_below(struct pug_names_file *file, const char *folder, const char *rest)
{
    char path[4096];
    const bool slash = *folder && folder[strlen(folder) - 1] != '/' && *rest != '/';
    if (snprintf(path, sizeof(path), "%s%s%s", folder, slash ? "/" : "", rest) >= (int)sizeof(path))
        return PUG_ERR_FILE;
    return pug_names_elf_open(file, path);
}

/** A recorded path, wherever its links lead below that folder, and nowhere else. */
static enum pug_status try_root(struct pug_names_file *file, const char *root, const char *recorded)
{
    char path[4096];
    return pug_root_resolve_packed(root, recorded, path, sizeof(path)) > 0
               ? pug_names_elf_open(file, path)
               : PUG_ERR_FILE;
}

static enum pug_status look_for(struct pug_names_file *file, const struct pug_names_wanted *wanted)
{
    struct pug_names *names = file->names;
    const char *slash = strrchr(wanted->path, '/'), *last = slash ? slash + 1 : wanted->path;
    enum pug_status status = PUG_ERR_FILE;
    if (wanted->file)
        status = pug_names_elf_open(file, wanted->file);
    if (status == PUG_ERR_FILE && wanted->file && errno != 0 && errno != ENOENT &&
        errno != ENOTDIR && names->unread.status == PUG_OK)
        names->unread = (struct pug_read_failure){
            .path = pug_names_keep(names, wanted->file, strlen(wanted->file)),
            .status = status,
            .reason = errno};
    if (status == PUG_ERR_FILE && *names->symfs)
        status = try_root(file, names->symfs, wanted->path);
    for (size_t i = 0; i < names->symdir_count && status == PUG_ERR_FILE; i++)
        status = try_below(file, names->symdirs[i], last);
    if (status == PUG_ERR_FILE && !*names->symfs && *wanted->path == '/')
        status = pug_names_elf_open(file, wanted->path);
    if (status == PUG_ERR_FILE && !*names->symfs && !slash && !wanted->file)
        status = pug_names_elf_open(file, wanted->path);
    return status;
}

/** Open a file for the first time. */
static enum pug_status open_new(struct pug_names *names, const struct pug_names_wanted *wanted,
                                struct pug_names_file **out)
{
    struct pug_names_file *file = new_file(names, wanted->path);
    if (!file)
        return PUG_ERR_MEM;
    file->wanted_id_size = wanted->build_id_size;
    if (wanted->build_id_size > 0)
        memcpy(file->wanted_id, wanted->build_id, wanted->build_id_size);
    file->debug = wanted->debug ? strdup(wanted->debug) : NULL;
    errno = 0; /* libelf and libdw do not always say why they found nothing */
    enum pug_status status = look_for(file, wanted);
    const bool starved =
        status == PUG_ERR_MEM || errno == ENOMEM || (wanted->debug && !file->debug);
    names->starved |= starved;
    if (status != PUG_OK) {
        free_file(file);
        return starved ? PUG_ERR_MEM : status;
    }
    keep(names, file);
    *out = file;
    return PUG_OK;
}

enum pug_status pug_names_open(struct pug_names *names, const struct pug_names_wanted *wanted,
                               struct pug_names_file **out)
{
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    if (!names || !wanted || !wanted->path ||
        wanted->build_id_size > sizeof(names->files->wanted_id))
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = known_file(names, wanted);
    if (*out)
        return PUG_OK;
    struct names_missing missing = {.path = (char *)wanted->path,
                                    .file = (char *)wanted->file,
                                    .id_size = wanted->build_id_size};
    if (wanted->build_id_size > 0)
        memcpy(missing.id, wanted->build_id, wanted->build_id_size);
    const enum pug_status known = why_missing(names, &missing);
    return known != PUG_OK ? known : keep_missing(names, &missing, open_new(names, wanted, out));
}

static struct pug_names_file *known_text(const struct pug_names *names, const char *path)
{
    struct pug_names_file *file = names->files;
    while (file && (file->path || strcmp(file->wanted, path) != 0))
        file = file->next;
    return file;
}

/** The symbols of a text that is in memory. */
static enum pug_status take_text(struct pug_names *names, const struct pug_names_symbols *wanted,
                                 const char *text, struct pug_names_file **out)
{
    struct pug_names_file *file = new_file(names, wanted->path);
    enum pug_status status = PUG_OK;
    if (!file || !pug_names_symbols_text(&file->symbols, &names->strings, wanted, text))
        status = PUG_ERR_MEM;
    else if (file->symbols.count == 0)
        status = PUG_ERR_FILE;
    names->starved |= status == PUG_ERR_MEM;
    if (status != PUG_OK) {
        free_file(file);
        return status;
    }
    keep(names, file);
    *out = file;
    return PUG_OK;
}

/** Are all symbols of a text wanted, as they stand there? */
static bool is_whole(const struct pug_names_symbols *wanted)
{
    return !wanted->module && wanted->moved == 0;
}

/** A file that has all symbols of the same text; NULL: none. */
static const struct pug_names_file *same_text(const struct pug_names *names,
                                              const struct pug_names_symbols *wanted)
{
    const struct pug_names_file *file = names->files;
    while (file && (!file->text || file->text_kind != wanted->kind ||
                    strcmp(file->text, wanted->file) != 0))
        file = file->next;
    return file;
}

/** A machine's memory is many files, which a text of its kernel's symbols is for. */
static enum pug_status share_text(struct pug_names *names, const struct pug_names_symbols *wanted,
                                  const struct pug_names_file *from, struct pug_names_file **out)
{
    struct pug_names_file *file = new_file(names, wanted->path);
    if (!file)
        return PUG_ERR_MEM;
    file->symbols = from->symbols;
    file->shared = true;
    keep(names, file);
    *out = file;
    return PUG_OK;
}

/** The symbols of a text file. */
static enum pug_status load_text(struct pug_names *names, const struct pug_names_symbols *wanted,
                                 struct pug_names_file **out)
{
    uint8_t *text;
    size_t size;
    const struct pug_names_file *same = is_whole(wanted) ? same_text(names, wanted) : NULL;
    if (same)
        return share_text(names, wanted, same, out);
    enum pug_status status = pug_infile_load(wanted->file, TEXT_LIMIT, &text, &size);
    names->starved |= status == PUG_ERR_MEM;
    if (status != PUG_OK)
        return status == PUG_ERR_MEM ? status : PUG_ERR_FILE;
    status = take_text(names, wanted, (const char *)text, out);
    free(text);
    if (status == PUG_OK && is_whole(wanted)) { /* without memory each file has its own */
        (*out)->text = strdup(wanted->file);
        (*out)->text_kind = wanted->kind;
    }
    return status;
}

enum pug_status pug_names_open_symbols(struct pug_names *names,
                                       const struct pug_names_symbols *wanted,
                                       struct pug_names_file **file)
{
    if (!file)
        return PUG_ERR_INVALID_PARAM_VAL;
    *file = NULL;
    if (!names || !wanted || !wanted->path || (!wanted->file && !wanted->text))
        return PUG_ERR_INVALID_PARAM_VAL;
    *file = known_text(names, wanted->path);
    if (*file)
        return PUG_OK;
    if (!wanted->file)
        return take_text(names, wanted, wanted->text, file);
    const struct names_missing missing = {
        .path = (char *)wanted->path, .file = (char *)wanted->file, .text = true};
    const enum pug_status known = why_missing(names, &missing);
    return known != PUG_OK ? known : keep_missing(names, &missing, load_text(names, wanted, file));
}

enum pug_status pug_names_open_text(struct pug_names *names, enum pug_names_text kind,
                                    const char *path, const char *text_path,
                                    struct pug_names_file **out)
{
    const struct pug_names_symbols wanted = {.kind = kind, .path = path, .file = text_path};
    return pug_names_open_symbols(names, &wanted, out);
}

/* ---- asking ---- */

static void tell(const struct names_symbol *symbol, struct pug_names_function *function)
{
    *function = (struct pug_names_function){.name = symbol->name,
                                            .start = symbol->start,
                                            .size = symbol->end - symbol->start,
                                            .binding = symbol->binding,
                                            .label = symbol->label};
}

bool pug_names_function(struct pug_names_file *file, uint64_t vaddr,
                        struct pug_names_function *function)
{
    const struct names_symbol *symbol = pug_names_symbols_find(&file->symbols, vaddr);
    if (symbol)
        tell(symbol, function);
    return symbol != NULL;
}

bool pug_names_function_at(struct pug_names_file *file, size_t n,
                           struct pug_names_function *function)
{
    if (n >= file->symbols.count)
        return false;
    tell(&file->symbols.items[n], function);
    return true;
}

struct names_dwarf *pug_names_dwarf_of(struct pug_names_file *file)
{
    if (!file->dwarf_read && file->elf)
        file->dwarf = pug_names_dwarf_new(file);
    file->dwarf_read = true;
    return file->dwarf;
}

bool pug_names_line(struct pug_names_file *file, uint64_t vaddr, struct pug_names_line *line)
{
    struct names_dwarf *dwarf = pug_names_dwarf_of(file);
    return dwarf && pug_names_dwarf_line(dwarf, vaddr, line);
}

enum pug_status pug_names_lines(struct pug_names_file *file,
                                bool (*take)(void *context, const struct pug_names_line *line),
                                void *context)
{
    if (!file || !take)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct names_dwarf *dwarf = pug_names_dwarf_of(file);
    return dwarf ? pug_names_dwarf_lines(dwarf, take, context) : PUG_ERR_NOT_FOUND;
}

bool pug_names_has_lines(struct pug_names_file *file)
{
    return pug_names_dwarf_of(file) != NULL;
}

size_t pug_names_frames(struct pug_names_file *file, uint64_t vaddr, struct pug_names_frame *frames,
                        size_t room)
{
    struct names_dwarf *dwarf = pug_names_dwarf_of(file);
    struct pug_names_line line;
    size_t count = dwarf ? pug_names_dwarf_frames(dwarf, vaddr, frames, room) : 0;
    const struct names_symbol *symbol =
        count == 0 && room > 0 ? pug_names_symbols_find(&file->symbols, vaddr) : NULL;
    if (!symbol)
        return count;
    /* assembly: lines, but no functions; or no debug information at all */
    frames[0] = (struct pug_names_frame){.function = symbol->name};
    if (dwarf && pug_names_dwarf_line(dwarf, vaddr, &line)) {
        frames[0].path = line.path;
        frames[0].line = line.line;
        frames[0].discriminator = line.discriminator;
    }
    if (dwarf && pug_names_dwarf_line(dwarf, symbol->start, &line)) {
        frames[0].declared = line.line;
        frames[0].declared_path = line.path;
    }
    return 1;
}

const char *pug_names_path(const struct pug_names_file *file)
{
    return file->path;
}

size_t pug_names_segments(const struct pug_names_file *file,
                          const struct pug_names_segment **segments)
{
    *segments = file->segments;
    return file->segment_count;
}

size_t pug_names_build_id(const struct pug_names_file *file, const uint8_t **build_id)
{
    *build_id = file->build_id;
    return file->build_id_size;
}

uint16_t pug_names_machine(const struct pug_names_file *file)
{
    return file->machine;
}

bool pug_names_code_at(struct pug_names_file *file, size_t n, struct pug_names_code *code)
{
    if (n >= file->code_count)
        return false;
    *code = file->code[n];
    return true;
}
