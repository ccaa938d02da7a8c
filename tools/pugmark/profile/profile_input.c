// SPDX-License-Identifier: MIT
#include "profile_input.h"
#include "common/messages.h"

#include "common/command.h"
#include "common/progress.h"
#include "common/said.h"
#include "common/sandbox.h"
#include "files/infile.h"
#include "files/outfile.h"
#include "profile/peers.h"
#include "profile/profile.h"
#include "schedule/peers.h"
#include "threads/kernel_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 64 GiB, where so much can be in memory. */
#define SIZE_LIMIT (UINT64_C(64) << 30)
#define FILE_LIMIT (SIZE_MAX / 2 < SIZE_LIMIT ? SIZE_MAX / 2 : (size_t)SIZE_LIMIT)

/* ---- files ---- */

bool profile_is_saved(const char *path)
{
    struct pug_infile *file;
    uint8_t begin[8];
    if (strcmp(path, "-") == 0 || pug_infile_open(path, &file) != PUG_OK)
        return false;
    const bool read = pug_infile_read(file, 0, begin, sizeof(begin)) == PUG_OK;
    pug_infile_close(file);
    return read && pug_profile_is(begin, sizeof(begin));
}

struct pug_profile *profile_load(const char *path)
{
    uint8_t *bytes;
    size_t size;
    struct pug_profile *profile = NULL;
    errno = 0;
    enum pug_status status = pug_infile_load(path, FILE_LIMIT, &bytes, &size);
    if (status == PUG_OK) {
        status = pug_profile_read(bytes, size, &profile);
        free(bytes);
        if (status == PUG_ERR_FORMAT)
            message_say("pugmark: %s: not a profile, or a damaged one\n", path);
    }
    if (status != PUG_OK && status != PUG_ERR_FORMAT)
        message_say("pugmark: %s: %s\n", path,
                    status == PUG_ERR_FILE && errno ? strerror(errno) : pug_status_text(status));
    return status == PUG_OK ? profile : NULL;
}

int profile_save(struct pug_profile *profile, const char *path)
{
    if (input_failed())
        return EXIT_INPUT;
    if (pug_peers_helps(input_peers()))
        return EXIT_DONE;
    uint8_t *bytes;
    size_t size;
    enum pug_status status = pug_profile_write(profile, &bytes, &size);
    errno = 0;
    if (status == PUG_OK) {
        status = pug_outfile_save_any(path, bytes, size);
        free(bytes);
    }
    if (status == PUG_OK)
        return EXIT_DONE;
    message_say("pugmark: %s: %s\n", path, errno ? strerror(errno) : pug_status_text(status));
    return EXIT_INPUT;
}

/* ---- captures ---- */

/** Of branch lists nothing is decoded that a diagnosis could look at. */
static void look_at_rows(struct input *opened, uint64_t lacking)
{
    if (lacking == 0 || !input_is_counted(opened))
        return;
    opened->wrong = true;
    if (!opened->options->quiet)
        message_say("pugmark: %s: %" PRIu64
                    " executions are not counted, because the text of their "
                    "programs is missing; `pugmark info` lists which\n",
                    pug_capture_path(opened->capture), lacking);
}

int profile_add_opened(const struct profile_input *what, struct input *opened,
                       struct pug_profile *profile)
{
    /* Which object is wanted is asked of the profile: branches come from others. */
    struct pug_capture_selection selection = opened->lists.selection;
    selection.object_count = 0;
    if (!kernel_choice(opened, what->names, what->rtos))
        return EXIT_USAGE;
    if (input_finds_threads(opened)) {
        selection.tids = opened->lists.tids;
        selection.tid_count = what->input->tids.count;
        selection.comms = what->input->comms.items;
        selection.comm_count = what->input->comms.count;
    }
    struct progress progress = progress_begin(input_bytes(opened), what->input->quiet, NULL);
    const struct pug_profiler_options options = {
        .threads = input_jobs(opened),
        .stacks = what->stacks,
        .names = what->names,
        .rtos = what->rtos,
        .selection = &selection,
        .progress = progress_show,
        .progress_context = &progress,
    };
    struct pug_capture_result result;
    const uint64_t lacking = pug_profile_noted(profile, PUG_NOTE_NO_MEMORY);
    enum pug_status status = pug_profile_capture(profile, opened->capture, &options, &result);
    progress_end(&progress);
    look_at_rows(opened, pug_profile_noted(profile, PUG_NOTE_NO_MEMORY) - lacking);
    if (status == PUG_ERR_INVALID_PARAM_TYPE) {
        profile_say_mixed(pug_capture_path(opened->capture));
        return EXIT_USAGE;
    }
    return input_concluded(opened, status, &result);
}

void profile_say_mixed(const char *path)
{
    message_say("pugmark: %s: PC samples and counts of what ran are different things, and are not "
                "added up: give inputs of one kind\n",
                path);
}

static int add_file(const char *path, struct pug_profile *profile)
{
    struct pug_profile *saved = profile_load(path);
    if (!saved)
        return EXIT_INPUT;
    enum pug_status status = pug_profile_merge(profile, saved);
    if (status == PUG_ERR_INVALID_PARAM_TYPE)
        profile_say_mixed(path);
    else if (status != PUG_OK)
        message_say("pugmark: %s: %s\n", path, pug_status_text(status));
    pug_profile_free(saved);
    return status == PUG_OK                       ? EXIT_DONE
           : status == PUG_ERR_INVALID_PARAM_TYPE ? EXIT_USAGE
                                                  : EXIT_INPUT;
}

/** Do options choose what of a trace is counted? Counts cannot be taken apart afterwards. */
static bool chooses(const struct input_options *options)
{
    return options->pids.count || options->tids.count || options->comms.count ||
           options->cpus.count || options->sources.count || options->time || options->buffer;
}

static int add_saved(const struct profile_input *what, const char *path,
                     struct pug_profile *profile)
{
    if (!chooses(what->input))
        return add_file(path, profile);
    message_say("pugmark: %s: of a profile nothing can be chosen by --pid, --tid, --comm, --cpu, "
                "--source, --buffer or --time\n",
                path);
    return EXIT_USAGE;
}

int profile_add(const struct profile_input *what, const char *operand, struct pug_profile *profile)
{
    if (!sandbox_start(what->input))
        return EXIT_INPUT;
    if (profile_is_saved(operand))
        return add_saved(what, operand, profile);
    struct input opened;
    if (!input_open_for(&opened, what->input, operand, INPUT_NEEDS_COUNTS))
        return opened.failure;
    const int code = profile_add_opened(what, &opened, profile);
    input_close(&opened);
    return code;
}

bool profile_goes_on(int code)
{
    return code == EXIT_DONE || code == EXIT_TRACE_ERRORS;
}

/** One of many inputs: where it fails nothing of it counts. With `kept` it is kept there. */
static int add_one(const struct profile_input *what, const char *operand,
                   struct pug_profile *profile, const char *kept)
{
    struct pug_profile *one = pug_profile_new();
    uint8_t *bytes = NULL;
    size_t size;
    int code = one ? profile_add(what, operand, one) : EXIT_INPUT;
    if (input_forgive() && profile_goes_on(code))
        code = EXIT_INPUT;
    if (!profile_goes_on(code)) {
        pug_profile_free(one);
        one = pug_profile_new();
    }
    if (kept && one &&
        (pug_profile_write(one, &bytes, &size) != PUG_OK ||
         pug_outfile_save(kept, bytes, size) != PUG_OK))
        unlink(kept); /* what is there is not of it: it will be done again */
    free(bytes);
    if (profile_goes_on(code) && pug_profile_merge_noting(profile, one) != PUG_OK)
        code = EXIT_INPUT;
    pug_profile_free(one);
    return code;
}

/** The one that the spread gave last: what is kept of it, or all of it. */
static int add_given(const struct profile_input *what, const char *operand,
                     struct pug_profile *profile)
{
    const struct input_spread *spread = input_spread();
    bool done = false;
    int code = EXIT_DONE;
    const char *kept = spread->kept(spread->context, &done, &code);
    if (done && profile_goes_on(code) && add_file(kept, profile) != EXIT_DONE)
        code = EXIT_INPUT;
    return done ? code : add_one(what, operand, profile, kept);
}

/** What this process adds of those that are spread, which then goes to the first one. */
static int add_spread(const struct profile_input *what, char **operands,
                      struct pug_profile *profile)
{
    const struct input_spread *spread = input_spread();
    struct pug_peers *peers = input_peers();
    struct pug_profile *own = pug_peers_helps(peers) ? pug_profile_new() : profile;
    int code = own ? EXIT_DONE : EXIT_INPUT;
    size_t n;
    for (n = 0; own && operands[n]; n++)
        if (spread->is_shared(spread->context, n)) {
            const int added = add_one(what, operands[n], profile, NULL);
            code = added > code ? added : code;
        }
    input_among(NULL);
    for (int last = EXIT_DONE; own && spread->next(spread->context, last, &n);)
        last = add_given(what, operands[n], own);
    input_among(peers);
    if (own && pug_profile_merge_peers(peers, own) != PUG_OK)
        code = EXIT_INPUT;
    if (own != profile)
        pug_profile_free(own);
    const int worst = spread->finish(spread->context);
    return worst > code ? worst : code;
}

int profile_add_all(const struct profile_input *what, char **operands, struct pug_profile *profile)
{
    int code = profile ? EXIT_DONE : EXIT_INPUT;
    if (!profile)
        message_say("pugmark: %s\n", pug_status_text(PUG_ERR_MEM));
    if (profile && input_spread())
        return add_spread(what, operands, profile);
    for (; *operands && profile_goes_on(code); operands++) {
        const int added = profile_add(what, *operands, profile);
        code = added == EXIT_DONE ? code : added;
    }
    return code;
}

static void say(const char *words, bool quiet)
{
    said(SAID_COUNTS, "%s", words);
    if (!quiet)
        message_say("pugmark: %s\n", words);
}

/** Samples that are not of this program: it is missing, or is another one. */
static void say_strays(const struct pug_profile *profile, bool quiet)
{
    const uint64_t taken = pug_profile_sampled(profile, PUG_SAMPLES_TAKEN);
    const uint64_t strays = pug_profile_noted(profile, PUG_NOTE_UNMAPPED);
    const uint64_t inside = pug_profile_sampled(profile, PUG_SAMPLES_INSIDE);
    char words[200];
    snprintf(words, sizeof(words),
             "%" PRIu64 " of %" PRIu64 " PC samples lie in no program: give it with --elf; if it "
             "was given it is another build",
             strays, taken);
    if (strays > 0)
        say(words, quiet);
    snprintf(words, sizeof(words),
             "doubtful: %" PRIu64 " of %" PRIu64
             " PC samples are in the middle of an instruction, which they are counted for: is it "
             "another build of the program?",
             inside, taken);
    if (inside > 0)
        say(words, quiet);
}

void profile_say_notes(const struct pug_profile *profile, bool quiet)
{
    const bool sampled = pug_profile_is_sampled(profile);
    if (sampled)
        say_strays(profile, quiet);
    for (int note = PUG_NOTE_LOST; note < PUG_NOTE_COUNT; note++) {
        const uint64_t noted = pug_profile_noted(profile, note);
        char words[160];
        if (noted == 0 || note == PUG_NOTE_STACKS_LOST || note == PUG_NOTE_NO_TARGET ||
            (sampled && note == PUG_NOTE_UNMAPPED))
            continue;
        snprintf(words, sizeof(words), "not in the counts, or doubtful: %" PRIu64 " %s", noted,
                 pug_profile_note_text(note));
        say(words, quiet);
    }
}

/* ---- branch stacks: of captures alone, in the order of the trace ---- */

static int put_stacks(const struct input_options *input, const char *operand, struct pug_sink *sink)
{
    struct input opened;
    if (profile_is_saved(operand)) {
        message_say("pugmark: %s: a profile keeps no order; brstack is made of captures\n",
                    operand);
        return EXIT_USAGE;
    }
    if (!input_open(&opened, input, operand))
        return opened.failure;
    struct progress progress = progress_begin(input_bytes(&opened), input->quiet, NULL);
    const struct pug_profiler_options options = {.threads = input_jobs(&opened),
                                                 .selection = &opened.lists.selection,
                                                 .progress = progress_show,
                                                 .progress_context = &progress};
    struct pug_capture_result result;
    enum pug_status status =
        pug_profile_brstack(opened.capture, &options, sink->put, sink->context, &result);
    progress_end(&progress);
    const int code = input_concluded(&opened, status, &result);
    input_close(&opened);
    return code;
}

int profile_brstack(const struct input_options *input, char **operands, const char *path)
{
    struct pug_outfile *file;
    const char *target = path && !pug_peers_helps(input_peers()) ? path : "-";
    int code = EXIT_DONE;
    errno = 0;
    if (pug_outfile_open_any(target, &file) != PUG_OK) {
        message_say("pugmark: %s: %s\n", target, strerror(errno));
        return EXIT_INPUT;
    }
    struct pug_sink sink = pug_outfile_sink(file);
    for (; *operands && (code == EXIT_DONE || code == EXIT_TRACE_ERRORS); operands++) {
        const int put = put_stacks(input, *operands, &sink);
        code = put == EXIT_DONE ? code : put;
    }
    if (code == EXIT_USAGE || code == EXIT_INPUT || input_failed()) {
        pug_outfile_abandon(file);
        return code;
    }
    if (pug_outfile_commit(file) == PUG_OK || errno == EPIPE)
        return code;
    message_say("pugmark: %s: %s\n", target, strerror(errno));
    return EXIT_INPUT;
}

/* ---- formats ---- */

const char *profile_unknown_object(struct pug_profile *const *profiles, size_t count,
                                   const struct pug_export_options *options)
{
    for (size_t i = 0; i < options->object_count; i++) {
        size_t at = 0;
        while (at < count && !pug_profile_has_object(profiles[at], options->objects[i]))
            at++;
        if (at == count)
            return options->objects[i];
    }
    return NULL;
}

static const char *object_at(const void *of, size_t n)
{
    size_t count;
    const struct pug_profile_object *objects = pug_profile_objects(of, &count);
    return n < count ? objects[n].path : NULL;
}

static void say_choice(const struct pug_profile *profile, const struct pug_export_format *format)
{
    message_say("pugmark: %s is of one program or library; choose with --dso:", format->name);
    input_say_objects(object_at, profile);
}

static void say_failure(struct pug_profile *profile, const struct pug_export_format *format,
                        const struct pug_export_options *options, enum pug_status status)
{
    const char *chosen = profile_unknown_object(&profile, 1, options);
    if (status == PUG_ERR_NOT_INIT && format->needs_stacks)
        message_say("pugmark: no call stacks in it: profile --stacks keeps them\n");
    else if (status == PUG_ERR_NOT_INIT)
        message_say("pugmark: %s: no source lines of what ran (--symfs, --symdir, --debug-dir "
                    "say where programs are)\n",
                    format->name);
    else if (status == PUG_ERR_NOT_FOUND && chosen)
        input_refuse_object(chosen, object_at, profile);
    else if (status == PUG_ERR_NOT_FOUND)
        say_choice(profile, format);
    else
        message_say("pugmark: %s: %s\n", format->name, pug_status_text(status));
}

int profile_export(profile_export_fn *write, struct pug_profile *profile,
                   const struct pug_export_format *format, const struct pug_export_options *options,
                   const char *path)
{
    struct pug_outfile *file;
    const char *target = path ? path : "-";
    if (input_failed())
        return EXIT_INPUT;
    if (pug_peers_helps(input_peers()))
        return EXIT_DONE;
    errno = 0;
    if (pug_outfile_open_any(target, &file) != PUG_OK) {
        message_say("pugmark: %s: %s\n", target, strerror(errno));
        return EXIT_INPUT;
    }
    struct pug_sink sink = pug_outfile_sink(file);
    enum pug_status status = write(profile, format->name, options, sink.put, sink.context);
    if (status != PUG_OK) {
        pug_outfile_abandon(file);
        say_failure(profile, format, options, status);
        return status == PUG_ERR_NOT_FOUND ? EXIT_USAGE : EXIT_INPUT;
    }
    if (pug_outfile_commit(file) == PUG_OK || errno == EPIPE)
        return EXIT_DONE;
    message_say("pugmark: %s: %s\n", target, strerror(errno));
    return EXIT_INPUT;
}
