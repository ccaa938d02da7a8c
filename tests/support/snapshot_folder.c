// SPDX-License-Identifier: MIT
#include "support/snapshot_folder.h"

#include "listing/listing.h"
#include "support/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void on_log(void *context, const struct pug_log_record *record)
{
    struct snapshot_folder *f = context;
    pug_listing_log(&f->said, record);
}

/** Everything that was logged, the directory left out. */
const char *snapshot_said(struct snapshot_folder *f)
{
    static char plain[8192];
    size_t length = strlen(f->directory), at = 0;
    pug_text_end(&f->said);
    for (const char *from = f->text; *from && at + 1 < sizeof(plain);) {
        if (strncmp(from, f->directory, length) == 0)
            from += length;
        else
            plain[at++] = *from++;
    }
    plain[at] = 0;
    f->said.length = 0;
    return plain;
}

void snapshot_write(const struct snapshot_folder *f, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", f->directory, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(text, 1, strlen(text), file);
    fclose(file);
}

int snapshot_setup(void **state)
{
    struct snapshot_folder *f = calloc(1, sizeof(*f));
    assert_true(temporary_folder(f->directory, sizeof(f->directory), "snapshot"));
    f->log = pug_log_new(PUG_SEV_INFO);
    f->said = PUG_TEXT(f->text, sizeof(f->text));
    pug_log_set_sink(f->log, on_log, f);
    *state = f;
    return 0;
}

int snapshot_teardown(void **state)
{
    struct snapshot_folder *f = *state;
    char command[128];
    pug_snapshot_free(f->snapshot);
    pug_log_free(f->log);
    snprintf(command, sizeof(command), "rm -r %s", f->directory);
    int result = system(command);
    free(f);
    return result;
}

enum pug_status snapshot_open(struct snapshot_folder *f, const struct pug_snapshot_options *options)
{
    struct pug_snapshot_options logged = *options;
    logged.log = f->log;
    pug_snapshot_free(f->snapshot);
    f->snapshot = NULL;
    return pug_snapshot_open(f->directory, &logged, &f->snapshot);
}

/** Write files and open the snapshot natively. */
enum pug_status snapshot_open_files(struct snapshot_folder *f, const struct snapshot_file *files,
                                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        snapshot_write(f, files[i].name, files[i].text);
    return snapshot_open(f, &(struct pug_snapshot_options){.verbose = false});
}

void snapshot_expect_source(struct snapshot_folder *f, const char *buffer, size_t n,
                            const char *name, const char *core, const char *protocol)
{
    struct pug_snapshot_source source;
    const struct pug_snapshot_buffer *of = pug_snapshot_buffer(f->snapshot, buffer);
    assert_non_null(of);
    if (!name) {
        assert_false(pug_snapshot_source_at(f->snapshot, of, n, &source));
        return;
    }
    assert_true(pug_snapshot_source_at(f->snapshot, of, n, &source));
    assert_string_equal(source.name, name);
    if (core)
        assert_string_equal(source.core_name, core);
    else
        assert_null(source.core_name);
    if (protocol)
        assert_string_equal(source.protocol, protocol);
    else
        assert_null(source.protocol);
}

enum pug_status snapshot_make_tree(struct snapshot_folder *f, struct pug_image *image,
                                   bool is_reference, struct pug_tree **tree)
{
    struct pug_snapshot_tree_config config = {.image = image, .log = f->log};
    if (is_reference)
        config.quirks = pug_quirks_reference();
    return pug_snapshot_tree(f->snapshot, pug_snapshot_buffer_at(f->snapshot, 0), &config, tree);
}

enum pug_status snapshot_open_etm(struct snapshot_folder *f, const char *type, const char *core,
                                  const char *association)
{
    char device[256], core_text[256], trace[256];
    snprintf(device, sizeof(device),
             "[device]\nname=E\ntype=%s\n[regs]\nTRCCONFIGR (0x4)=0xC1\nTRCTRACEIDR=0x10\n"
             "TRCIDR0(id:0x78)=0x28000EA1\nTRCIDR1=0x4100F403\nTRCIDR2=0x488\nTRCIDR8=0\n"
             "TRCDEVARCH=0x47705A13\n",
             type);
    snprintf(core_text, sizeof(core_text), "[device]\nname=C\n%s", core);
    snprintf(trace, sizeof(trace),
             "[trace_buffers]\nbuffers=a\n" BUFFER_A "[source_buffers]\nE=A\n%s", association);
    return OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=e\nb=c\n[trace]\nmetadata=t\n"},
                {"e", device}, {"c", core_text}, {"t", trace});
}
