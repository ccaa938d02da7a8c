// SPDX-License-Identifier: MIT
/** @file Every N-Trace stream of the shared vectors gives the instructions and events listed. */
#include "support/ntrace_stream.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
/* cmocka.h wants the four above first */
#include <cmocka.h>

#define VECTORS PUG_SOURCE_DIR "/../shared/vectors/ntrace"

static bool has_vectors(void)
{
    return access(VECTORS "/README.md", R_OK) == 0;
}

static void need_vectors(void)
{
    if (has_vectors())
        return;
    print_message("no vectors at %s\n", VECTORS);
    skip();
}

/* ---- files ---- */

static uint8_t *read_all(FILE *file, size_t *size)
{
    size_t room = 1 << 16;
    uint8_t *bytes = malloc(room + 1);
    *size = 0;
    assert_non_null(bytes);
    for (size_t n; (n = fread(bytes + *size, 1, room - *size, file)) > 0;) {
        *size += n;
        if (*size == room) {
            room *= 2;
            bytes = realloc(bytes, room + 1);
            assert_non_null(bytes);
        }
    }
    bytes[*size] = 0;
    return bytes;
}

static uint8_t *load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s can't be opened", path);
    uint8_t *bytes = read_all(file, size);
    fclose(file);
    return bytes;
}

/** What a list expects: program counters and events, timestamps, data. */
struct expected {
    struct lines flow, times, data;
};

static void expected_free(struct expected *expected)
{
    lines_free(&expected->flow);
    lines_free(&expected->times);
    lines_free(&expected->data);
}

static void parse_lines(char *text, struct expected *expected)
{
    for (char *at = text, *next; *at; at = next) {
        size_t length = strcspn(at, "\n");
        next = at + length + (at[length] != 0);
        at[length] = 0;
        if (strncmp(at, "@ts ", 4) == 0)
            lines_add(&expected->times, strtoull(at + 4, NULL, 10), NULL);
        else if (strncmp(at, "@da ", 4) == 0)
            lines_add(&expected->data, 0, at);
        else if (*at == '@')
            lines_add(&expected->flow, 0, at);
        else if (*at)
            lines_add(&expected->flow, strtoull(at, NULL, 16), NULL);
    }
}

static void load_lines(const char *path, struct expected *expected)
{
    char command[600];
    size_t size;
    snprintf(command, sizeof(command), "xz -dc '%s'", path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char *text = (char *)read_all(pipe, &size);
    assert_int_equal(pclose(pipe), 0);
    parse_lines(text, expected);
    free(text);
}

/* ---- settings ---- */

struct options {
    struct pug_setting items[12];
    size_t count;
};

static void set(struct options *options, const char *name, uint64_t value)
{
    options->items[options->count++] = (struct pug_setting){.name = name, .value = value};
}

static struct pug_settings as_settings(const struct options *options)
{
    return (struct pug_settings){options->items, options->count};
}

/** "s 6 iret vao": the words of the README's table. */
static void set_words(struct options *options, const char *words)
{
    static const struct {
        const char *word, *name;
    } names[] = {{"iret", "implicit_return"},
                 {"seq", "sequential_jump"},
                 {"all", "all_jumps"},
                 {"vao", "extend_addr_msb"},
                 {"btm", "btm"}};
    char copy[128];
    snprintf(copy, sizeof(copy), "%s", words);
    for (char *save, *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        if (strcmp(word, "s") == 0)
            set(options, "src_bits", strtoul(strtok_r(NULL, " ", &save), NULL, 10));
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            if (strcmp(word, names[i].word) == 0)
                set(options, names[i].name, 1);
    }
}

/* ---- programs ---- */

/** The first ELF file of a folder, or the one named. */
static void find_elf(const char *folder, const char *name, char *path, size_t size)
{
    if (name) {
        snprintf(path, size, "%s/%s.elf", folder, name);
        return;
    }
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    *path = 0;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (strstr(entry->d_name, ".elf"))
            snprintf(path, size, "%s/%s", folder, entry->d_name);
    closedir(dir);
    assert_true(*path);
}

/** The program; supervisor code of `vm` is seen at an alias too. Sets xlen. */
static struct pug_image *program(const char *folder, const char *name, struct options *options)
{
    char path[1024];
    size_t size;
    find_elf(folder, name, path, sizeof(path));
    struct pug_place place = {.space = PUG_SPACE_ANY};
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_elf(image, &place, path, 0), PUG_OK);
    if (strstr(folder, "spec-vm"))
        assert_int_equal(pug_image_add_elf(image, &place, path, 0xffffffff00000000), PUG_OK);
    uint8_t *elf = load(path, &size);
    set(options, "xlen", elf[4] == 1 ? 32 : 64);
    free(elf);
    return image;
}

/* ---- comparing ---- */

static unsigned failures;

static void compare(const char *name, const struct lines *got, const struct lines *want)
{
    char text[400];
    if (!lines_differ(got, want, text, sizeof(text)))
        return;
    print_error("%s: %s\n", name, text);
    failures++;
}

static void check_stream(const char *folder, const char *file, const char *elf,
                         const struct options *given, const struct expected *expected, bool events)
{
    char path[1024];
    size_t size;
    struct options options = *given;
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    uint8_t *bytes = load(path, &size);
    struct pug_image *image = program(folder, elf, &options);
    struct pug_settings settings = as_settings(&options);
    struct ntrace_stream stream = {0};
    assert_true(ntrace_open(&stream, image, "plain", &settings));
    if (events)
        ntrace_want_events(&stream);
    ntrace_feed(&stream, bytes, size, 0);
    compare(path, &stream.flow, &expected->flow);
    if (events) {
        compare(path, &stream.times, &expected->times);
        compare(path, &stream.beside, &expected->data);
    }
    ntrace_close(&stream);
    pug_image_free(image);
    free(bytes);
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t a = strlen(name), b = strlen(suffix);
    return a >= b && strcmp(name + a - b, suffix) == 0;
}

/* ---- the folders ---- */

static void check_ref_folder(const char *folder, unsigned *streams)
{
    char path[1024];
    struct expected expected = {0};
    snprintf(path, sizeof(path), "%s/pcs.txt.xz", folder);
    load_lines(path, &expected);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (!has_suffix(entry->d_name, ".nex"))
            continue;
        struct options options = {0};
        if (strstr(entry->d_name, "_cs") || strstr(entry->d_name, "_cnt"))
            set(&options, "implicit_return", 1);
        check_stream(folder, entry->d_name, NULL, &options, &expected, false);
        ++*streams;
    }
    closedir(dir);
    expected_free(&expected);
}

static void test_reference_encoder(void **state)
{
    (void)state;
    need_vectors();
    DIR *dir = opendir(VECTORS);
    unsigned streams = 0;
    failures = 0;
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char folder[512];
        snprintf(folder, sizeof(folder), "%s/%.100s", VECTORS, entry->d_name);
        if (strncmp(entry->d_name, "ref-", 4) == 0)
            check_ref_folder(folder, &streams);
    }
    closedir(dir);
    print_message("%u streams, %u differ\n", streams, failures);
    assert_int_equal(failures, 0);
    assert_true(streams >= 150);
}

/** One row of the README's table of streams; its cells. False: another row. */
static bool spec_row(char *line, char **folder, char **file, char **words)
{
    char *save, *cells[6];
    unsigned n = 0;
    if (strncmp(line, "| spec-", 7) != 0)
        return false;
    for (char *cell = strtok_r(line, "|", &save); cell && n < 6;
         cell = strtok_r(NULL, "|", &save)) {
        cell += strspn(cell, " ");
        cells[n] = cell;
        for (size_t end = strlen(cell); end > 0 && cell[end - 1] == ' ';)
            cell[--end] = 0;
        n++;
    }
    *folder = cells[0];
    *file = cells[1];
    *words = cells[5];
    return n == 6;
}

static void test_specification_encoder(void **state)
{
    (void)state;
    need_vectors();
    FILE *readme = fopen(VECTORS "/README.md", "r");
    char line[1000];
    unsigned streams = 0;
    failures = 0;
    assert_non_null(readme);
    while (fgets(line, sizeof(line), readme)) {
        char *folder, *file, *words, path[1024];
        struct expected expected = {0};
        struct options options = {0};
        if (!spec_row(line, &folder, &file, &words))
            continue;
        set_words(&options, words);
        snprintf(path, sizeof(path), "%s/%s/%.*s.exp.xz", VECTORS, folder, (int)strlen(file) - 4,
                 file);
        load_lines(path, &expected);
        snprintf(path, sizeof(path), "%s/%s", VECTORS, folder);
        check_stream(path, file, NULL, &options, &expected, true);
        expected_free(&expected);
        streams++;
    }
    fclose(readme);
    print_message("%u streams, %u differ\n", streams, failures);
    assert_int_equal(failures, 0);
    assert_int_equal(streams, 55);
}

/* ---- several sources in one stream ---- */

struct hart {
    uint16_t source;
    const char *elf;
    bool implicit_return, btm;
};

/** The lists of one source of a tree with several. */
static void check_hart(const struct hart *hart, struct ntrace_stream *stream)
{
    char path[1024];
    struct expected expected = {0};
    snprintf(path, sizeof(path), "%s/multi/four-harts.src%u.exp.xz", VECTORS, hart->source);
    load_lines(path, &expected);
    ntrace_flush_event(stream);
    compare(path, &stream->flow, &expected.flow);
    compare(path, &stream->times, &expected.times);
    expected_free(&expected);
    stream->tree = NULL;
    ntrace_close(stream);
}

struct harts {
    struct ntrace_stream streams[4];
    const struct hart *harts;
};

static enum pug_response on_harts(void *context, const struct pug_element *elements, size_t count,
                                  size_t *taken)
{
    struct harts *harts = context;
    (void)taken;
    for (size_t i = 0; i < count; i++)
        for (size_t n = 0; n < 4; n++)
            if (harts->harts[n].source == elements[i].source)
                ntrace_take(&harts->streams[n], &elements[i]);
    return PUG_RESP_CONT;
}

static void add_hart(struct pug_tree *tree, const struct hart *hart, struct ntrace_stream *stream)
{
    struct pug_source *source;
    struct options options = {0};
    set(&options, "src_bits", 4);
    set(&options, "src_id", hart->source);
    set(&options, "implicit_return", hart->implicit_return);
    set(&options, "btm", hart->btm);
    struct pug_source_config config = {
        .protocol = "N-Trace", .settings = as_settings(&options), .decode = true};
    assert_int_equal(pug_tree_add_source(tree, &config, &source), PUG_OK);
    pug_source_monitor(source, ntrace_on_packet, stream);
}

static void test_several_harts(void **state)
{
    static const struct hart harts[4] = {{1, "traps", true, false},
                                         {2, "qsort", true, false},
                                         {3, "basic", true, true},
                                         {9, "pmp", false, false}};
    static const size_t blocks[] = {0, 1, 2, 3, 7, 1000};
    (void)state;
    need_vectors();
    size_t size;
    uint8_t *bytes = load(VECTORS "/multi/four-harts.nex", &size);
    struct pug_image *image = pug_image_new();
    failures = 0;
    for (size_t n = 0; n < 4; n++) {
        char path[1024];
        struct pug_place place = {
            .space = PUG_SPACE_ANY, .has_source = true, .source = harts[n].source};
        find_elf(VECTORS "/multi", harts[n].elf, path, sizeof(path));
        assert_int_equal(pug_image_add_elf(image, &place, path, 0), PUG_OK);
    }
    for (size_t b = 0; b < sizeof(blocks) / sizeof(blocks[0]); b++) {
        struct harts all = {.harts = harts};
        struct options options = {0};
        set(&options, "src_bits", 4);
        struct pug_tree_config config = {
            .transport = "nexus", .settings = as_settings(&options), .image = image};
        struct ntrace_stream whole = {0};
        assert_int_equal(pug_tree_new(&config, &whole.tree), PUG_OK);
        for (size_t n = 0; n < 4; n++) {
            all.streams[n].image = image;
            add_hart(whole.tree, &harts[n], &all.streams[n]);
        }
        pug_tree_on_elements(whole.tree, on_harts, &all);
        ntrace_feed(&whole, bytes, size, blocks[b]);
        for (size_t n = 0; n < 4; n++)
            check_hart(&harts[n], &all.streams[n]);
        pug_tree_free(whole.tree);
    }
    pug_image_free(image);
    free(bytes);
    assert_int_equal(failures, 0);
}

/* ---- damage ---- */

/** Lines of the lists that say what is wrong are not lines of the flow: count them. */
static unsigned take_complaints(struct lines *flow)
{
    static const char *const words[] = {"@bad ", "@fmt ", "@trunc ", "@disc "};
    size_t kept = 0;
    unsigned complaints = 0;
    for (size_t i = 0; i < flow->count; i++) {
        struct line line = flow->items[i];
        bool complaint = false;
        for (size_t n = 0; line.event && n < 4; n++)
            complaint |= strncmp(line.event, words[n], strlen(words[n])) == 0;
        if (complaint)
            free(line.event);
        else
            flow->items[kept++] = line;
        complaints += complaint;
    }
    flow->count = kept;
    return complaints;
}

static void check_corrupt(const char *file)
{
    char path[1024];
    size_t size;
    struct expected expected = {0};
    struct options options = {0};
    struct ntrace_stream stream = {0};
    snprintf(path, sizeof(path), "%s/corrupt/%.*s.exp.xz", VECTORS, (int)strlen(file) - 4, file);
    load_lines(path, &expected);
    unsigned complaints = take_complaints(&expected.flow);
    snprintf(path, sizeof(path), "%s/corrupt/%s", VECTORS, file);
    uint8_t *bytes = load(path, &size);
    struct pug_image *image = program(VECTORS "/spec-traps", "traps", &options);
    struct pug_settings settings = as_settings(&options);
    assert_true(ntrace_open(&stream, image, "plain", &settings));
    ntrace_want_events(&stream);
    ntrace_feed(&stream, bytes, size, 0);
    compare(path, &stream.flow, &expected.flow);
    compare(path, &stream.times, &expected.times);
    uint64_t logged = pug_log_errors(stream.log) + pug_log_warnings(stream.log);
    if (logged != complaints) {
        print_error("%s: %u log entries, expected %u\n", path, (unsigned)logged, complaints);
        failures++;
    }
    ntrace_close(&stream);
    expected_free(&expected);
    pug_image_free(image);
    free(bytes);
}

static void test_damaged_streams(void **state)
{
    (void)state;
    need_vectors();
    DIR *dir = opendir(VECTORS "/corrupt");
    unsigned streams = 0;
    failures = 0;
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (!has_suffix(entry->d_name, ".nex"))
            continue;
        check_corrupt(entry->d_name);
        streams++;
    }
    closedir(dir);
    assert_int_equal(failures, 0);
    assert_int_equal(streams, 10);
}

/** Streams that can't be decoded: the decoder comes to an end, and does not claim to be content. */
static void test_undecodable_streams(void **state)
{
    (void)state;
    need_vectors();
    DIR *dir = opendir(VECTORS "/negative");
    unsigned streams = 0;
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[1024], folder[1024];
        size_t size;
        struct options options = {0};
        struct ntrace_stream stream = {0};
        if (!has_suffix(entry->d_name, ".nex"))
            continue;
        size_t stem = strcspn(entry->d_name, ".");
        snprintf(folder, sizeof(folder), "%s/ref-%.*s", VECTORS, (int)stem, entry->d_name);
        snprintf(path, sizeof(path), "%s/negative/%s", VECTORS, entry->d_name);
        uint8_t *bytes = load(path, &size);
        struct pug_image *image = program(folder, NULL, &options);
        set(&options, "implicit_return", 1);
        struct pug_settings settings = as_settings(&options);
        stream.no_flow = true;
        assert_true(ntrace_open(&stream, image, "plain", &settings));
        ntrace_feed(&stream, bytes, size, 0);
        if (pug_log_errors(stream.log) == 0)
            print_message("%s: nothing found wrong\n", entry->d_name);
        ntrace_close(&stream);
        pug_image_free(image);
        free(bytes);
        streams++;
    }
    closedir(dir);
    assert_int_equal(streams, 6);
}

/* ---- beginning in the middle ---- */

static void only_pcs(struct lines *lines)
{
    size_t kept = 0;
    for (size_t i = 0; i < lines->count; i++) {
        if (!lines->items[i].event)
            lines->items[kept++] = lines->items[i];
        free(lines->items[i].event);
    }
    lines->count = kept;
}

/** A stream of the specification's folders, ready to be cut. */
struct cut {
    char folder[1024];
    struct options options;
    struct pug_image *image;
    uint8_t *bytes;
    size_t size;
    struct lines pcs;
};

static void cut_open(struct cut *cut, const char *folder, const char *file, const char *words)
{
    char path[2048];
    struct expected expected = {0};
    *cut = (struct cut){.size = 0};
    snprintf(cut->folder, sizeof(cut->folder), "%s/%s", VECTORS, folder);
    snprintf(path, sizeof(path), "%s/%s", cut->folder, file);
    cut->bytes = load(path, &cut->size);
    set_words(&cut->options, words);
    cut->image = program(cut->folder, NULL, &cut->options);
    snprintf(path, sizeof(path), "%s/%.*s.exp.xz", cut->folder, (int)strlen(file) - 4, file);
    load_lines(path, &expected);
    only_pcs(&expected.flow);
    cut->pcs = expected.flow;
    lines_free(&expected.times);
    lines_free(&expected.data);
}

static void cut_close(struct cut *cut)
{
    pug_image_free(cut->image);
    lines_free(&cut->pcs);
    free(cut->bytes);
}

/** Decode from an offset; are the program counters the tail of the list? Returns how many. */
static size_t tail_from(const struct cut *cut, size_t offset, bool search)
{
    struct options options = cut->options;
    struct ntrace_stream stream = {0};
    char text[400];
    if (search)
        set(&options, "align", 2);
    struct pug_settings settings = as_settings(&options);
    assert_true(ntrace_open(&stream, cut->image, "plain", &settings));
    ntrace_feed(&stream, cut->bytes + offset, cut->size - offset, 0);
    only_pcs(&stream.flow);
    size_t count = stream.flow.count;
    struct lines tail = cut->pcs;
    if (count > tail.count) {
        print_error("%s from %zu: %zu instructions of %zu\n", cut->folder, offset, count,
                    tail.count);
        failures++;
    } else {
        tail.items += tail.count - count;
        tail.count = count;
        if (lines_differ(&stream.flow, &tail, text, sizeof(text))) {
            print_error("%s from %zu: %s\n", cut->folder, offset, text);
            failures++;
        }
    }
    ntrace_close(&stream);
    return count;
}

/** The row of the README's table for a stream. */
static void cut_by_name(struct cut *cut, const char *name)
{
    FILE *readme = fopen(VECTORS "/README.md", "r");
    char line[1000], *folder, *file, *words;
    bool found = false;
    assert_non_null(readme);
    while (!found && fgets(line, sizeof(line), readme))
        found = spec_row(line, &folder, &file, &words) && strncmp(file, name, strlen(name)) == 0 &&
                file[strlen(name)] == '.';
    fclose(readme);
    if (!found)
        fail_msg("%s is not in the table", name);
    cut_open(cut, folder, file, words);
}

static void test_listed_cuts(void **state)
{
    (void)state;
    need_vectors();
    FILE *list = fopen(VECTORS "/cut/cuts.tsv", "r");
    char line[256], program_name[64], name[64], last[64] = "";
    struct cut cut = {.size = 0};
    unsigned cuts = 0;
    size_t offset, count;
    failures = 0;
    assert_non_null(list);
    while (fgets(line, sizeof(line), list)) {
        if (sscanf(line, "%63s %63s %zu %zu", program_name, name, &offset, &count) != 4)
            continue;
        if (strcmp(name, last) != 0) {
            if (*last)
                cut_close(&cut);
            cut_by_name(&cut, name);
            strcpy(last, name);
        }
        size_t got = tail_from(&cut, offset, true);
        if (got != count) {
            print_error("%s from %zu: %zu instructions, expected %zu\n", name, offset, got, count);
            failures++;
        }
        cuts++;
    }
    cut_close(&cut);
    fclose(list);
    assert_int_equal(failures, 0);
    assert_int_equal(cuts, 168);
}

/** From any byte of any stream, without being told that it is the middle. */
static void test_any_offset(void **state)
{
    (void)state;
    need_vectors();
    const char *all = getenv("PUG_ALL_OFFSETS");
    FILE *readme = fopen(VECTORS "/README.md", "r");
    char line[1000], *folder, *file, *words;
    failures = 0;
    assert_non_null(readme);
    while (fgets(line, sizeof(line), readme)) {
        struct cut cut;
        if (!spec_row(line, &folder, &file, &words))
            continue;
        cut_open(&cut, folder, file, words);
        for (size_t offset = 1; offset < cut.size; offset += all || offset < 40 ? 1 : 419)
            tail_from(&cut, offset, false);
        cut_close(&cut);
    }
    fclose(readme);
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_encoder),   cmocka_unit_test(test_specification_encoder),
        cmocka_unit_test(test_several_harts),       cmocka_unit_test(test_damaged_streams),
        cmocka_unit_test(test_undecodable_streams), cmocka_unit_test(test_listed_cuts),
        cmocka_unit_test(test_any_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
