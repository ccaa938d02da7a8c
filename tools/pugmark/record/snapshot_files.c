// SPDX-License-Identifier: MIT
#include "snapshot_files.h"

#include "files/outfile.h"
#include "input/input_lists.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"
#include "recorder/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The work in progress. */
struct writing {
    const struct input *input;
    const char *folder;
    const char *core;
    const struct snapshot_buffer *buffers;
    size_t count;
    bool saved; /* a live input's */
};

static bool fail(const char *what)
{
    message_say("pugmark: %s: %s\n", what, strerror(errno));
    return false;
}

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/** "trace.bin" and "program_0.elf": names in the folder that neither meet nor surprise. */
static void program_name(const struct pug_capture_program *program, size_t n, char *name,
                         size_t size)
{
    snprintf(name, size, "program_%zu_%.200s", n, last_component(program->path));
    for (char *at = name; *at; at++)
        if ((unsigned char)*at <= ' ' || strchr("#;=[]", *at))
            *at = '_';
}

static bool save(const struct writing *writing, struct rec_page *page, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", writing->folder, name);
    return rec_page_save(page, path) || fail(path);
}

/* ---- files that are copied ---- */

static bool copy_file(const struct writing *writing, const char *from, const char *name)
{
    char path[4096], block[1 << 16];
    struct pug_outfile *out;
    snprintf(path, sizeof(path), "%s/%s", writing->folder, name);
    FILE *in = fopen(from, "rb");
    if (!in)
        return fail(from);
    if (pug_outfile_open(path, &out) != PUG_OK) {
        fclose(in);
        return fail(path);
    }
    const struct pug_sink sink = pug_outfile_sink(out);
    for (size_t size; (size = fread(block, 1, sizeof(block), in)) > 0;)
        sink.put(sink.context, block, size);
    const bool read = !ferror(in);
    fclose(in);
    if (!read) {
        pug_outfile_abandon(out);
        return fail(from);
    }
    return pug_outfile_commit(out) == PUG_OK || fail(path);
}

static bool copy_programs(const struct writing *writing)
{
    const struct input *input = writing->input;
    const size_t count = input->options->elf.count + input->options->image.count;
    char name[256];
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        program_name(&input->lists.programs[i], i, name, sizeof(name));
        good = copy_file(writing, input->lists.programs[i].path, name);
    }
    return good;
}

/* ---- descriptions ---- */

/** Programs of all sources, or of this one. */
static void put_programs(const struct writing *writing, uint16_t source, FILE *file)
{
    const struct input *input = writing->input;
    const size_t count = input->options->elf.count + input->options->image.count;
    char name[256];
    unsigned elfs = 0, dumps = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pug_capture_program *program = &input->lists.programs[i];
        if (program->has_source && program->source != source)
            continue;
        program_name(program, i, name, sizeof(name));
        if (program->plain)
            fprintf(file, "\n[dump%u]\nfile=%s\naddress=0x%" PRIx64 "\n", dumps++, name,
                    program->address);
        else
            fprintf(file, "\n[elf%u]\nfile=%s\nbias=0x%" PRIx64 "\n", elfs++, name,
                    program->address);
    }
}

/** Names that a protocol or transport asks for. */
static struct pug_settings watched(const struct pug_settings *settings,
                                   struct pug_settings_watch *watch, struct known *known)
{
    *watch = (struct pug_settings_watch){.asked = known_note, .context = known};
    return (struct pug_settings){settings->items, settings->count, watch};
}

static void put_setting(const struct pug_setting *setting, FILE *file)
{
    if (setting->text)
        fprintf(file, "%s=%s\n", setting->name, setting->text);
    else
        fprintf(file, "%s=0x%" PRIx64 "\n", setting->name, setting->value);
}

/** Those that are asked for, each once; `id`: not these, which a register has. */
static void put_settings(const struct pug_settings *settings, const struct known *known,
                         const char *without, FILE *file)
{
    const struct pug_settings given = {.items = settings->items, .count = settings->count};
    for (size_t i = 0; i < settings->count; i++) {
        const struct pug_setting *setting = &settings->items[i];
        if (known_has(known, setting->name) && strcmp(setting->name, "core") != 0 &&
            (!without || strcmp(setting->name, without) != 0) &&
            pug_settings_find(&given, setting->name) == setting)
            put_setting(setting, file);
    }
}

/** The register that has the trace id; NULL: none, or it is given. */
static const char *id_register(const struct pug_protocol *protocol,
                               const struct pug_settings *settings)
{
    const struct pug_register *wanted =
        protocol->description ? protocol->description->registers : NULL;
    for (; wanted && wanted->name; wanted++)
        if (wanted->need == PUG_REGISTER_ID)
            return pug_settings_find(settings, wanted->name) ? NULL : wanted->name;
    return NULL;
}

/** Those of an ITM and an STM have it above other bits. */
static unsigned id_value(const struct pug_protocol *protocol, unsigned id)
{
    return protocol->description->traces_core ? id : id << 16;
}

static const char *type_of(const struct pug_protocol *protocol)
{
    const struct pug_device_type *types =
        protocol->description ? protocol->description->types : NULL;
    return types && types->reference ? types->reference : protocol->name;
}

/** Has the source a core of its own in the snapshot? Else the programs are the source's. */
static bool has_core(const struct writing *writing, const struct pug_protocol *protocol)
{
    return writing->core && protocol->description && protocol->description->traces_core;
}

static bool write_source(const struct writing *writing, const struct pug_capture_source *source,
                         size_t n)
{
    const struct pug_protocol *protocol = pug_protocol_find(source->protocol);
    const struct pug_settings given = {.items = source->settings->items,
                                       .count = source->settings->count};
    struct known known = {0};
    struct pug_settings_watch watch;
    struct rec_page page;
    void *config = NULL;
    char name[64];
    if (!protocol || !rec_page_open(&page))
        return fail("snapshot");
    const struct pug_settings asking = watched(&given, &watch, &known);
    if (protocol->config_new(&asking, NULL, &config) == PUG_OK)
        protocol->config_free(config);
    fprintf(page.file, "[device]\nname=trace_%zu\nclass=trace_source\ntype=%s\n\n[regs]\n", n,
            type_of(protocol));
    const char *id = id_register(protocol, &given);
    if (id)
        fprintf(page.file, "%s=0x%x\n", id, id_value(protocol, source->id));
    put_settings(&given, &known, id ? "src_id" : NULL, page.file);
    /* What was not guessed while it was read is not guessed later. */
    if (writing->saved && known_has(&known, "begin_at") && !pug_settings_find(&given, "begin_at"))
        fprintf(page.file, "guess_sync=0x0\n");
    if (!has_core(writing, protocol))
        put_programs(writing, source->id, page.file);
    known_free(&known);
    snprintf(name, sizeof(name), "trace_%zu.ini", n);
    bool good = save(writing, &page, name);
    if (!good || !has_core(writing, protocol))
        return good;
    if (!rec_page_open(&page))
        return fail("snapshot");
    fprintf(page.file, "[device]\nname=cpu_%zu\nclass=core\ntype=%s\n\n[regs]\n", n, writing->core);
    put_programs(writing, source->id, page.file);
    snprintf(name, sizeof(name), "cpu_%zu.ini", n);
    return save(writing, &page, name);
}

/** What the transport was told. */
static void put_transport_settings(const struct writing *writing, const char *name, FILE *file)
{
    const struct pug_transport *transport = pug_transport_find(name);
    const struct pug_capture_source *source = pug_capture_source_at(writing->input->capture, 0);
    struct pug_transport_sink sink = {0};
    struct known known = {0};
    struct pug_settings_watch watch;
    void *made;
    if (!transport || !source)
        return;
    const struct pug_settings given = {.items = source->settings->items,
                                       .count = source->settings->count};
    const struct pug_settings asking = watched(&given, &watch, &known);
    if (transport->create(&asking, &sink, &made) == PUG_OK) {
        transport->free(made);
        put_settings(&given, &known, NULL, file);
    }
    known_free(&known);
}

static void put_buffers(const struct writing *writing, FILE *file)
{
    const char *transport = pug_capture_buffer_at(writing->input->capture, 0)->transport;
    fprintf(file, "[trace_buffers]\nbuffers=");
    for (size_t n = 0; n < writing->count; n++)
        fprintf(file, "%sbuffer%zu", n ? "," : "", n);
    for (size_t n = 0; n < writing->count; n++) {
        fprintf(file, "\n\n[buffer%zu]\nname=%s\nfile=%s\nformat=%s\n", n, writing->buffers[n].name,
                writing->buffers[n].file,
                strcmp(transport, "plain") == 0 ? "source_data" : transport);
        put_transport_settings(writing, transport, file);
    }
}

/** When each connection began and ended: for people. */
static void put_times(const struct writing *writing, FILE *file)
{
    fprintf(file, "\n[connections]\n");
    for (size_t n = 0; n < writing->count; n++)
        fprintf(file, "%s=%s\n", writing->buffers[n].name, writing->buffers[n].times);
}

/** Sources are numbered buffer by buffer: one that writes into two of them has two devices. */
static const struct pug_capture_source *source_at(const struct writing *writing, size_t number,
                                                  size_t *buffer)
{
    size_t count = 0;
    while (pug_capture_source_at(writing->input->capture, count))
        count++;
    *buffer = count > 0 ? number / count : 0;
    return count > 0 && *buffer < writing->count
               ? pug_capture_source_at(writing->input->capture, number % count)
               : NULL;
}

static bool write_buffers(const struct writing *writing)
{
    const struct pug_capture_source *source;
    struct rec_page page;
    size_t buffer;
    if (!rec_page_open(&page))
        return fail("snapshot");
    put_buffers(writing, page.file);
    fprintf(page.file, "\n[source_buffers]\n");
    for (size_t n = 0; source_at(writing, n, &buffer); n++)
        fprintf(page.file, "trace_%zu=%s\n", n, writing->buffers[buffer].name);
    fprintf(page.file, "\n[core_trace_sources]\n");
    for (size_t n = 0; (source = source_at(writing, n, &buffer)) != NULL; n++)
        if (has_core(writing, pug_protocol_find(source->protocol)))
            fprintf(page.file, "cpu_%zu=trace_%zu\n", n, n);
    if (writing->saved)
        put_times(writing, page.file);
    return save(writing, &page, "trace.ini");
}

static bool write_devices(const struct writing *writing)
{
    const struct pug_capture_source *source;
    struct rec_page page;
    unsigned devices = 0;
    size_t buffer;
    if (!rec_page_open(&page))
        return fail("snapshot");
    fprintf(page.file, "[snapshot]\nversion=1.0\ndescription=made by pugmark %s\n\n[device_list]\n",
            writing->saved ? "--save" : "snapshot");
    for (size_t n = 0; (source = source_at(writing, n, &buffer)) != NULL; n++) {
        if (has_core(writing, pug_protocol_find(source->protocol)))
            fprintf(page.file, "device%u=cpu_%zu.ini\n", devices++, n);
        fprintf(page.file, "device%u=trace_%zu.ini\n", devices++, n);
    }
    fprintf(page.file, "\n[trace]\nmetadata=trace.ini\n");
    return save(writing, &page, "snapshot.ini");
}

bool snapshot_describe(const struct input *input, const char *folder,
                       const struct snapshot_buffer *buffers, size_t count, bool saved)
{
    const struct writing writing = {.input = input,
                                    .folder = folder,
                                    .core = input->options->core,
                                    .buffers = buffers,
                                    .count = count,
                                    .saved = saved};
    const struct pug_capture_source *source;
    size_t buffer;
    bool good = true;
    for (size_t n = 0; good && (source = source_at(&writing, n, &buffer)) != NULL; n++)
        good = write_source(&writing, source, n);
    return good && write_buffers(&writing) && write_devices(&writing);
}

bool snapshot_copy_programs(const struct input *input, const char *folder)
{
    const struct writing writing = {.input = input, .folder = folder};
    return copy_programs(&writing);
}
