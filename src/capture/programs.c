// SPDX-License-Identifier: MIT
/** @file The program as the options give it: files that lie at one place for everybody. */
#include "capture/capture.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/** Why a file of program memory could not be taken. */
static const char *trouble(const char *path, enum pug_status status)
{
    if (status == PUG_ERR_FORMAT)
        return "not an ELF file, or a damaged one";
    if (status != PUG_ERR_FILE)
        return pug_status_text(status);
    return access(path, R_OK) == 0 ? "not a file, or an empty one" : strerror(errno);
}

static enum pug_status add(const struct pug_capture_program *program, uint64_t address,
                           struct pug_image *image)
{
    const struct pug_place place = {
        .space = PUG_SPACE_ANY, .has_source = program->has_source, .source = program->source};
    const struct pug_region whole = {.address = address};
    return program->plain ? pug_image_add_file(image, &place, program->path, &whole, 1)
                          : pug_image_add_elf(image, &place, program->path, address);
}

enum pug_status pug_capture_add_programs(struct pug_capture *capture, struct pug_image *image,
                                         const struct pug_settings *transport)
{
    /* The setting "alias": code runs there, too, that is linked for lower addresses. */
    const uint64_t alias = pug_settings_number(transport, "alias", 0);
    for (size_t i = 0; i < capture->options.program_count; i++) {
        const struct pug_capture_program *program = &capture->options.programs[i];
        enum pug_status status = add(program, program->address, image);
        if (status == PUG_OK && alias && !program->plain)
            status = add(program, program->address + alias, image);
        if (status != PUG_OK) {
            pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: cannot use as a %s: %s",
                            program->path, program->plain ? "memory image" : "program",
                            trouble(program->path, status));
            return status;
        }
    }
    return PUG_OK;
}
