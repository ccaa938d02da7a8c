// SPDX-License-Identifier: MIT
/**
 * @file rules INPUT RULE...: whether a capture keeps rules, such as "panic never runs".
 *
 * Build against an installed library: cc rules.c $(pkg-config --cflags --libs pugmark)
 */
#include <pugmark/pugmark.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Prints what became of the rules. Returns whether all hold. */
static bool print(const struct pug_check *check)
{
    struct pug_check_verdict verdict;
    struct pug_check_error error;
    bool good = true;
    for (size_t n = 0; pug_check_error_at(check, n, &error); n++) {
        printf("column %u of \"%s\": %s\n", (unsigned)error.column, error.text, error.message);
        good = false;
    }
    for (size_t n = 0; good && pug_check_verdict_at(check, n, &verdict); n++)
        printf("%s: %s%s%s\n", pug_verdict_name(verdict.verdict), verdict.rule,
               *verdict.why ? ": " : "", verdict.why);
    for (size_t n = 0; good && pug_check_verdict_at(check, n, &verdict); n++)
        good = verdict.verdict == PUG_HOLDS;
    return good;
}

int main(int argc, char **argv)
{
    struct pug_capture *capture = NULL;
    struct pug_check *check = pug_check_new();
    enum pug_status status = check && argc > 2 ? PUG_OK : PUG_ERR_INVALID_PARAM_VAL;
    for (int i = 2; i < argc && status == PUG_OK; i++)
        status = pug_check_read(check, "rule", argv[i], strlen(argv[i]));
    if (status == PUG_OK)
        status = pug_capture_open(argv[1], NULL, &capture);
    if (status == PUG_OK)
        status = pug_check_capture(check, capture, NULL, NULL);
    if (status == PUG_OK)
        status = pug_check_finish(check);
    bool good = check && print(check);
    if (status != PUG_OK) {
        fprintf(stderr, "usage: rules INPUT RULE...\n%s. %s\n", pug_status_text(status),
                pug_status_help(status));
        good = false;
    }
    pug_check_free(check);
    pug_capture_free(capture);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
