// SPDX-License-Identifier: MIT
/** @file What the places of a profile are called. */
#include "export/export.h"

#include "pugmark/names.h"

#include <inttypes.h>
#include <stdio.h>

struct pug_names_file *pug_export_file(const struct exporter *exporter, uint32_t number)
{
    struct pug_names_file *file;
    if (!exporter->options->names || number == PUG_PROFILE_NONE)
        return NULL;
    const struct pug_profile_object *object = export_object(exporter, number);
    const struct pug_names_wanted wanted = {.path = object->path,
                                            .file = object->file,
                                            .build_id = object->build_id,
                                            .build_id_size = object->build_id_size};
    return pug_names_open(exporter->options->names, &wanted, &file) == PUG_OK ? file : NULL;
}

void pug_export_function(const struct exporter *exporter, uint32_t object, uint64_t vaddr,
                         struct export_function_name *name)
{
    struct pug_names_file *file = pug_export_file(exporter, object);
    struct pug_names_function function;
    name->known = file && pug_names_function(file, vaddr, &function);
    name->start = name->known ? function.start : vaddr;
    if (name->known) {
        name->name = function.name;
        return;
    }
    snprintf(name->own, sizeof(name->own), "[%" PRIx64 "]", vaddr);
    name->name = name->own;
}

const char *pug_export_readable(const struct exporter *exporter, const char *name)
{
    if (exporter->options->mangled || !exporter->options->names)
        return name;
    const char *readable = pug_names_readable(exporter->options->names, name);
    return readable ? readable : name;
}
