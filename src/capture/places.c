// SPDX-License-Identifier: MIT
/** @file The lines and functions of addresses: in an image, or as a capture's task had it then. */
#include "capture/capture.h"

/** Names of the file; NULL: it has none, or is not to be read. */
static struct pug_names_file *open_program(struct pug_names *names,
                                           const struct pug_program_place *place)
{
    struct pug_names_file *file;
    const struct pug_names_wanted wanted = {.path = place->file, .file = place->file};
    return pug_names_open(names, &wanted, &file) == PUG_OK ? file : NULL;
}

/** A line's addresses are the file's own: here they become those of memory. */
static bool line_at(struct pug_names_file *file, uint64_t address, uint64_t vaddr,
                    struct pug_names_line *line)
{
    if (!file || !pug_names_line(file, vaddr, line))
        return false;
    line->start += address - vaddr;
    line->end += address - vaddr;
    return true;
}

bool pug_image_line(const struct pug_image *image, const struct pug_reader_space *space,
                    uint64_t address, struct pug_names *names, struct pug_names_line *line,
                    struct pug_program_place *place)
{
    struct pug_program_place own;
    struct pug_program_place *at = place ? place : &own;
    return names && line && pug_image_program_at(image, space, address, at) &&
           line_at(open_program(names, at), address, at->vaddr, line);
}

size_t pug_image_frames(const struct pug_image *image, const struct pug_reader_space *space,
                        uint64_t address, struct pug_names *names, struct pug_names_frame *frames,
                        size_t room, struct pug_program_place *place)
{
    struct pug_program_place own;
    struct pug_program_place *at = place ? place : &own;
    struct pug_names_file *file =
        names && pug_image_program_at(image, space, address, at) ? open_program(names, at) : NULL;
    return file ? pug_names_frames(file, at->vaddr, frames, room) : 0;
}

/* ---- captures ---- */

static struct pug_names_file *file_at(struct pug_capture *capture, const struct pug_origin *origin,
                                      uint64_t address, struct pug_names *names,
                                      struct pug_location *location)
{
    struct pug_names_file *file;
    return names && pug_capture_locate(capture, origin, address, location) &&
                   pug_capture_names(capture, location->object, names, &file)
               ? file
               : NULL;
}

bool pug_capture_line(struct pug_capture *capture, const struct pug_origin *origin,
                      uint64_t address, struct pug_names *names, struct pug_names_line *line,
                      struct pug_location *location)
{
    struct pug_location own;
    struct pug_location *at = location ? location : &own;
    struct pug_names_file *file = line ? file_at(capture, origin, address, names, at) : NULL;
    return file && line_at(file, address, at->vaddr, line);
}

size_t pug_capture_frames(struct pug_capture *capture, const struct pug_origin *origin,
                          uint64_t address, struct pug_names *names, struct pug_names_frame *frames,
                          size_t room, struct pug_location *location)
{
    struct pug_location own;
    struct pug_location *at = location ? location : &own;
    struct pug_names_file *file = file_at(capture, origin, address, names, at);
    return file ? pug_names_frames(file, at->vaddr, frames, room) : 0;
}
