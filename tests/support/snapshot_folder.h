// SPDX-License-Identifier: MIT
/** @file A folder that a test writes the files of a snapshot into, and what is said of them. */
#ifndef PUG_TEST_SNAPSHOT_FOLDER_H
#define PUG_TEST_SNAPSHOT_FOLDER_H

#include "base/text.h"
#include "pugmark/advanced/snapshot.h"

struct snapshot_file {
    const char *name, *text;
};

struct snapshot_folder {
    char directory[64];
    struct pug_log *log;
    char text[8192];
    struct pug_text said;
    struct pug_snapshot *snapshot;
};

/** For each test: make a folder, and remove it. */
int snapshot_setup(void **state);
int snapshot_teardown(void **state);

/** Everything that was logged since this was asked last, the folder's name left out. */
const char *snapshot_said(struct snapshot_folder *f);

void snapshot_write(const struct snapshot_folder *f, const char *name, const char *text);

/** Open it, in place of what was open before. */
enum pug_status snapshot_open(struct snapshot_folder *f,
                              const struct pug_snapshot_options *options);

/** Write files, and open the snapshot natively. */
enum pug_status snapshot_open_files(struct snapshot_folder *f, const struct snapshot_file *files,
                                    size_t count);

#define OPEN(f, ...)                                                                               \
    snapshot_open_files((f), (struct snapshot_file[]){__VA_ARGS__},                                \
                        sizeof((struct snapshot_file[]){__VA_ARGS__}) /                            \
                            sizeof(struct snapshot_file))

#define HEAD "[snapshot]\nversion=1.0\n"

#define MAIN_INI                                                                                   \
    {                                                                                              \
        "snapshot.ini", HEAD "[device_list]\na=device.ini\n[trace]\nmetadata=trace.ini\n"          \
    }

#define BUFFER_A "[a]\nname=A\nfile=f\nformat=coresight\n"

#define TWO_BUFFERS                                                                                \
    "[trace_buffers]\nbuffers=a,b\n[a]\nname=A\nfile=a\nformat=coresight\n"                        \
    "[b]\nname=B\nfile=b\nformat=coresight\n"

#define TRACES_C "[core_trace_sources]\nC=E\n"

/** The n-th source of a buffer; a `name` of NULL: there is none. */
void snapshot_expect_source(struct snapshot_folder *f, const char *buffer, size_t n,
                            const char *name, const char *core, const char *protocol);

/** The tree of the first buffer. */
enum pug_status snapshot_make_tree(struct snapshot_folder *f, struct pug_image *image,
                                   bool is_reference, struct pug_tree **tree);

/** Device files of an ETM4 of this type, and of a core with these lines. */
enum pug_status snapshot_open_etm(struct snapshot_folder *f, const char *type, const char *core,
                                  const char *association);

/** As the reference reads them. */
static const struct pug_snapshot_options reference = {.quirks = {.reference_snapshots = 1}};

#endif
