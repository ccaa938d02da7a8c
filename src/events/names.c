// SPDX-License-Identifier: MIT
#include "events/names.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** The variable of an access; the last ones are kept. */
struct watched {
    bool used, known;
    uint32_t address;
    struct pug_names_file *file;
    struct pug_names_variable variable;
};

#define WATCHED 64u

struct swo_names {
    struct swo_sources *sources;
    struct pug_names *names; /* or NULL */
    struct watched watched[WATCHED];
};

struct swo_names *pug_swo_names_new(struct swo_sources *sources, struct pug_names *names)
{
    struct swo_names *swo = calloc(1, sizeof(*swo));
    if (swo)
        *swo = (struct swo_names){.sources = sources, .names = names};
    return swo;
}

void pug_swo_names_free(struct swo_names *swo)
{
    free(swo);
}

/** In whichever of the capture's programs has the variable. */
static void look_up(struct swo_names *swo, struct watched *watched)
{
    struct pug_capture *capture = swo->sources->capture;
    for (uint32_t n = 0; !watched->known && pug_capture_object_at(capture, n); n++)
        watched->known = pug_capture_names(capture, n, swo->names, &watched->file) &&
                         pug_names_variable(watched->file, watched->address, &watched->variable);
}

/** The variable that an access was of; NULL: it is not known. */
static const struct watched *watched_by(struct swo_names *swo, const struct pug_dwt_event *event)
{
    if (!swo->names || !event->has_address || event->address_size < 4)
        return NULL;
    struct watched *watched = &swo->watched[(event->address >> 2) % WATCHED];
    if (!watched->used || watched->address != event->address) {
        *watched = (struct watched){.used = true, .address = event->address};
        look_up(swo, watched);
    }
    return watched->known ? watched : NULL;
}

static void put_place(struct pug_text *text, const struct watched *watched,
                      const struct pug_dwt_event *event)
{
    if (watched)
        pug_text_put(text, watched->variable.name);
    else if (event->has_address)
        pug_text_format(text, "0x%0*" PRIx32, 2 * event->address_size, event->address);
    else
        pug_text_format(text, "comparator %u", event->comparator);
}

void pug_swo_names_place(struct swo_names *swo, const struct pug_dwt_event *event, char *text,
                         size_t size)
{
    struct pug_text out = PUG_TEXT(text, size);
    put_place(&out, watched_by(swo, event), event);
    pug_text_end(&out);
}

void pug_swo_names_type(struct swo_names *swo, const struct pug_dwt_event *event, char *text,
                        size_t size)
{
    const struct watched *watched = watched_by(swo, event);
    struct pug_text out = PUG_TEXT(text, size);
    if (watched)
        pug_text_put(&out, watched->variable.type);
    pug_text_end(&out);
}

/* ---- values ---- */

static int32_t signed_value(const struct pug_dwt_event *event)
{
    const unsigned bits = 8u * event->size;
    if (bits == 0 || bits >= 32 || !(event->value >> (bits - 1) & 1))
        return (int32_t)event->value;
    return (int32_t)(event->value | ~((UINT32_C(1) << bits) - 1));
}

static void put_char(struct pug_text *text, const struct pug_dwt_event *event, bool is_signed)
{
    if (is_signed)
        pug_text_format(text, "%" PRId32, signed_value(event));
    else
        pug_text_format(text, "%" PRIu32, event->value);
    if (event->size == 1 && event->value >= 0x20 && event->value < 0x7f)
        pug_text_format(text, " '%c'", (char)event->value);
}

static void put_float(struct pug_text *text, const struct pug_dwt_event *event)
{
    float value;
    memcpy(&value, &event->value, sizeof(value));
    if (event->size == 4)
        pug_text_format(text, "%.9g", (double)value);
    else
        pug_text_format(text, "0x%" PRIx32, event->value);
}

static void put_value(struct pug_text *text, const struct watched *watched,
                      const struct pug_dwt_event *event)
{
    const char *name;
    switch (watched ? watched->variable.encoding : PUG_NAMES_NO_ENCODING) {
    case PUG_NAMES_SIGNED: pug_text_format(text, "%" PRId32, signed_value(event)); break;
    case PUG_NAMES_UNSIGNED: pug_text_format(text, "%" PRIu32, event->value); break;
    case PUG_NAMES_UNSIGNED_CHAR: put_char(text, event, false); break;
    case PUG_NAMES_SIGNED_CHAR: put_char(text, event, true); break;
    case PUG_NAMES_BOOL:
        pug_text_put(text, event->value == 0 ? "false" : event->value == 1 ? "true" : "");
        if (event->value > 1)
            pug_text_format(text, "%" PRIu32, event->value);
        break;
    case PUG_NAMES_FLOAT: put_float(text, event); break;
    case PUG_NAMES_POINTER: pug_text_format(text, "0x%08" PRIx32, event->value); break;
    case PUG_NAMES_ENUM:
        name = pug_names_enumerator(watched->file, &watched->variable, signed_value(event));
        if (name)
            pug_text_put(text, name);
        else
            pug_text_format(text, "%" PRId32, signed_value(event));
        break;
    default:
        if (event->value < 10)
            pug_text_format(text, "%" PRIu32, event->value);
        else
            pug_text_format(text, "0x%" PRIx32, event->value);
    }
}

void pug_swo_names_value(struct swo_names *swo, const struct pug_dwt_event *event, char *text,
                         size_t size)
{
    struct pug_text out = PUG_TEXT(text, size);
    if (event->has_value)
        put_value(&out, watched_by(swo, event), event);
    pug_text_end(&out);
}

bool pug_swo_names_number(struct swo_names *swo, const struct pug_dwt_event *event, int64_t *number)
{
    const struct watched *watched = watched_by(swo, event);
    const uint8_t encoding = watched ? watched->variable.encoding : (uint8_t)PUG_NAMES_NO_ENCODING;
    const bool is_signed = encoding == PUG_NAMES_SIGNED || encoding == PUG_NAMES_SIGNED_CHAR ||
                           encoding == PUG_NAMES_ENUM;
    *number = is_signed ? signed_value(event) : (int64_t)event->value;
    return event->has_value && encoding != PUG_NAMES_FLOAT;
}

/* ---- events ---- */

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/** "motor.c:81", else the function, else the address. */
static void put_line(struct pug_text *text, struct swo_names *swo,
                     const struct pug_dwt_event *event)
{
    const struct pug_image *image = pug_swo_sources_vectors(swo->sources, event->source)->image;
    const struct pug_reader_space reader = {.space = PUG_SPACE_ANY, .source = event->source};
    const uint32_t pc = event->pc;
    struct pug_names_line line;
    struct pug_symbol symbol;
    if (image && swo->names && pug_image_line(image, &reader, pc, swo->names, &line, NULL) &&
        line.path)
        pug_text_format(text, "%s:%" PRIu32, last_component(line.path), line.line);
    else if (image && pug_image_symbol(image, pc, &symbol))
        pug_text_format(text, "%s+0x%" PRIx64, symbol.name, pc - symbol.start);
    else
        pug_text_format(text, "0x%08" PRIx32, pc);
}

static void put_access(struct pug_text *text, struct swo_names *swo,
                       const struct pug_dwt_event *event)
{
    const struct watched *watched = watched_by(swo, event);
    put_place(text, watched, event);
    if (event->has_value) {
        pug_text_put(text, " = ");
        put_value(text, watched, event);
        if (!event->write)
            pug_text_put(text, " (read)");
    } else {
        pug_text_put(text, " accessed");
    }
    if (event->has_pc) {
        pug_text_put(text, " at ");
        put_line(text, swo, event);
    }
}

void pug_swo_names_event(struct swo_names *swo, const struct pug_dwt_event *event, char *text,
                         size_t size)
{
    static const char *const actions[] = {"?", "entered", "exited", "returned to"};
    struct pug_text out = PUG_TEXT(text, size);
    char name[256];
    if (event->kind == PUG_DWT_DATA) {
        put_access(&out, swo, event);
    } else if (event->kind == PUG_DWT_EXCEPTION && event->number > 0) {
        pug_vectors_name(pug_swo_sources_vectors(swo->sources, event->source), event->number, name,
                         sizeof(name));
        pug_text_format(&out, "%s %s", name, actions[event->action & 3]);
    } else {
        pug_dwt_text(event, name, sizeof(name));
        pug_text_put(&out, name);
    }
    pug_text_end(&out);
}
