// SPDX-License-Identifier: MIT
/**
 * @file Allocations that fail while files are read: an answer that is complete is the one that
 * there is with memory. fuzz_memory.c has the doors for trace.
 *
 * The first byte of an input chooses the door. The next two choose the first allocation that fails
 * (EACH: one after the other, or a share of them), and whether all later ones fail, too. The file
 * follows.
 */
#include "driver.h"
#include "files.h"
#include "index/format.h"
#include "profile/format.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/params.h"
#include "pugmark/pugmark.h"
#include "starve.h"
#include "support/outcome.h"
#include "support/perf_programs.h"
#include "support/perf_story.h"
#include "support/share.h"
#include "text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD 3u /* bytes of an input before the file */
#define EACH 0x7fffu

struct door {
    const char *name;
    /** Read the file; what it gives is added to the answer. */
    enum pug_status (*open)(const uint8_t *bytes, size_t size, struct outcome *answer);
    /** A file to begin with, which whoever asks frees. */
    uint8_t *(*file)(size_t *size, struct rec_random *random);
    /** Make a checksum right again; or NULL. */
    void (*mend)(uint8_t *bytes, size_t size);
};

static void add_text(struct outcome *answer, const char *text)
{
    outcome_add(answer, text ? outcome_mix(1, text, strlen(text)) : 0);
}

static void put(void *context, const void *bytes, size_t size)
{
    struct outcome *answer = context;
    answer->element_hash = outcome_mix(answer->element_hash, bytes, size);
}

static uint8_t *copy(const void *bytes, size_t size)
{
    uint8_t *own = malloc(size + 1);
    if (!own)
        abort();
    memcpy(own, bytes, size);
    own[size] = 0;
    return own;
}

/* ---- parameter files ---- */

static void add_settings(struct outcome *answer, const struct pug_settings *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        add_text(answer, settings->items[i].name);
        add_text(answer, settings->items[i].text);
        outcome_add(answer, settings->items[i].value);
    }
}

static enum pug_status open_params(const uint8_t *bytes, size_t size, struct outcome *answer)
{
    struct pug_params *params = NULL;
    (void)bytes, (void)size; /* they are in the file */
    const enum pug_status status = pug_params_load(fuzz_place("a.params"), NULL, &params);
    if (status != PUG_OK)
        return status;
    add_text(answer, pug_params_transport(params));
    add_settings(answer, pug_params_settings(params));
    for (size_t i = 0; i < pug_params_sources(params); i++) {
        add_text(answer, pug_params_source_path(params, i));
        add_settings(answer, pug_params_source(params, i));
    }
    pug_params_free(params);
    return PUG_OK;
}

static uint8_t *params_file(size_t *size, struct rec_random *random)
{
    static const char text[] = "# a comment\nprotocol = E-Trace\nxlen=64\ncontainer = encap\n"
                               "iaddress_width_p = 64\nsource 1 = b.params\nsource 2 = b.params\n"
                               "payload_params = b.params\nelf = a.elf@0x10\ntype_bits = 2\n";
    (void)random;
    *size = sizeof(text) - 1;
    return copy(text, *size);
}

/* ---- profiles ---- */

static enum pug_status export_all(struct pug_profile *profile, struct outcome *answer)
{
    static const char *const object = "paw";
    const struct pug_export_options options = {.objects = &object, .object_count = 1};
    const struct pug_export_format *format;
    enum pug_status status = PUG_OK;
    for (size_t n = 0; (format = pug_export_format_at(n)) != NULL && status != PUG_ERR_MEM; n++) {
        status = pug_export(profile, format->name, &options, put, answer);
        outcome_add(answer, (uint64_t)status);
    }
    if (status != PUG_ERR_MEM)
        status = pug_export_diff(profile, profile, &options, put, answer);
    return status == PUG_ERR_MEM ? status : PUG_OK;
}

static enum pug_status add_profile(struct pug_profile *profile, struct outcome *answer)
{
    struct pug_profile *sum = pug_profile_new();
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum pug_status status = sum ? pug_profile_merge(sum, profile) : PUG_ERR_MEM;
    if (status == PUG_OK)
        status = pug_profile_merge(sum, profile);
    if (status == PUG_OK)
        status = pug_profile_write(sum, &bytes, &size);
    if (status == PUG_OK) {
        put(answer, bytes, size);
        status = export_all(sum, answer);
    }
    free(bytes);
    pug_profile_free(sum);
    return status;
}

static enum pug_status open_profile(const uint8_t *bytes, size_t size, struct outcome *answer)
{
    struct pug_profile *profile = NULL;
    enum pug_status status = pug_profile_read(bytes, size, &profile);
    if (status == PUG_OK)
        status = add_profile(profile, answer);
    pug_profile_free(profile);
    return status;
}

/** A loop that calls, as two threads of one program run it. */
static uint8_t *profile_file(size_t *size, struct rec_random *random)
{
    struct pug_profile *profile = pug_profile_new();
    const struct pug_profile_object paw = {.path = "/usr/bin/paw"};
    uint32_t object = 0, task = 0, range = 0, frame = PUG_PROFILE_NONE;
    uint8_t *bytes = NULL;
    if (!profile || pug_profile_object(profile, &paw, &object) != PUG_OK)
        abort();
    for (uint64_t i = 0; i < 1 + rec_random_below(random, 40); i++) {
        const uint64_t first = 0x1000 + 16 * i;
        (void)pug_profile_task(profile, &(struct pug_profile_task){7, (int32_t)(i & 1), "paw"},
                               &task);
        (void)pug_profile_range(profile,
                                &(struct pug_profile_range){.object = object,
                                                            .first = first,
                                                            .last = first + 12,
                                                            .instructions = 4,
                                                            .last_size = 4,
                                                            .count = i},
                                &range);
        (void)pug_profile_branch(profile, &(struct pug_profile_branch){.object = object,
                                                                       .from = first + 12,
                                                                       .to_object = object,
                                                                       .to = first,
                                                                       .count = i});
        (void)pug_profile_frame(profile,
                                &(struct pug_profile_frame){.parent = frame,
                                                            .task = task,
                                                            .object = object,
                                                            .function = first,
                                                            .site_object = object,
                                                            .site = first + 12,
                                                            .calls = i},
                                &frame);
        (void)pug_profile_use(
            profile, &(struct pug_profile_use){.count = i, .frame = frame, .range = range});
    }
    if (pug_profile_write(profile, &bytes, size) != PUG_OK)
        abort();
    pug_profile_free(profile);
    return bytes;
}

static void mend_profile(uint8_t *bytes, size_t size)
{
    if (size < FORMAT_AT_UNIT)
        return;
    pug_bytes_set_64(bytes + FORMAT_AT_SIZE, size);
    pug_bytes_set_64(bytes + FORMAT_AT_CHECKSUM,
                     pug_profile_checksum(bytes + FORMAT_AT_SIZE, size - FORMAT_AT_SIZE));
}

/* ---- texts of symbols, and a program ---- */

static void add_places(struct pug_names *names, struct pug_names_file *file, struct outcome *answer)
{
    struct pug_names_function function;
    struct pug_names_frame frames[4];
    struct pug_names_line line;
    for (size_t n = 0; n < 64 && pug_names_function_at(file, n, &function); n++) {
        add_text(answer, function.name);
        add_text(answer, pug_names_readable(names, function.name));
        if (pug_names_line(file, function.start, &line))
            add_text(answer, line.path), outcome_add(answer, line.line);
        const size_t count = pug_names_frames(file, function.start + function.size / 2, frames, 4);
        for (size_t i = 0; i < count; i++)
            add_text(answer, frames[i].function), outcome_add(answer, frames[i].line);
    }
}

static enum pug_status open_names(const uint8_t *bytes, size_t size, struct outcome *answer)
{
    const struct pug_names_wanted program = {.path = PUG_SOURCE_DIR "/examples/crash/crash"};
    const struct pug_names_symbols text = {
        .kind = PUG_NAMES_KALLSYMS, .path = "[kernel]", .text = (const char *)bytes};
    struct pug_names *names = pug_names_new(NULL);
    struct pug_names_file *file;
    enum pug_status status = names ? pug_names_open_symbols(names, &text, &file) : PUG_ERR_MEM;
    (void)size; /* a NUL ends them */
    if (status == PUG_OK)
        add_places(names, file, answer);
    outcome_add(answer, (uint64_t)status);
    if (status != PUG_ERR_MEM && (status = pug_names_open(names, &program, &file)) == PUG_OK)
        add_places(names, file, answer);
    if (pug_names_status(names) != PUG_OK)
        status = PUG_ERR_MEM;
    pug_names_free(names);
    return status;
}

static uint8_t *names_file(size_t *size, struct rec_random *random)
{
    static const char text[] =
        "ffff800080010000 T _stext\nffff800080010000 T _ZNSt6vectorIiSaIiEE9push_backERKi\n"
        "ffff800080010040 t _RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3new\t[mod]\n"
        "ffff800080010080 W plain\nffff800080010100 D data\n";
    *size = sizeof(text) - 1 - rec_random_below(random, 20);
    return copy(text, *size);
}

/* ---- indexes ---- */

/** The capture that they are of. */
struct subject {
    struct pug_capture *capture;
    const uint8_t *bytes;
    uint64_t size, identity;
    uint8_t *index;
    size_t index_size;
};

static const struct subject *subject_of(void)
{
    static struct subject subject;
    static const char folder[] = PUG_SOURCE_DIR "/tests/captures/etmv4-a64";
    const struct pug_index_options options = {
        .block = PUG_INDEX_BLOCK_MIN, .full = true, .elements = true, .jobs = 1};
    struct pug_tree *tree = NULL;
    struct pug_index *index = NULL;
    if (subject.capture)
        return &subject;
    if (pug_capture_open(folder, NULL, &subject.capture) != PUG_OK) {
        fprintf(stderr, "%s cannot be opened\n", folder);
        exit(2);
    }
    subject.bytes = pug_capture_memory(subject.capture, 0);
    subject.size = pug_capture_segment_at(subject.capture, 0)->size;
    if (pug_capture_tree(subject.capture, 0, true, NULL, &tree) != PUG_OK ||
        pug_index_build(tree, subject.bytes, subject.size / 2, &options, &index) != PUG_OK)
        abort();
    subject.identity = pug_index_identity(tree);
    const void *bytes = pug_index_bytes(index, &subject.index_size);
    subject.index = copy(bytes, subject.index_size);
    pug_index_free(index);
    pug_tree_free(tree);
    return &subject;
}

static enum pug_status ask_index(const struct subject *subject, const struct pug_index *index,
                                 struct pug_tree *tree, struct outcome *answer)
{
    const struct pug_index_options options = {.jobs = 1};
    struct pug_index *longer = NULL;
    struct pug_index_mark mark;
    size_t size = 0;
    for (unsigned kind = 0; kind < 8; kind++) {
        const struct pug_index_query query = {
            .kind = (enum pug_mark_kind)kind, .source = PUG_INDEX_ANY, .greatest = UINT64_MAX};
        const enum pug_status status =
            pug_index_find(index, tree, subject->bytes, subject->size, &query, &mark);
        if (status == PUG_ERR_MEM)
            return status;
        outcome_add(answer, status == PUG_OK ? mark.at : (uint64_t)status << 56);
    }
    const enum pug_status status =
        pug_index_extend(index, tree, subject->bytes, subject->size, &options, &longer);
    if (status == PUG_OK) {
        const void *bytes = pug_index_bytes(longer, &size);
        put(answer, bytes, size);
    }
    pug_index_free(longer);
    return status;
}

static enum pug_status open_index(const uint8_t *bytes, size_t size, struct outcome *answer)
{
    const struct subject *subject = subject_of();
    struct pug_index *index = NULL;
    struct pug_tree *tree = NULL;
    enum pug_status status =
        pug_index_parse(bytes, size, subject->bytes, subject->size, subject->identity, &index);
    if (status == PUG_OK)
        status = pug_capture_tree(subject->capture, 0, true, NULL, &tree);
    if (status == PUG_OK)
        status = ask_index(subject, index, tree, answer);
    pug_tree_free(tree);
    pug_index_free(index);
    return status;
}

static uint8_t *index_file(size_t *size, struct rec_random *random)
{
    const struct subject *subject = subject_of();
    (void)random;
    *size = subject->index_size;
    return copy(subject->index, *size);
}

static void mend_index(uint8_t *bytes, size_t size)
{
    if (size < PUG_INDEX_CHECKED)
        return;
    pug_bytes_set_64(bytes + 16,
                     pug_index_hash_bytes(0, bytes + PUG_INDEX_CHECKED, size - PUG_INDEX_CHECKED));
    pug_bytes_set_64(bytes + 24, size);
}

/* ---- perf.data ---- */

static bool give(void *context, const struct pug_origin *where, const struct pug_element *elements,
                 size_t count)
{
    struct outcome *answer = context;
    outcome_add(answer, where->task);
    for (size_t i = 0; i < count; i++)
        outcome_add(answer, outcome_hash(&elements[i]));
    return answer->elements < 1 << 18;
}

static void add_facts(struct pug_capture *capture, struct outcome *answer)
{
    const char *name, *value;
    for (size_t n = 0; pug_capture_fact(capture, n, &name, &value); n++)
        add_text(answer, name), add_text(answer, value);
    for (size_t n = 0; pug_capture_task_at(capture, n); n++)
        outcome_add(answer, (uint64_t)pug_capture_task_at(capture, n)->pid);
    for (size_t n = 0; pug_capture_object_at(capture, n); n++)
        add_text(answer, pug_capture_object_at(capture, n)->path);
}

static enum pug_status add_profile_of(struct pug_capture *capture, bool stacks,
                                      struct outcome *answer)
{
    const struct pug_profiler_options options = {.threads = 1, .stacks = stacks};
    struct pug_profile *profile = pug_profile_new();
    struct pug_capture_result result;
    enum pug_status status =
        profile ? pug_profile_capture(profile, capture, &options, &result) : PUG_ERR_MEM;
    if (status == PUG_OK)
        status = add_profile(profile, answer);
    pug_profile_free(profile);
    return status;
}

static enum pug_status open_perfdata(const uint8_t *bytes, size_t size, struct outcome *answer)
{
    char symfs[256];
    snprintf(symfs, sizeof(symfs), "%s", fuzz_place(""));
    const struct pug_capture_options options = {.roots = {.symfs = symfs, .build_ids = ""},
                                                .code_limit = 1 << 20};
    struct pug_capture *capture = NULL;
    struct pug_read_failure failure;
    (void)bytes, (void)size; /* they are in the file */
    enum pug_status status = pug_capture_open(fuzz_place("perf.data"), &options, &capture);
    if (status != PUG_OK)
        return status;
    add_facts(capture, answer);
    status = pug_capture_elements(capture, give, answer);
    if (status == PUG_OK)
        status = add_profile_of(capture, true, answer);
    if (status == PUG_OK)
        status = add_profile_of(capture, false, answer);
    if (pug_capture_failure(capture, &failure))
        status = failure.status;
    pug_capture_free(capture);
    return status;
}

static uint8_t *perfdata_file(size_t *size, struct rec_random *random)
{
    struct perf_story story;
    const uint64_t choice = rec_random(random);
    perf_story_make(&story, &(struct perf_story_config){.seed = 1 + choice % 3,
                                                        .slices = 6,
                                                        .cpus = 2,
                                                        .per_thread = choice & 4,
                                                        .one_sink = choice & 8,
                                                        .sinks = choice & 16,
                                                        .pipe = choice & 32,
                                                        .kernel = choice & 64});
    uint8_t *bytes = copy(story.file.data, story.file.size);
    *size = story.file.size;
    perf_story_free(&story);
    return bytes;
}

/* ---- words ---- */

static enum pug_status write_words(const uint8_t *bytes, size_t size, struct outcome *answer)
{
    struct pug_memory memory = {0};
    struct pug_sink sink = pug_memory_sink(&memory);
    struct pug_json json = pug_json_begin(&sink);
    pug_json_array(&json, NULL);
    for (size_t i = 0; i < size; i += 64)
        pug_json_string_n(&json, NULL, (const char *)bytes + i, size - i < 64 ? size - i : 64);
    pug_json_close(&json);
    pug_json_line(&json);
    pug_sink_printable(&sink, (const char *)bytes);
    if (!memory.failed)
        put(answer, memory.bytes, memory.count);
    free(memory.bytes);
    return memory.failed ? PUG_ERR_MEM : PUG_OK;
}

/* ---- the target ---- */

static const struct door doors[] = {
    {"parameters", open_params, params_file, NULL},
    {"profile", open_profile, profile_file, mend_profile},
    {"names", open_names, names_file, NULL},
    {"index", open_index, index_file, mend_index},
    {"perf.data", open_perfdata, perfdata_file, NULL},
    {"words", write_words, names_file, NULL},
};

static const struct door *door_of(uint8_t byte)
{
    return &doors[byte % (sizeof(doors) / sizeof(doors[0]))];
}

static void write_files(const struct door *door, const uint8_t *bytes, size_t size)
{
    static bool programs;
    if (!programs && !perf_programs_write(fuzz_place("")))
        exit(2);
    programs = true;
    if (door->open == open_params) {
        static const char other[] = "impl = 3\ntype_bits = 4\n";
        fuzz_write("a.params", bytes, size);
        fuzz_write("b.params", other, sizeof(other) - 1);
    } else if (door->open == open_perfdata) {
        fuzz_write("perf.data", bytes, size);
    }
}

/** Without the n-th allocation; true: there were fewer. */
static bool attempt(const struct door *door, const uint8_t *file, size_t size, unsigned left,
                    bool on, const struct outcome *with)
{
    struct outcome without = {0};
    fuzz_starve(left, on);
    const enum pug_status status = door->open(file, size, &without);
    const bool starved = fuzz_feast();
    if (status != PUG_OK || outcome_equals(with, &without))
        return !starved;
    fprintf(stderr, "%s: PUG_OK without allocation %u%s, and not what there is with it\n",
            door->name, left, on ? " and all behind it" : "");
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome with = {0};
    if (size < HEAD)
        return 0;
    const struct door *door = door_of(data[0]);
    const size_t file_size = size - HEAD;
    const unsigned left = data[1] | (data[2] & 127u) << 8;
    const bool on = data[2] & 128;
    uint8_t *file = copy(data + HEAD, file_size);
    write_files(door, file, file_size);
    if (door->open(file, file_size, &with) == PUG_OK) {
        bool done = left != EACH;
        if (done)
            (void)attempt(door, file, file_size, left, on, &with);
        const unsigned step = share_step(3, 6);
        for (unsigned n = size % step; !done; n += step)
            done = attempt(door, file, file_size, n, on, &with);
    }
    free(file);
    return 0;
}

/** A whole file; of the first allocations one fails. */
size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    size_t size = 0;
    data[0] = (uint8_t)rec_random(random);
    data[1] = (uint8_t)rec_random(random);
    data[2] = (uint8_t)(rec_random_below(random, 2) << 7 | rec_random_once_in(random, 3));
    uint8_t *file = door_of(data[0])->file(&size, random);
    size = size < room - HEAD ? size : room - HEAD;
    memcpy(data + HEAD, file, size);
    free(file);
    return HEAD + size;
}

void fuzz_mend(uint8_t *data, size_t size)
{
    if (size >= HEAD && door_of(data[0])->mend)
        door_of(data[0])->mend(data + HEAD, size - HEAD);
}
