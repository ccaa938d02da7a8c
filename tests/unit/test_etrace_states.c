// SPDX-License-Identifier: MIT
/**
 * @file Written states on test vectors of all wrappings: decoders that begin anywhere, beside one
 * that saw everything. (Random streams: test_etrace_roundtrip.c.)
 */
#include "pugmark/advanced/params.h"
#include "support/state_check.h"
#include "vectors/vector_files.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
/* cmocka.h wants those above first */
#include <cmocka.h>

#define ROOT PUG_SOURCE_DIR "/../shared/vectors/etrace"

/** The stream that a parameter file belongs to. */
static uint8_t *stream_of(const char *params, size_t *size)
{
    static const char *const kinds[] = {"", ".te", ".te_inst_raw", ".te_data", ".te_data_raw"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char path[1400];
        struct stat info;
        snprintf(path, sizeof(path), "%.*s%s", (int)(strlen(params) - strlen(".params")), params,
                 kinds[i]);
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
            return whole_file(path, size);
    }
    return NULL;
}

/** Adds how many of the decoders that began somewhere got to know everything. */
static void check(const char *folder, const char *name, unsigned *met)
{
    char path[1400];
    struct pug_params *params;
    size_t size = 0;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(pug_params_load(path, NULL, &params), PUG_OK);
    uint8_t *bytes = stream_of(path, &size);
    if (bytes && pug_params_sources(params) == 0) {
        const struct pug_settings *settings = pug_params_settings(params);
        struct pug_image *image = pug_image_new();
        if (pug_settings_find(settings, "pcs"))
            vector_program(image, folder, -1);
        struct stream_run run = {.protocol = "E-Trace",
                                 .transport = pug_params_transport(params),
                                 .settings = *settings,
                                 .image = image,
                                 .bytes = bytes,
                                 .size = size};
        struct state_check states = {.starts = 2, .seed = size};
        state_check(&run, &states);
        *met += states.met;
        pug_image_free(image);
    }
    free(bytes);
    pug_params_free(params);
}

static unsigned check_folder(const char *name)
{
    char folder[1024];
    struct dirent **names;
    unsigned met = 0;
    snprintf(folder, sizeof(folder), "%s/%s", ROOT, name);
    int count = scandir(folder, &names, NULL, alphasort);
    if (count < 0)
        skip();
    for (int i = 0; i < count; i++) {
        size_t length = strlen(names[i]->d_name);
        if (length > 7 && strcmp(names[i]->d_name + length - 7, ".params") == 0)
            check(folder, names[i]->d_name, &met);
        free(names[i]);
    }
    free(names);
    return met;
}

static void test_wrappings(void **state)
{
    (void)state;
    assert_true(check_folder("br_j_asm") > 0);
}

static void test_programs(void **state)
{
    (void)state;
    assert_true(check_folder("dhrystone") > 0);
}

/** Values alone refer to those before them for ever. */
static void test_data(void **state)
{
    (void)state;
    (void)check_folder("data-dtrace");
    (void)check_folder("dtrace");
    (void)check_folder("ref-data-dtrace");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrappings),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
