// SPDX-License-Identifier: MIT
/**
 * @file pugmark snapshot: a folder with a file of trace, what options said of it, and its program,
 * so that later commands need none of these options.
 */
#include "common/command.h"
#include "files/outfile.h"
#include "input/input.h"
#include "input/input_lists.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"
#include "recorder/page.h"
#include "recorder/recording_folder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct snapshot_options {
    struct input_options input;
    const char *output;
    bool force;
};

static const struct option table[] = {
    {"output", "DIR", "the folder to write (-o)", option_string,
     offsetof(struct snapshot_options, output)},
    {"force", NULL,
     "the folder may hold other files: those with names of new ones are replaced, the rest stays",
     option_flag, offsetof(struct snapshot_options, force)},
};

/** The work in progress. */
struct writing {
    const struct snapshot_options *options;
    struct input *input;
    const char *folder; /* where the files go until all are there */
    const char *core;
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

static bool copy_trace(const struct writing *writing)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/trace.bin", writing->folder);
    return pug_outfile_save(path, writing->input->trace, writing->input->trace_size) == PUG_OK ||
           fail(path);
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
            return protocol->description->traces_core && !pug_settings_find(settings, wanted->name)
                       ? wanted->name
                       : NULL;
    return NULL;
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
        fprintf(page.file, "%s=0x%x\n", id, source->id);
    put_settings(&given, &known, id ? "src_id" : NULL, page.file);
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

static void put_transport(const struct writing *writing, FILE *file)
{
    const struct pug_capture_buffer *buffer = pug_capture_buffer_at(writing->input->capture, 0);
    const struct pug_transport *transport = pug_transport_find(buffer->transport);
    const struct pug_capture_source *source = pug_capture_source_at(writing->input->capture, 0);
    struct pug_transport_sink sink = {0};
    struct known known = {0};
    struct pug_settings_watch watch;
    void *made;
    fprintf(file,
            "[trace_buffers]\nbuffers=buffer0\n\n[buffer0]\nname=buffer_0\nfile=trace.bin\n"
            "format=%s\n",
            strcmp(buffer->transport, "plain") == 0 ? "source_data" : buffer->transport);
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

static bool write_lists(const struct writing *writing)
{
    const struct pug_capture *capture = writing->input->capture;
    const struct pug_capture_source *source;
    struct rec_page page;
    if (!rec_page_open(&page))
        return fail("snapshot");
    put_transport(writing, page.file);
    fprintf(page.file, "\n[source_buffers]\n");
    for (size_t n = 0; pug_capture_source_at(capture, n); n++)
        fprintf(page.file, "trace_%zu=buffer_0\n", n);
    fprintf(page.file, "\n[core_trace_sources]\n");
    for (size_t n = 0; (source = pug_capture_source_at(capture, n)) != NULL; n++)
        if (has_core(writing, pug_protocol_find(source->protocol)))
            fprintf(page.file, "cpu_%zu=trace_%zu\n", n, n);
    if (!save(writing, &page, "trace.ini") || !rec_page_open(&page))
        return false;
    unsigned devices = 0;
    fprintf(page.file, "[snapshot]\nversion=1.0\ndescription=made by pugmark snapshot\n\n"
                       "[device_list]\n");
    for (size_t n = 0; (source = pug_capture_source_at(capture, n)) != NULL; n++) {
        if (has_core(writing, pug_protocol_find(source->protocol)))
            fprintf(page.file, "device%u=cpu_%zu.ini\n", devices++, n);
        fprintf(page.file, "device%u=trace_%zu.ini\n", devices++, n);
    }
    fprintf(page.file, "\n[trace]\nmetadata=trace.ini\n");
    return save(writing, &page, "snapshot.ini");
}

static bool write_all(const struct writing *writing)
{
    const struct pug_capture_source *source;
    bool good = copy_trace(writing) && copy_programs(writing);
    for (size_t n = 0; good && (source = pug_capture_source_at(writing->input->capture, n)) != NULL;
         n++)
        good = write_source(writing, source, n);
    return good && write_lists(writing);
}

/* ---- the command ---- */

/** Says what the folder is for. */
static void say_done(const struct snapshot_options *options)
{
    if (!options->input.quiet)
        message_say("pugmark: %s: written; next: pugmark info %s\n", options->output,
                    options->output);
}

static int make_folder(struct writing *writing)
{
    const struct snapshot_options *options = writing->options;
    struct rec_folder *folder = NULL;
    char why[512] = "";
    enum rec_folder_status status =
        rec_folder_new(options->output, options->force, NULL, &folder, why, sizeof(why));
    bool good = status == REC_FOLDER_DONE;
    if (good && !rec_folder_begin(folder)) {
        snprintf(why, sizeof(why), "%s", strerror(errno));
        good = false;
    }
    if (good) {
        writing->folder = rec_folder_path(folder);
        good = write_all(writing) && rec_folder_commit(folder, why, sizeof(why));
    }
    rec_folder_free(folder);
    if (!good && *why)
        message_say("pugmark: %s: the snapshot was not written: %s\n", options->output, why);
    if (good)
        say_done(options);
    return good ? EXIT_DONE : status == REC_FOLDER_REFUSED ? EXIT_USAGE : EXIT_INPUT;
}

static int snapshot_run(const struct command *self, int argc, char **argv)
{
    struct snapshot_options options = {0};
    struct input input;
    const struct option_set sets[] = {OPTION_SET(table, &options), INPUT_OPTIONS(&options.input)};
    const int end = command_start(self, argc, argv, sets, 2, 1);
    if (end >= 0)
        return end;
    if (!options.output) {
        message_say("pugmark: snapshot needs -o DIR, the folder to write\n");
        return EXIT_USAGE;
    }
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    int code = EXIT_USAGE;
    if (pug_capture_kind(input.capture) != PUG_CAPTURE_RAW) {
        message_say("pugmark: %s: a snapshot is made of one file of trace that options describe; "
                    "this input says itself how it is to be read\n",
                    argv[1]);
    } else {
        struct writing writing = {.options = &options, .input = &input, .core = options.input.core};
        code = make_folder(&writing);
    }
    input_close(&input);
    return code;
}

const struct command command_snapshot = {
    .name = "snapshot",
    .operands = "INPUT",
    .summary = "keep a file of trace with its registers and program in one folder",
    .run = snapshot_run,
    .task = TASK_LOOK,
    .purpose =
        "Writes a snapshot: a folder with the trace, the registers or parameters that options gave "
        "or the core's usual ones, and the program. Later commands take the folder as INPUT and "
        "need none of these options; others can decode it, too.",
    .examples =
        {
            {"pugmark snapshot -o run --protocol etmv4 --transport coresight --core Cortex-A53 "
             "--elf examples/crash/crash examples/crash/trace.bin",
             "a folder `run` of a file, a core and a program"},
            {"pugmark snapshot -o run --transport coresight --params examples/demo/ETM_0.ini "
             "examples/demo/trace.bin",
             "registers from a device file"},
            {"pugmark trace --last 5 run", "what ran, from the folder alone"},
        },
};
