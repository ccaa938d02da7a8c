// SPDX-License-Identifier: MIT
/** @file The names of an object's places, from wherever they are. */
#include "capture/capture.h"

static bool has_functions(struct pug_names_file *file)
{
    struct pug_names_function first;
    return pug_names_function_at(file, 0, &first);
}

static bool is_listed(const struct pug_list *list, uint32_t number)
{
    const uint32_t *numbers = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

/** Was it asked after before? */
static bool was_asked(struct pug_list *asked, uint32_t number)
{
    if (is_listed(asked, number))
        return true;
    uint32_t *place = pug_list_add(asked, sizeof(*place));
    if (place)
        *place = number;
    return false;
}

/** Report once the part of an object's debug information that is not read. */
static void say_unread(struct pug_capture *capture, uint32_t number,
                       const struct pug_names_file *file)
{
    char package[4096];
    if (pug_names_too_large(file) && !was_asked(&capture->too_large, number))
        pug_capture_say(
            capture, PUG_SEV_WARN, PUG_OK,
            "%s: its debug information is left out, since it would become too large when "
            "it is read: lines and inlined functions are not known",
            pug_names_path(file));
    if (!was_asked(&capture->unread, number) && pug_names_unread(file, package, sizeof(package)))
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK,
                        "%s: this build's libdw does not read packages of split debug "
                        "information (elfutils 0.191 does): inlined functions are not known",
                        package);
}

/**
 * Symbols that an object has besides its file's. In memory of a machine, which no kind of capture
 * knows more of, they are the kernel's, if such were given.
 */
static bool find_symbols(struct pug_capture *capture, uint32_t number,
                         struct pug_names_symbols *symbols)
{
    if (capture->ops->symbols)
        return capture->ops->symbols(capture, number, symbols);
    symbols->path = pug_capture_object_at(capture, number)->path;
    symbols->file = capture->options.roots.kallsyms;
    return symbols->file != NULL;
}

/**
 * Open the text of an object's symbols, if one was given; NULL: none. The names know what they
 * found, and files in vain; which texts in memory have none is known here.
 */
static struct pug_names_file *open_told(struct pug_capture *capture, uint32_t number,
                                        struct pug_names *names)
{
    struct pug_names_symbols symbols = {.kind = PUG_NAMES_KALLSYMS};
    struct pug_names_file *file = NULL;
    if (is_listed(&capture->nameless, number) || !find_symbols(capture, number, &symbols))
        return NULL;
    const enum pug_status status = pug_names_open_symbols(names, &symbols, &file);
    if (status == PUG_ERR_FILE && !symbols.file)
        (void)was_asked(&capture->nameless, number);
    return file;
}

bool pug_capture_names(struct pug_capture *capture, uint32_t number, struct pug_names *names,
                       struct pug_names_file **out)
{
    const struct pug_capture_object *object = pug_capture_object_at(capture, number);
    struct pug_names_file *file = NULL, *text = NULL;
    if (!object || !object->path)
        return false;
    /* The file that was taken, whatever its build id; nothing is looked for by the recorded path.
     */
    const char *taken = object->file ? object->file : object->symbols;
    const struct pug_names_wanted wanted = {.path = taken, .file = taken, .debug = object->symbols};
    if (taken && pug_names_open(names, &wanted, &file) != PUG_OK)
        file = NULL;
    if (!file || !has_functions(file))
        text = open_told(capture, number, names);
    if (text)
        file = text;
    else if (file)
        say_unread(capture, number, file);
    *out = file;
    return file != NULL;
}
