// SPDX-License-Identifier: MIT
#include "common/version.h"
#include "common/command.h"
#include "common/messages.h"
#include "common/sandbox.h"
#include "pugmark/author/protocol.h"
#include "pugmark/disasm.h"
#include "pugmark/pugmark.h"
#include "text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a build can leave out, by the words of pug_features(), and what it then cannot do. */
static const struct {
    const char *feature, *without;
} optional[] = {
    {"dwarf", "source lines"},          {"llvm", "disassembly"},
    {"zstd", "compressed perf.data"},   {"zlib", "pprof's profiles"},
    {"lzma", "modules packed with xz"}, {"yaml", "trace folders of the CMSIS-Toolbox"},
    {"zip", "sessions of sigrok"},
};

static bool has(const char *feature)
{
    const size_t length = strlen(feature);
    for (const char *at = pug_features(); at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, feature, length) == 0 && (at[length] == ' ' || !at[length]))
            return true;
    }
    return false;
}

static void print_text(void)
{
    const char *before = "built without: ";
    printf("pugmark %s (%s)\n", pug_version(), pug_features());
    for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
        if (has(optional[i].feature))
            continue;
        printf("%s%s (%s)", before, optional[i].feature, optional[i].without);
        before = ", ";
    }
    if (*before == ',')
        putchar('\n');
    if (sandbox_level() > 0)
        printf("sandbox: Landlock, version %u\n", sandbox_level());
    else
        printf("sandbox: none on this system\n");
}

static void put(void *context, const void *bytes, size_t size)
{
    (void)context;
    fwrite(bytes, 1, size, stdout);
}

static void put_features(struct pug_json *json)
{
    const char *at = pug_features();
    pug_json_array(json, "features");
    while (*at) {
        const size_t length = strcspn(at, " ");
        pug_json_string_n(json, NULL, at, length);
        at += length + (at[length] == ' ');
    }
    pug_json_close(json);
}

static void print_json(void)
{
    struct pug_sink sink = {.put = put};
    struct pug_json json = pug_json_begin(&sink);
    pug_json_object(&json, NULL);
    pug_json_string(&json, "version", pug_version());
    pug_json_number(&json, "author_abi", PUG_AUTHOR_ABI);
    put_features(&json);
    pug_json_array(&json, "without");
    for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++)
        if (!has(optional[i].feature))
            pug_json_string(&json, NULL, optional[i].feature);
    pug_json_close(&json);
    pug_json_string(&json, "disassembler", pug_disasm_built_in());
    if (sandbox_level() > 0)
        pug_json_number(&json, "landlock", sandbox_level());
    else
        pug_json_null(&json, "landlock");
    pug_json_close(&json);
    pug_json_line(&json);
}

int version_print(const char *form)
{
    if (!form) {
        print_text();
        return EXIT_DONE;
    }
    if (strcmp(form, "--json") != 0) {
        message_say("pugmark: --version takes --json, or nothing; it was given '%s'\n", form);
        return EXIT_USAGE;
    }
    print_json();
    return EXIT_DONE;
}
