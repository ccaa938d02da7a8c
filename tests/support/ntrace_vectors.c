// SPDX-License-Identifier: MIT
#include "support/ntrace_vectors.h"

#include "support/whole_file.h"

static bool has_vectors(void)
{
    return access(VECTORS "/README.md", R_OK) == 0;
}

void ntrace_need_vectors(void)
{
    if (has_vectors() && whole_file_unpacks(PUG_UNPACK_XZ))
        return;
    print_message(has_vectors() ? "this build cannot unpack %s\n" : "no vectors at %s\n", VECTORS);
    skip();
}

/* ---- files ---- */

uint8_t *ntrace_load(const char *path, size_t *size)
{
    uint8_t *bytes = whole_file(path, size);
    if (!bytes)
        fail_msg("%s can't be opened", path);
    return bytes;
}

void ntrace_expected_free(struct ntrace_expected *expected)
{
    lines_free(&expected->flow);
    lines_free(&expected->times);
    lines_free(&expected->data);
}

static void parse_lines(char *text, struct ntrace_expected *expected)
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

void ntrace_load_lines(const char *path, struct ntrace_expected *expected)
{
    size_t size;
    char *text = (char *)whole_file_unpacked(path, &size);
    if (text)
        parse_lines(text, expected);
    else
        fail_msg("%s can't be unpacked", path);
    free(text);
}

/* ---- settings ---- */

void ntrace_set(struct ntrace_options *options, const char *name, uint64_t value)
{
    options->items[options->count++] = (struct pug_setting){.name = name, .value = value};
}

struct pug_settings ntrace_as_settings(const struct ntrace_options *options)
{
    return (struct pug_settings){.items = options->items, .count = options->count};
}

/** "s 6 iret vao": the words of the README's table. */
void ntrace_set_words(struct ntrace_options *options, const char *words)
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
            ntrace_set(options, "src_bits", strtoul(strtok_r(NULL, " ", &save), NULL, 10));
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            if (strcmp(word, names[i].word) == 0)
                ntrace_set(options, names[i].name, 1);
    }
}

/* ---- programs ---- */

/** The first ELF file of a folder, or the one named. */
void ntrace_find_elf(const char *folder, const char *name, char *path, size_t size)
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
            snprintf(path, size, "%.700s/%s", folder, entry->d_name);
    closedir(dir);
    assert_true(*path);
}

/** The program; supervisor code of `vm` is seen at an alias too. Sets xlen. */
struct pug_image *ntrace_program(const char *folder, const char *name,
                                 struct ntrace_options *options)
{
    char path[1024];
    size_t size;
    ntrace_find_elf(folder, name, path, sizeof(path));
    struct pug_place place = {.space = PUG_SPACE_ANY};
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_elf(image, &place, path, 0), PUG_OK);
    if (strstr(folder, "spec-vm"))
        assert_int_equal(pug_image_add_elf(image, &place, path, 0xffffffff00000000), PUG_OK);
    uint8_t *elf = ntrace_load(path, &size);
    ntrace_set(options, "xlen", size > 4 && elf[4] == 1 ? 32 : 64);
    free(elf);
    return image;
}

/* ---- comparing ---- */

unsigned ntrace_failures;

void ntrace_compare(const char *name, const struct lines *got, const struct lines *want)
{
    char text[400];
    if (!lines_differ(got, want, text, sizeof(text)))
        return;
    print_error("%s: %s\n", name, text);
    ntrace_failures++;
}

bool ntrace_has_suffix(const char *name, const char *suffix)
{
    size_t a = strlen(name), b = strlen(suffix);
    return a >= b && strcmp(name + a - b, suffix) == 0;
}

/** One row of the README's table of streams; its cells. False: another row. */
bool ntrace_spec_row(char *line, char **folder, char **file, char **words)
{
    char *save, *cells[6] = {0};
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

void ntrace_only_pcs(struct lines *lines)
{
    size_t kept = 0;
    for (size_t i = 0; i < lines->count; i++) {
        if (!lines->items[i].event)
            lines->items[kept++] = lines->items[i];
        free(lines->items[i].event);
    }
    lines->count = kept;
}
