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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_encoder),
        cmocka_unit_test(test_specification_encoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
