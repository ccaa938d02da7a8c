// SPDX-License-Identifier: MIT
/** @file Findings: their sentences, and what is found in a capture as it is and changed. */
#include "diagnose/findings.h"
#include "support/captures.h"
#include "support/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sentences ---- */

/** A finding of a code with something in each field. */
static struct pug_finding sample(enum pug_finding_code code)
{
    return (struct pug_finding){.code = code,
                                .source = 0x10,
                                .index = 1234,
                                .address = 0x8000,
                                .count = 1024,
                                .total = 4096,
                                .opcode = 0xdeff,
                                .width = 4,
                                .place_count = 1,
                                .places = {{0x1000, 0x1fff, 7, false}},
                                .name = "NAME",
                                .other = "OTHER",
                                .settings = "",
                                .words = "WORDS",
                                .format = "",
                                .said = ""};
}

static void print_sentences(void)
{
    for (unsigned code = 0; code < PUG_FINDING_CODES; code++) {
        const struct pug_finding finding = sample((enum pug_finding_code)code);
        char text[1024];
        (void)pug_finding_text(&finding, text, sizeof(text));
        puts(text);
    }
}

static void each_code_has_a_name_and_a_sentence(void **state)
{
    (void)state;
    for (unsigned code = 0; code < PUG_FINDING_CODES; code++) {
        const struct pug_finding finding = sample((enum pug_finding_code)code);
        char text[1024], cut[8];
        const size_t size = pug_finding_text(&finding, text, sizeof(text));
        assert_true(size > 15 && strlen(text) == size);
        assert_null(strchr(text, '\n'));
        assert_true(strlen(pug_finding_name((enum pug_finding_code)code)) > 2);
        for (unsigned other = 0; other < code; other++)
            assert_string_not_equal(pug_finding_name((enum pug_finding_code)code),
                                    pug_finding_name((enum pug_finding_code)other));
        assert_int_equal(pug_finding_text(&finding, cut, sizeof(cut)), size);
        assert_int_equal(strlen(cut), sizeof(cut) - 1);
    }
    assert_string_equal(pug_finding_name(PUG_FINDING_CODES), "");
}

static void says(const struct pug_finding *finding, const char *expected)
{
    char text[1024];
    (void)pug_finding_text(finding, text, sizeof(text));
    assert_string_equal(text, expected);
}

static void values_stand_in_the_sentence(void **state)
{
    struct pug_finding finding = sample(PUG_FINDING_PROGRAM);
    (void)state;
    says(&finding, "source 0x10: the program does not match the trace: 1,024 contradictions in "
                   "4,096 branches, the first at offset 1234, address 0x8000: an unconditional "
                   "branch was not taken. Is this the version that ran, loaded where it ran?");
    finding.count = 1;
    finding.several = true;
    finding.address = PUG_ADDRESS_UNKNOWN;
    says(&finding, "source 0x10: a program does not match the trace: 1 contradiction in 4,096 "
                   "branches, the first at offset 1234: an unconditional branch was not taken");
    finding = sample(PUG_FINDING_NO_BYTES);
    finding.places[0].least = true;
    finding.before = 12345;
    says(&finding, "there are no bytes for source 0x10; ids in this trace: 0x1000 (at least 7 "
                   "bytes); 12,345 bytes are before the first id");
    finding = sample(PUG_FINDING_AGREES);
    says(&finding, "source 0x10: 1,024 branches were compared with the program; all agree");
}

/* ---- captures ---- */

static struct pug_findings *diagnose(const char *path, const struct pug_capture_options *options)
{
    struct pug_capture *capture;
    struct pug_findings *findings;
    assert_int_equal(pug_capture_open(path, options, &capture), PUG_OK);
    const struct pug_diagnose_options how = {.threads = 2, .opened = options};
    assert_int_equal(pug_capture_diagnose(capture, &how, &findings), PUG_OK);
    pug_capture_free(capture);
    return findings;
}

static const struct pug_finding *find(const struct pug_findings *findings,
                                      enum pug_finding_code code)
{
    const struct pug_finding *finding;
    for (size_t n = 0; (finding = pug_finding_at(findings, n)) != NULL; n++)
        if (finding->code == code)
            return finding;
    return NULL;
}

static void its_own_program_agrees(const char *path, void *context)
{
    unsigned *agreed = context;
    const struct pug_capture_options options = {.code_limit = 0};
    struct pug_findings *findings = diagnose(path, &options);
    const struct pug_finding *finding;
    for (size_t n = 0; (finding = pug_finding_at(findings, n)) != NULL; n++)
        assert_int_not_equal(finding->about, PUG_FINDING_WRONG);
    *agreed += find(findings, PUG_FINDING_AGREES) != NULL;
    pug_findings_free(findings);
}

static void a_capture_with_its_program_has_nothing_wrong(void **state)
{
    unsigned agreed = 0;
    (void)state;
    captures_folders(CAPTURES_OWN, its_own_program_agrees, &agreed);
    assert_true(agreed > 5);
}

/** A copy of the example whose program is another build. */
static void make_changed(char *folder, size_t size)
{
    static const char crash[] = PUG_SOURCE_DIR "/examples/crash";
    char command[4096];
    assert_true(temporary_folder(folder, size, "findings"));
    snprintf(command, sizeof(command), "cp -r %s/. %s && chmod -R u+w %s && cp %s/%s %s/crash",
             crash, folder, folder, crash, "crash.mended", folder);
    assert_int_equal(system(command), 0);
}

static void another_program_is_found(void **state)
{
    const struct pug_capture_options options = {.code_limit = 0};
    char folder[256], command[512];
    (void)state;
    make_changed(folder, sizeof(folder));
    struct pug_findings *findings = diagnose(folder, &options);
    const struct pug_finding *finding = find(findings, PUG_FINDING_PROGRAM);
    assert_non_null(finding);
    assert_int_equal(finding->about, PUG_FINDING_WRONG);
    assert_int_equal(finding->source, 0x10);
    assert_true(finding->count > 0 && finding->total >= finding->count);
    assert_int_not_equal(finding->address, PUG_ADDRESS_UNKNOWN);
    assert_non_null(find(findings, PUG_FINDING_LOSS));
    pug_findings_free(findings);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void what_is_missing_is_refused(void **state)
{
    struct pug_findings *findings;
    (void)state;
    assert_int_equal(pug_capture_diagnose(NULL, NULL, &findings), PUG_ERR_INVALID_PARAM_VAL);
    assert_null(pug_finding_at(NULL, 0));
    pug_findings_free(NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_code_has_a_name_and_a_sentence),
        cmocka_unit_test(values_stand_in_the_sentence),
        cmocka_unit_test(a_capture_with_its_program_has_nothing_wrong),
        cmocka_unit_test(another_program_is_found),
        cmocka_unit_test(what_is_missing_is_refused),
    };
    if (argc > 1 && strcmp(argv[1], "sentences") == 0) {
        print_sentences();
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
