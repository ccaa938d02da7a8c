// SPDX-License-Identifier: MIT
/** @file pugmark record: runs a program under QEMU and writes the trace that a core would emit. */
#include "common/command.h"
#include "common/messages.h"
#include "common/path_progress.h"
#include "common/progress.h"
#include "common/sandbox.h"
#include "common/suggest.h"
#include "common/terminal.h"
#include "pugmark/advanced/settings.h"
#include "recorder/convert.h"
#include "recorder/perf_write.h"
#include "recorder/program.h"
#include "recorder/qemu.h"
#include "recorder/script.h"
#include "recording.h"
#include "sysroot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PERF_STRETCH 65536u /* bytes of trace between AUX records of perf.data */

/** Does --core name one that has no A32? */
static bool is_m_core(const char *name)
{
    enum pug_arch arch;
    enum pug_arch_profile profile = PUG_PROFILE_A;
    return name && pug_core_by_name(name, &arch, &profile) && profile == PUG_PROFILE_M;
}

/** Refuses an option. */
static bool refuse_option(struct record *record, const char *what, const char *why)
{
    record->misused = true;
    return record_refuse(what, why);
}

/* ---- settings ---- */

static bool take_setting(struct record *record, const char *setting, bool *given)
{
    char name[64];
    const char *equals = strchr(setting, '=');
    uint64_t value;
    if (!equals || (size_t)(equals - setting) >= sizeof(name) || !parse_number(equals + 1, &value))
        return refuse_option(record, setting, "expected NAME=VALUE, a number");
    snprintf(name, sizeof(name), "%.*s", (int)(equals - setting), setting);
    int at = rec_unit_option(record->unit, name);
    for (const struct rec_absent *absent = record->unit->absent; absent && absent->name; absent++)
        if (strcmp(absent->name, name) == 0)
            return refuse_option(record, setting, absent->why);
    if (at < 0)
        return refuse_option(record, setting,
                             "this protocol has no such option (`record --help` lists them)");
    if (value > record->unit->options[at].most)
        return refuse_option(record, setting, "that is too much (`record --help` tells)");
    record->values[at] = value;
    given[at] = true;
    return true;
}

/** All of --set; `given`: which of the options it says. */
static bool take_given(struct record *record, bool given[REC_OPTIONS])
{
    memset(given, false, REC_OPTIONS * sizeof(given[0]));
    for (size_t i = 0; i < record->options->settings.count; i++)
        if (!take_setting(record, record->options->settings.items[i], given))
            return false;
    return true;
}

static bool take_settings(struct record *record, uint8_t family)
{
    bool given[REC_OPTIONS];
    uint64_t wanted[REC_OPTIONS];
    if (!take_given(record, given))
        return false;
    memcpy(wanted, record->values, sizeof(wanted));
    rec_unit_values(record->unit, family, given, record->options->seed, record->values);
    for (unsigned i = 0; i < record->unit->option_count; i++)
        if (given[i] && wanted[i] != record->values[i])
            message_say("pugmark: %s is %" PRIu64 " where other options are as they are\n",
                        record->unit->options[i].name, record->values[i]);
    return true;
}

/** perf.data shows the running task by context ids alone. */
static void keep_ids(struct record *record)
{
    static const struct {
        const char *name;
        uint64_t value;
    } kept[] = {{"context_id", 1}, {"context_bytes", 4}, {"vmid", 0}};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        int at = rec_unit_option(record->unit, kept[i].name);
        if (at >= 0)
            record->values[at] = kept[i].value;
    }
}

/** A machine may have a supervisor mode, which one bit does not separate from machine mode. */
static void keep_modes(struct record *record)
{
    int at = rec_unit_option(record->unit, "privilege_width");
    if (at >= 0 && record->values[at] == 1)
        record->values[at] = 2;
}

static bool calls_of(struct record *record, enum rec_calls *calls)
{
    static const char *const words[] = {"off", "on", "silent"};
    const char *word = record->options->calls;
    *calls = REC_CALLS_OFF;
    for (unsigned i = 0; word && i < 3; i++) {
        if (strcmp(word, words[i]) != 0)
            continue;
        *calls = (enum rec_calls)i;
        return true;
    }
    return !word || refuse_option(record, word, "--calls takes off, on or silent");
}

static bool loss_of(struct record *record, double *loss)
{
    const char *word = record->options->loss;
    char *end = NULL;
    double percent = word ? strtod(word, &end) : 0;
    *loss = percent / 100;
    return !word || (end != word && *end == 0 && percent >= 0 && percent < 100) ||
           refuse_option(record, word, "--loss takes a percentage below 100");
}

static uint64_t number_or(const struct option_value *value, uint64_t otherwise)
{
    return value->given ? value->value : otherwise;
}

/** Returns how many processors can be distinguished. */
static unsigned sources_of(const struct record *record)
{
    if (record->unit->frames)
        return 0x70 - (unsigned)record->options->id;
    int at = rec_unit_option(record->unit, "src_bits");
    uint64_t ids = at < 0 ? 1 : UINT64_C(1) << record->values[at];
    return ids > record->options->id ? (unsigned)(ids - record->options->id) : 1;
}

static bool traces(struct record *record, uint8_t family)
{
    return record->unit->families >> family & 1 ||
           refuse_option(record, record->unit->name,
                         "it traces no processor with these instructions");
}

/* ---- before anything runs ---- */

/** Options that say nothing of what will run. */
static bool check_values(struct record *record)
{
    bool given[REC_OPTIONS];
    enum rec_calls calls;
    double loss;
    if (!calls_of(record, &calls) || !loss_of(record, &loss))
        return false;
    if (record->options->perf && record->unit && !perf_write_takes(record->unit))
        return refuse_option(record, record->unit->name, "perf.data has no trace of this kind");
    return !record->unit || take_given(record, given);
}

/** May the recording go there? A path beside its files is one of them. */
static bool check_folder(struct record *record)
{
    const struct record_options *options = record->options;
    struct stat input;
    char why[512];
    const char *name = options->script ? options->script : options->from;
    const bool reads = name && stat(name, &input) == 0;
    switch (rec_folder_new(options->out, options->force, reads ? &input : NULL, &record->folder,
                           why, sizeof(why))) {
    case REC_FOLDER_DONE: return true;
    case REC_FOLDER_REFUSED: return refuse_option(record, options->out, why);
    default: return record_refuse(options->out, why);
    }
}

/** Files that are written at the end must have a place. */
static bool check_targets(struct record *record)
{
    const struct record_options *options = record->options;
    if (options->out && !check_folder(record))
        return false;
    if (options->path && !record_path_within(record) && !pug_outfile_may(options->path))
        return record_refuse(options->path, strerror(errno));
    if (options->perf && !pug_outfile_may(options->perf))
        return record_refuse(options->perf, strerror(errno));
    return true;
}

/** Functions that have to be in a program. */
static bool check_functions(struct record *record, const char *program)
{
    record->misused = record->filter.by_name && !record_filter_find(&record->filter, program, 0);
    return !record->misused;
}

/* ---- beginning ---- */

static bool begin_folder(struct record *record)
{
    return !record->folder || rec_folder_begin(record->folder) ||
           record_refuse(record->options->out, strerror(errno));
}

/** The path is one of the folder's files, or goes to where it belongs when it is whole. */
static bool open_path(struct record *record)
{
    const char *name = record->options->path, *within = record_path_within(record);
    char inside[4096 + 256];
    if (!name)
        return true;
    if (within)
        snprintf(inside, sizeof(inside), "%s/%s", rec_folder_path(record->folder), within);
    return pug_outfile_open_any(within ? inside : name, &record->path) == PUG_OK ||
           record_refuse(name, strerror(errno));
}

static bool begin_session(struct record *record, const struct rec_path_header *header)
{
    const struct record_options *options = record->options;
    char why[256];
    if (!traces(record, header->family) || !take_settings(record, header->family))
        return false;
    if (options->data && !header->data)
        return record_refuse(options->from ? options->from : "record",
                             "it tells no accesses to memory");
    if (!begin_folder(record) || !open_path(record))
        return false;
    if (options->perf)
        keep_ids(record);
    if (header->system)
        keep_modes(record);
    struct rec_path_header told = *header;
    told.data = options->data;
    struct rec_session_config config = {
        .engine = {.unit_class = record->unit,
                   .values = record->values,
                   .path = told,
                   .core = options->core,
                   .first_source = (uint16_t)options->id,
                   .sources = sources_of(record),
                   .context_ids = !options->no_context,
                   .data = options->data,
                   .sync_every = number_or(&options->sync, 20000),
                   .time_every = number_or(&options->times, 1000),
                   .cycles_every = number_or(&options->cycles, 200),
                   .other_every = number_or(&options->others, 5000),
                   .limit = options->limit,
                   .room = options->snapshot_mode || options->perf ? 0 : options->buffer,
                   .stretch = !options->perf || options->snapshot_mode ? 0
                              : options->buffer                        ? options->buffer
                                                                       : PERF_STRETCH,
                   .ranges = record->filter.ranges,
                   .range_count = options->filters.count,
                   .seed = options->seed + 1},
        .folder = record->folder ? rec_folder_path(record->folder) : NULL,
        .perf = options->perf,
        .perf_by_cpu = options->by_cpu,
        .core = options->core,
        .path = record->path,
        .circular = options->snapshot_mode,
        .room = options->buffer,
        .free_frames = options->seed != 0};
    if (!calls_of(record, &config.engine.calls) || !loss_of(record, &config.engine.loss))
        return false;
    record->session = rec_session_new(&config, why, sizeof(why));
    return record->session || record_refuse(record_target(options), why);
}

static bool begin_path(struct record *record, const struct rec_path_header *header)
{
    if (!open_path(record))
        return false;
    record->writer = rec_path_writer_new(pug_outfile_descriptor(record->path), header);
    return record->writer || record_refuse(record->options->path, "no memory");
}

static bool begin(struct record *record, const struct rec_path_header *header)
{
    if (header->system && !header->traps && !record->options->quiet)
        message_say("pugmark: QEMU does not report exceptions here, or -d has its log: they are "
                    "guessed where the flow breaks (the book: The path file)\n");
    return record->unit ? begin_session(record, header) : begin_path(record, header);
}

/** Writes an item of the path, where the path alone is wanted. Returns false at the limit. */
static bool write_item(struct record *record, const struct rec_path_item *item)
{
    const uint64_t limit = record->options->limit;
    rec_path_writer_put(record->writer, item);
    if (item->kind == REC_PATH_RAN)
        record->instructions += item->count;
    return limit == 0 || record->instructions < limit;
}

static bool take(void *context, const struct rec_path_item *item)
{
    struct record *record = context;
    record->items++;
    if (record->log)
        progress_show_file(&record->log_progress, record->log);
    if (item->kind == REC_PATH_RAN && item->block->isa == REC_PATH_A32 && record->m_core) {
        record->stopped = true;
        return refuse_option(
            record, record->options->core,
            "the path has A32 instructions, which this core has not; --core has to name "
            "the one that ran");
    }
    if (!record_filter_take(&record->filter, item)) {
        record->stopped = record->misused = true;
        return false;
    }
    if (record->writer)
        record->stopped = !write_item(record, item);
    else if (!rec_session_take(record->session, item))
        record->stopped = true;
    return !record->stopped;
}

/* ---- where paths come from ---- */

/** How many repeated blocks a byte permits: in a path that QEMU writes just now, any number. */
static uint32_t expansion_of(const struct record_options *options)
{
    if (!options->from)
        return UINT32_MAX;
    return options->expansion ? options->expansion : REC_PATH_EXPANSION;
}

/**
 * Everything of a path file, or of the plugin; `had`: so many bytes of its magic were read already.
 * False, having said why: it is none.
 */
static bool read_path(struct record *record, int file, unsigned had, const char *name)
{
    struct rec_path_reader *reader = rec_path_reader_new(file, had);
    struct rec_path_header header;
    struct rec_path_item item;
    const char *why = "no memory";
    bool good = reader && rec_path_reader_header(reader, &header, &why);
    if (!good)
        record_refuse(name, why);
    record->begun = good;
    good = good && begin(record, &header);
    if (good)
        rec_path_reader_set_expansion(reader, expansion_of(record->options));
    struct path_progress progress =
        path_progress_begin(file, record->options->limit, record->options->quiet);
    while (good && rec_path_reader_next(reader, &item) && take(record, &item))
        path_progress_show(&progress, reader, &item);
    path_progress_end(&progress);
    if (good && !record->stopped && item.kind == REC_PATH_BAD)
        good = record_refuse(name, item.text);
    if (good && record->session && !record->stopped)
        record->stopped = false;
    rec_path_reader_free(reader);
    return good;
}

/** The image of the programs that --elf names, and what they are for. NULL, having said why. */
static struct pug_image *read_programs(const struct record_options *options,
                                       struct rec_convert *convert)
{
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    struct pug_image *image = pug_image_new();
    for (size_t i = 0; image && i < options->elf.count; i++) {
        char name[4096];
        struct rec_program program;
        uint64_t bias = 0;
        const char *at = strrchr(options->elf.items[i], '@');
        if (at && !parse_number(at + 1, &bias))
            at = NULL;
        snprintf(name, sizeof(name), "%.*s",
                 at ? (int)(at - options->elf.items[i]) : (int)strlen(options->elf.items[i]),
                 options->elf.items[i]);
        if (rec_program_read(name, &program) &&
            pug_image_add_elf(image, &anywhere, name, bias) == PUG_OK) {
            convert->family = program.family;
            convert->t32_only |= program.m_profile;
            continue;
        }
        record_refuse(name, "it is no program");
        pug_image_free(image);
        return NULL;
    }
    return image;
}

static bool read_log(struct record *record, struct rec_convert *convert)
{
    const struct record_options *options = record->options;
    struct pug_image *image = read_programs(options, convert);
    if (!image)
        return false;
    convert->image = image;
    convert->t32_only |= record->m_core;
    bool good = options->elf.count > 0 || convert->form == REC_CONVERT_SPIKE ||
                record_refuse(options->from, "--elf has to say what program that is");
    convert->data = options->data && convert->form == REC_CONVERT_SPIKE;
    struct rec_path_header header = {.family = convert->family, .data = convert->data};
    good = good && begin(record, &header);
    if (good && options->elf.count > 0)
        good = check_functions(record, options->elf.items[0]);
    record->log = convert->file;
    record->log_progress = progress_begin_file(convert->file, options->quiet);
    const bool whole = good && rec_convert_run(convert, take, record);
    progress_end(&record->log_progress);
    if (good && !whole && !record->stopped)
        good = record_refuse(options->from, convert->why);
    pug_image_free(image);
    return good;
}

/** Reads a log, from its second byte on. */
static bool record_log(struct record *record, FILE *file, char first)
{
    char line[1024] = {first};
    struct rec_convert convert = {.file = file, .first = line};
    bool known = false;
    for (size_t begun = 1; !known && fgets(line + begun, (int)(sizeof(line) - begun), file);
         begun = 0) {
        known = rec_convert_guess(line, &convert);
        convert.lines += !known;
    }
    return known ? read_log(record, &convert)
                 : record_refuse(record->options->from, "it is no path, and no log that is known");
}

/** A path file, or a log, by what it begins with; it may be a FIFO, where nothing comes again. */
static bool record_from(struct record *record)
{
    const char *name = record->options->from;
    char first = 0;
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, &first, 1) < 0) {
        record_refuse(name, strerror(errno));
        if (file >= 0)
            close(file);
        return false;
    }
    if (first == REC_PATH_MAGIC[0]) {
        bool good = read_path(record, file, 1, name);
        close(file);
        return good;
    }
    FILE *log = fdopen(file, "r");
    if (!log) {
        close(file);
        return record_refuse(name, "no memory");
    }
    bool good = record_log(record, log, first);
    fclose(log);
    return good;
}

/** The program's file and what it is for. False, having said why: it cannot be run here. */
static bool can_run(const char *word, char *name, size_t size, struct rec_program *program)
{
    char why[256];
    if (!rec_qemu_find(word, name, size))
        return record_refuse(word, "there is no such program");
    if (!rec_program_read(name, program))
        return record_refuse(name, errno == ENOEXEC ? "it is no ELF program" : strerror(errno));
    if (program->family)
        return true;
    const char *machine = rec_program_machine(program);
    snprintf(why, sizeof(why), "it is for %s, whose trace is not made here",
             machine ? machine : "a processor that is not known");
    return record_refuse(name, why);
}

static void say_status(int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        message_say("pugmark: the program's exit status is %d\n", WEXITSTATUS(status));
    if (WIFSIGNALED(status))
        message_say("pugmark: the program was killed by signal %d (%s)\n", WTERMSIG(status),
                    strsignal(WTERMSIG(status)));
}

static bool record_program(struct record *record, char **argv)
{
    const struct record_options *options = record->options;
    struct rec_qemu qemu = {.qemu = options->qemu,
                            .plugin = options->plugin,
                            .sysroot = options->sysroot,
                            .children = options->children,
                            .argv = argv,
                            .data = options->data};
    const char *slash = strrchr(argv[0], '/');
    struct rec_program program = {0};
    char name[4096], why[256];
    const char *machine = NULL;
    qemu.machine = strncmp(slash ? slash + 1 : argv[0], "qemu-system-", 12) == 0;
    qemu.single = options->data && record->unit && record->unit->ports;
    if (!qemu.machine && !can_run(argv[0], name, sizeof(name), &program))
        return false;
    if (!qemu.machine) {
        if ((record->unit && !traces(record, program.family)) || !check_functions(record, name))
            return false;
        machine = rec_program_machine(&program);
        bool good;
        qemu.sysroot = sysroot_find(name, &program, options->sysroot, &good);
        if (!good)
            return false;
    }
    if (qemu.machine && options->elf.count > 0 && !check_functions(record, options->elf.items[0]))
        return false;
    if (!rec_qemu_start(&qemu, machine, why, sizeof(why)))
        return record_refuse("record", why);
    bool good = read_path(record, qemu.path, 0, "the path from QEMU");
    /* A machine may never end by itself, and its events after the limit are not needed. */
    bool ended = qemu.machine && record->stopped;
    int status = ended ? rec_qemu_end(&qemu) : rec_qemu_wait(&qemu);
    if (!record->begun)
        record_refuse("record",
                      "QEMU must load plugins (from 5.1 on), which static ones cannot, as Debian's "
                      "qemu-user of QEMU 10 is");
    if (good && !options->quiet && !ended)
        say_status(status);
    return good;
}

static void show_line(void *context, FILE *lines)
{
    progress_show_file(context, lines);
}

static bool write_script(struct record *record, const struct rec_script_class *of, FILE *lines)
{
    const struct record_options *options = record->options;
    struct progress progress = progress_begin_file(lines, options->quiet);
    const struct rec_script_config config = {
        .source = (uint16_t)(options->id == UINT64_MAX ? 0x10 : options->id),
        .seed = options->seed,
        .sync = options->sync.given ? options->sync.value : 1000,
        .longest = 12,
        .read_line = show_line,
        .read_context = &progress};
    char why[256];
    if (!check_folder(record) || !begin_folder(record))
        return false;
    const bool good =
        rec_script_record(of, &config, lines, rec_folder_path(record->folder), why, sizeof(why));
    progress_end(&progress);
    return (good || record_refuse(options->script, why)) && record_commit_folder(record);
}

/**
 * Where no program is run. A path names programs, which are copied, so that reading stays open. The
 * first version of Landlock has no renaming from one folder to another.
 */
static void enter_sandbox(const struct record_options *options)
{
    if (sandbox_level() < 2)
        return;
    if (options->from)
        sandbox_read_all();
    (void)sandbox_start(NULL);
}

/** Events in words, in place of what ran. */
static int record_script(struct record *record)
{
    const struct record_options *options = record->options;
    const struct rec_script_class *of =
        options->protocol ? rec_script_find(options->protocol) : NULL;
    if (!of || !options->out || options->id == 0 ||
        (options->id > 0x6f && options->id != UINT64_MAX)) {
        record_refuse("record",
                      "--script needs --protocol stm, itm, dwt or osd, and --out; --id is 1 to "
                      "0x6f");
        return EXIT_USAGE;
    }
    FILE *lines = strcmp(options->script, "-") == 0 ? stdin : fopen(options->script, "re");
    if (!lines) {
        record_refuse(options->script, strerror(errno));
        return EXIT_INPUT;
    }
    enter_sandbox(options);
    const bool good = write_script(record, of, lines);
    if (lines != stdin)
        fclose(lines);
    record_release(record);
    return record->misused ? EXIT_USAGE : good ? EXIT_DONE : EXIT_INPUT;
}

static bool refuse_protocol(const char *name)
{
    const struct rec_unit_class *unit;
    struct suggestion near;
    suggest_begin(&near, name);
    for (unsigned n = 0; (unit = rec_unit_at(n)) != NULL; n++)
        suggest_offer(&near, unit->name);
    message_say("pugmark: %s: no such protocol (`record --help` lists them)%s\n", name,
                near.question);
    return false;
}

static bool check_options(const struct record *record)
{
    const struct record_options *options = record->options;
    if ((options->path && !terminal_may_have(options->path, "binary data")) ||
        (options->perf && !terminal_may_have(options->perf, "binary data")))
        return false;
    if (options->protocol && !record->unit)
        return refuse_protocol(options->protocol);
    if (record->unit && !options->out == !options->perf)
        return record_refuse("record",
                             "--out has to say where the snapshot goes, or --perf the perf.data");
    if (options->from &&
        (options->qemu || options->plugin || options->sysroot || options->children))
        return record_refuse("record",
                             "--qemu, --plugin, --sysroot and --children are of a program that "
                             "runs, and with --from none does");
    if (options->expansion && !options->from)
        return record_refuse("record", "--expansion is of a path that --from reads");
    if (options->by_cpu && (!options->perf || options->no_context))
        return record_refuse("record", "--by-cpu is for --perf, and needs context ids");
    if (!record->unit && (record_target(options) || !options->path))
        return record_refuse("record",
                             "--protocol has to say what to make, or --path that the path "
                             "alone is wanted");
    if (options->snapshot_mode && options->buffer < 4096)
        return record_refuse("record", "--snapshot-mode needs a --buffer of 4096 bytes or more");
    if (options->data && record->unit && (!record->unit->tells || options->perf))
        return record_refuse(record->unit->name, "no data trace is made of it here");
    if (record->unit && record->unit->frames && options->id > 0x6f)
        return record_refuse("record", "trace ids are 1 to 0x6f");
    return true;
}

static int record_run(const struct command *self, int argc, char **argv)
{
    struct record_options options = {.id = UINT64_MAX};
    const struct option_set sets[] = {
        {record_option_table, record_option_count, &options, false},
    };
    bool from = false;
    for (int i = 1; i < argc; i++)
        from = from || strncmp(argv[i], "--from", 6) == 0 || strncmp(argv[i], "--script", 8) == 0;
    int end = command_start(self, argc, argv, sets, 1, from ? 0 : -1);
    if (end >= 0)
        return end;
    struct record record = {.options = &options, .m_core = is_m_core(options.core)};
    if (options.script)
        return record_script(&record);
    record.unit = options.protocol ? rec_unit_find(options.protocol) : NULL;
    if (options.id == UINT64_MAX)
        options.id = record.unit && record.unit->frames ? 0x10 : 0;
    if (!check_options(&record) || !record_filter_begin(&record.filter, &options.filters))
        return EXIT_USAGE;
    bool good = check_values(&record) && check_targets(&record);
    if (good) {
        if (options.from)
            enter_sandbox(&options);
        good = options.from ? record_from(&record) : record_program(&record, argv + 1);
        if (record.writer)
            good = record_end_path(&record, good) && good;
        if (record.session)
            good = record_end_session(&record, good) && good;
    }
    record_release(&record);
    return record.misused ? EXIT_USAGE : good ? EXIT_DONE : EXIT_INPUT;
}

const struct command command_record = {
    .name = "record",
    .operands = "[--] PROGRAM ARGUMENTS...",
    .summary = "run a program under QEMU and write its trace",
    .run = record_run,
    .task = TASK_MAKE,
    .purpose = "Runs a program, or a whole machine, under QEMU and writes the trace that a "
               "processor's trace unit would have made. It also makes trace from a path, a log of "
               "Spike or QEMU, or a script of events. No hardware is needed.",
    .examples =
        {
            {"pugmark record --protocol etmv4 --out run examples/crash/crash",
             "runs an AArch64 program; the folder `run` is a snapshot"},
            {"pugmark record --protocol etmv4 --out run --from examples/crash/path",
             "makes trace of a path that was recorded before"},
            {"pugmark record --protocol itm --out swo --script examples/swo/events.txt",
             "makes SWO trace of events in words"},
        },
    .more_help = record_options_help,
};
