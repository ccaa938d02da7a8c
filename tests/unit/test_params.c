// SPDX-License-Identifier: MIT
/** @file Parameter files: keys, included files, several sources, and what is wrong with some. */
#include "pugmark/advanced/params.h"
#include "support/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

static char folder[64];

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_folder(void **state)
{
    (void)state;
    return temporary_folder(folder, sizeof(folder), "params") ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"a.params", "b.params", "c.params"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unlink(path_of(names[i]));
    return rmdir(folder);
}

static struct pug_params *load(const char *name)
{
    struct pug_params *params = NULL;
    assert_int_equal(pug_params_load(path_of(name), NULL, &params), PUG_OK);
    return params;
}

static uint64_t number(const struct pug_params *params, const char *name)
{
    return pug_settings_number(pug_params_settings(params), name, 12345);
}

static const char *word(const struct pug_params *params, const char *name)
{
    return pug_settings_word(pug_params_settings(params), name, "none");
}

static void test_keys(void **state)
{
    (void)state;
    write_file("a.params", "# all of it\n"
                           "xlen = 64\n"
                           "jvt_base=0x80000080   # hexadecimal\n"
                           "  support_format = ref+sijump\t\n"
                           "\n"
                           "format_set = 2.0 (3-bit format)\n"
                           "xlen = 32");
    struct pug_params *params = load("a.params");
    assert_int_equal(number(params, "xlen"), 64); /* the first one */
    assert_int_equal(number(params, "jvt_base"), 0x80000080);
    assert_string_equal(word(params, "support_format"), "ref+sijump");
    assert_string_equal(word(params, "format_set"), "2.0 (3-bit format)");
    assert_string_equal(pug_params_transport(params), "encapsulation");
    assert_int_equal(pug_params_sources(params), 0);
    assert_null(pug_params_source(params, 0));
    pug_params_free(params);
}

static void test_included(void **state)
{
    (void)state;
    write_file("a.params", "container = smi\nxlen = 32\npayload_params = b.params\n");
    write_file("b.params", "xlen = 64\nbpred_size_p = 5\nencoder_options = full=1 bp=5\n");
    struct pug_params *params = load("a.params");
    assert_string_equal(pug_params_transport(params), "smi");
    assert_int_equal(number(params, "xlen"), 32);
    assert_int_equal(number(params, "bpred_size_p"), 5);
    assert_int_equal(number(params, "full_address"), 1);
    pug_params_free(params);
}

static void test_sources(void **state)
{
    (void)state;
    write_file("a.params",
               "srcid_bits = 4\nsource 1 = b.params  # program one\nsource 9 = c.params\n");
    write_file("b.params", "xlen = 64\n");
    write_file("c.params", "xlen = 32\n");
    struct pug_params *params = load("a.params");
    assert_int_equal(pug_params_sources(params), 2);
    const struct pug_settings *second = pug_params_source(params, 1);
    assert_int_equal(pug_settings_number(second, "srcid", 0), 9);
    assert_int_equal(pug_settings_number(second, "xlen", 0), 32);
    assert_int_equal(pug_settings_number(second, "srcid_bits", 0), 4);
    assert_string_equal(pug_params_source_path(params, 0), path_of("b.params"));
    pug_params_free(params);
}

/** The transport gets the settings that only the sources' own files contain. */
static void test_what_the_transport_is_told(void **state)
{
    (void)state;
    write_file("a.params", "type_bits = 1\nsource 1 = b.params\nsource 0x20 = c.params\n");
    write_file("b.params", "type_bits = 2\ninstruction_type = 2\ntype_bits = 3\n");
    write_file("c.params", "srcid_bits = 6\ndata_type = 0\nxlen = 32\n");
    struct pug_params *params = load("a.params");
    assert_int_equal(number(params, "type_bits"), 1);
    assert_int_equal(number(params, "type_bits_1"), 2);
    assert_int_equal(number(params, "instruction_type_1"), 2);
    assert_int_equal(number(params, "data_type_1"), 12345);
    assert_int_equal(number(params, "type_bits_32"), 12345);
    assert_int_equal(number(params, "data_type_32"), 0);
    assert_int_equal(number(params, "srcid_bits"), 6);
    assert_int_equal(number(params, "xlen"), 12345);
    const struct pug_settings *first = pug_params_source(params, 0);
    assert_int_equal(pug_settings_number(first, "type_bits", 0), 2);
    assert_int_equal(pug_settings_number(first, "type_bits_1", 7), 7);
    pug_params_free(params);
}

static void test_derived(void **state)
{
    (void)state;
    write_file("a.params", "container = esp32 generation 1\naddress_mode = full\n");
    struct pug_params *params = load("a.params");
    assert_string_equal(pug_params_transport(params), "esp32");
    assert_string_equal(word(params, "layout"), "esp32_1");
    assert_int_equal(number(params, "full_address"), 1);
    pug_params_free(params);
    write_file("a.params", "data_width_p = 64\nfull = 1\natomic_subtypes = 0 swap, 5 xor\n");
    params = load("a.params");
    assert_int_equal(number(params, "only_data"), 1);
    assert_int_equal(number(params, "full_data"), 1);
    assert_int_equal(number(params, "ref_atomic_codes"), 1);
    pug_params_free(params);
}

static void remember(void *context, const struct pug_log_record *record)
{
    snprintf(context, 256, "%s", record->text);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *complaint;
        enum pug_status status;
    } cases[] = {
        {"xlen = 64\nsome words\n", ":2: not of the form key = value", PUG_ERR_INVALID_PARAM_VAL},
        {"source 70000 = b.params\n", ":1: source id must be 0 to 65535",
         PUG_ERR_INVALID_PARAM_VAL},
        {"payload_params = nowhere.params\n", "nowhere.params: No such file", PUG_ERR_FILE},
        {"payload_params = a.params\n", "parameter files name each other",
         PUG_ERR_INVALID_PARAM_VAL},
    };
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    char text[256];
    (void)state;
    pug_log_set_sink(log, remember, text);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pug_params *params = NULL;
        write_file("a.params", cases[i].text);
        assert_int_equal(pug_params_load(path_of("a.params"), log, &params), cases[i].status);
        assert_null(params);
        assert_non_null(strstr(text, cases[i].complaint));
    }
    pug_log_free(log);
}

/** `count` times the same line. */
static void write_lines(const char *name, const char *line, unsigned count)
{
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    for (unsigned i = 0; i < count; i++)
        fputs(line, file);
    fclose(file);
}

static void refused(const char *name, enum pug_status status, const char *complaint)
{
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_params *params = NULL;
    char text[256] = "";
    pug_log_set_sink(log, remember, text);
    assert_int_equal(pug_params_load(path_of(name), log, &params), status);
    assert_null(params);
    assert_non_null(strstr(text, complaint));
    pug_log_free(log);
}

/* A few lines can name much, and name it often. */
static void test_limits(void **state)
{
    (void)state;
    write_lines("b.params", "a_parameter_with_a_long_name = 1 # and a comment of some length\n",
                4000);
    write_lines("a.params", "source 1 = b.params\n", 300);
    refused("a.params", PUG_ERR_LIMIT, "too many parameter files, or too large together");
    write_lines("b.params", "a=1\n", 60000);
    refused("a.params", PUG_ERR_LIMIT, "too many parameters");
    write_lines("c.params", "", 0);
    write_lines("b.params", "payload_params = c.params\n", 100);
    write_lines("a.params", "payload_params = b.params\n", 100);
    refused("a.params", PUG_ERR_LIMIT, "too many parameter files");
    write_lines("c.params", "source 1 = b.params\n", 1000);
    write_lines("a.params", "a=1\n", 1000);
    write_lines("b.params", "", 0);
    FILE *file = fopen(path_of("a.params"), "a");
    for (unsigned i = 0; i < 1000; i++)
        fprintf(file, "source %u = b.params\n", i);
    fclose(file);
    refused("a.params", PUG_ERR_LIMIT, "too many parameters for so many sources");
    write_lines("b.params", "1234567\n", (1u << 17) + 1);
    refused("b.params", PUG_ERR_LIMIT, "file is larger than 1 MiB");
}

static void test_only_files(void **state)
{
    (void)state;
    unlink(path_of("b.params"));
    assert_int_equal(mkfifo(path_of("b.params"), 0600), 0);
    write_file("a.params", "payload_params = b.params\n");
    refused("a.params", PUG_ERR_FILE, "b.params: not a file");
    write_file("a.params", "payload_params = /dev/zero\n");
    refused("a.params", PUG_ERR_FILE, "/dev/zero: not a file");
    unlink(path_of("b.params"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),    cmocka_unit_test(test_included),
        cmocka_unit_test(test_sources), cmocka_unit_test(test_what_the_transport_is_told),
        cmocka_unit_test(test_derived), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_limits),  cmocka_unit_test(test_only_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
