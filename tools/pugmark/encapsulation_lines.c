// SPDX-License-Identifier: MIT
#include "encapsulation_lines.h"

#include "pugmark/transport.h"

#include <stdlib.h>
#include <string.h>

struct encapsulation_lines {
    struct pug_tree *tree;
    struct pug_encapsulation *reader; /* knows the settings */
    encapsulation_lines_fn *print;
    void *context;
};

/** The transport shows each packet as it was read, in front of its payload. */
static void on_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                     uint16_t source, const uint8_t *bytes, size_t size)
{
    const struct encapsulation_lines *lines = context;
    struct pug_encapsulation_packet packet;
    (void)source;
    if (op == PUG_OP_DATA && kind == PUG_FRAME_PACKED &&
        pug_encapsulation_parse(lines->reader, index, bytes, size, &packet))
        lines->print(lines->context, &packet);
}

struct encapsulation_lines *encapsulation_lines_new(const struct input *input,
                                                    encapsulation_lines_fn *print, void *context)
{
    if (strcmp(pug_transport_name(pug_tree_transport(input->tree)), "encapsulation") != 0)
        return NULL;
    /* Those of a parameter file are with its sources'. */
    const struct pug_capture_source *source = pug_capture_source_at(input->capture, 0);
    const struct pug_settings settings =
        source && source->settings ? *source->settings : (struct pug_settings){0};
    struct encapsulation_lines *lines = calloc(1, sizeof(*lines));
    if (!lines)
        return NULL;
    lines->tree = input->tree;
    lines->print = print;
    lines->context = context;
    if (pug_encapsulation_new(&settings, NULL, &lines->reader) != PUG_OK) {
        free(lines);
        return NULL;
    }
    pug_tree_on_frames(lines->tree, on_frame, lines, 1);
    return lines;
}

void encapsulation_lines_free(struct encapsulation_lines *lines)
{
    if (!lines)
        return;
    pug_tree_on_frames(lines->tree, NULL, NULL, 0);
    pug_encapsulation_free(lines->reader);
    free(lines);
}
