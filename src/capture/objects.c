// SPDX-License-Identifier: MIT
/** @file Objects by the names that users have for them. */
#include "capture/capture.h"

#include <string.h>

static bool is_path(const char *path, const char *name)
{
    const size_t length = strlen(path), wanted = strlen(name);
    if (wanted == 0 || length < wanted || strcmp(path + length - wanted, name) != 0)
        return false;
    return length == wanted || name[0] == '/' || path[length - wanted - 1] == '/';
}

static bool is_build_id(const uint8_t *build_id, unsigned size, const char *name)
{
    if (size == 0 || strlen(name) != 2 * (size_t)size)
        return false;
    for (unsigned i = 0; i < 2 * size; i++)
        if (name[i] != "0123456789abcdef"[build_id[i / 2] >> (i % 2 ? 0 : 4) & 15])
            return false;
    return true;
}

bool pug_object_is(const char *path, const uint8_t *build_id, unsigned size, const char *name)
{
    return is_path(path, name) || is_build_id(build_id, size, name);
}

/** Its build id as it was recorded or, where it was not, as its file has it. */
static bool has_build_id(struct pug_capture *capture, uint32_t number, struct pug_names *names,
                         const char *name)
{
    const struct pug_capture_object *object = pug_capture_object_at(capture, number);
    struct pug_names_file *file;
    const uint8_t *build_id;
    if (object->build_id_size > 0)
        return is_build_id(object->build_id, object->build_id_size, name);
    if (!pug_capture_names(capture, number, names, &file))
        return false;
    const size_t size = pug_names_build_id(file, &build_id);
    return is_build_id(build_id, (unsigned)size, name);
}

const char *pug_capture_object_called(struct pug_capture *capture, const char *name)
{
    const char *found = NULL;
    for (size_t n = 0; n < capture->objects.count; n++)
        if (is_path(pug_capture_objects(capture)[n]->path, name))
            return pug_capture_objects(capture)[n]->path;
    if (*name == 0 || name[strspn(name, "0123456789abcdef")] != 0)
        return NULL;
    struct pug_names *names = pug_names_new(NULL);
    for (uint32_t n = 0; names && !found && n < capture->objects.count; n++)
        if (has_build_id(capture, n, names, name))
            found = pug_capture_objects(capture)[n]->path;
    pug_names_free(names);
    return found;
}
