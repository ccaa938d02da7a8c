// SPDX-License-Identifier: MIT
/** @file Any bytes as rules, which the bundled capture is checked by. */
#include "driver.h"
#include "pugmark/pugmark.h"

#include <string.h>

static struct pug_capture *capture;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pug_check_error error;
    struct pug_check_verdict verdict;
    struct pug_check *check = pug_check_new();
    if (!capture)
        (void)pug_capture_open(PUG_SOURCE_DIR "/examples/crash", NULL, &capture);
    if (!check)
        return 0;
    if (pug_check_read(check, "rules", (const char *)data, size) == PUG_OK && capture &&
        pug_check_capture(check, capture, &(struct pug_check_options){.threads = 1}, NULL) ==
            PUG_OK)
        (void)pug_check_finish(check);
    for (size_t n = 0; pug_check_error_at(check, n, &error); n++)
        if (strlen(error.message) == 0 || error.column == 0)
            __builtin_trap();
    for (size_t n = 0; pug_check_verdict_at(check, n, &verdict); n++)
        if (!verdict.why || !verdict.rule)
            __builtin_trap();
    pug_check_free(check);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    static const char *const rules[] = {
        "find takes < 20us own p99\n",
        "find runs every 1ms \302\26150us\n", /* plus or minus */
        "number within 100 ticks after find\n",
        "behind follows find within 3 instructions unless undecided\n",
        "a: on_fault never runs for each thread\n",
        "is_name runs == 9 times\n",
        "no exception but \"data fault\", IRQ5\n",
        "exception 12 never\ndepth of _start <= 3\n",
        "is_name only in find\nfind not in interrupt\n",
        "lines of *.c covered >= 3.5%\nmcdc of crash.c >= 1%\n",
        "itm port 0 never matches \"AS*RT\"\nwatch 0x20000010 stays < 3\n",
        "no loss \\\n# more\nprogram matches\nthread x share < 5%\nno gap longer than 3ms\n",
    };
    size_t size = 0;
    for (unsigned n = 0; n < 4; n++) {
        const char *rule = rules[rec_random_below(random, sizeof(rules) / sizeof(rules[0]))];
        const size_t length = strlen(rule);
        if (size + length > room)
            break;
        for (size_t i = 0; i < length; i++)
            data[size++] = (uint8_t)rule[i];
    }
    return size;
}
