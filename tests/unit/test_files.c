// SPDX-License-Identifier: MIT
/** @file Files that are read and written: whole or not at all, and nothing but regular ones. */
#include "files/infile.h"
#include "files/outfile.h"
#include "support/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

static int make_folder(void **state)
{
    (void)state;
    return temporary_folder(folder, sizeof(folder), "files") ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    return system(command);
}

static unsigned files_there(void)
{
    char command[128];
    snprintf(command, sizeof(command), "ls -A '%s' | wc -l", folder);
    FILE *pipe = popen(command, "r");
    unsigned count = 0;
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%u", &count), 1);
    pclose(pipe);
    return count;
}

static void holds(const char *name, const char *text)
{
    uint8_t *bytes;
    size_t size;
    assert_int_equal(pug_infile_load(path_of(name), 1000, &bytes, &size), PUG_OK);
    assert_string_equal((char *)bytes, text);
    assert_int_equal(size, strlen(text));
    free(bytes);
}

static void a_file_has_its_name_when_it_is_complete(void **state)
{
    (void)state;
    unsigned before = files_there();
    struct pug_outfile *file;
    assert_int_equal(pug_outfile_open(path_of("new"), &file), PUG_OK);
    struct pug_sink sink = pug_outfile_sink(file);
    pug_sink_text(&sink, "first");
    assert_int_equal(access(path_of("new"), F_OK), -1);
    assert_int_equal(pug_outfile_commit(file), PUG_OK);
    holds("new", "first");
    assert_int_equal(files_there(), before + 1);
}

static void what_is_abandoned_leaves_nothing(void **state)
{
    (void)state;
    assert_int_equal(pug_outfile_save(path_of("kept"), "old", 3), PUG_OK);
    unsigned before = files_there();
    struct pug_outfile *file;
    assert_int_equal(pug_outfile_open(path_of("kept"), &file), PUG_OK);
    struct pug_sink sink = pug_outfile_sink(file);
    pug_sink_text(&sink, "new");
    pug_outfile_abandon(file);
    holds("kept", "old");
    assert_int_equal(files_there(), before);
}

static void a_process_that_dies_leaves_nothing(void **state)
{
    (void)state;
    unsigned before = files_there();
    pid_t child = fork();
    if (child == 0) {
        struct pug_outfile *file;
        if (pug_outfile_open(path_of("never"), &file) == PUG_OK)
            raise(SIGKILL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(files_there(), before);
}

static void only_regular_files_are_replaced(void **state)
{
    (void)state;
    struct stat status;
    assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
    assert_int_equal(pug_outfile_save(path_of("fifo"), "x", 1), PUG_ERR_FILE);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(lstat(path_of("fifo"), &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    assert_int_equal(pug_outfile_save("/dev/null", "x", 1), PUG_ERR_FILE);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(pug_outfile_save(folder, "x", 1), PUG_ERR_FILE);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(pug_outfile_save(path_of("no/such"), "x", 1), PUG_ERR_FILE);
    assert_int_equal(errno, ENOENT);
}

/** What a user names: bytes arrive as they come, and it is still what it was. */
static void devices_and_pipes_are_written(void **state)
{
    (void)state;
    struct stat status;
    char got[8] = {0};
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    const int end = open(path_of("pipe"), O_RDONLY | O_NONBLOCK);
    assert_true(end >= 0);
    assert_int_equal(pug_outfile_save_any(path_of("pipe"), "text", 4), PUG_OK);
    assert_int_equal(read(end, got, sizeof(got)), 4);
    assert_string_equal(got, "text");
    close(end);
    assert_int_equal(lstat(path_of("pipe"), &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    assert_int_equal(pug_outfile_save_any("/dev/null", "x", 1), PUG_OK);
    assert_int_equal(pug_outfile_save_any(folder, "x", 1), PUG_ERR_FILE);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(pug_outfile_save_any(path_of("regular"), "text", 4), PUG_OK);
    holds("regular", "text");
    assert_int_equal(unlink(path_of("pipe")), 0);
}

static void it_is_known_before_what_can_be_written(void **state)
{
    (void)state;
    const int before = files_there();
    assert_true(pug_outfile_may(path_of("not there")) && pug_outfile_may("-"));
    assert_true(pug_outfile_may("/dev/null"));
    assert_true(pug_outfile_may_folder(path_of("not there")) && pug_outfile_may_folder(folder));
    assert_true(pug_outfile_may_folder(path_of("not there/")));
    assert_false(pug_outfile_may(folder));
    assert_int_equal(errno, EISDIR);
    assert_false(pug_outfile_may(path_of("no/such")) || pug_outfile_may_folder(path_of("no/such")));
    assert_int_equal(errno, ENOENT);
    assert_int_equal(files_there(), before);
    assert_int_equal(pug_outfile_save(path_of("there"), "x", 1), PUG_OK);
    assert_true(pug_outfile_may(path_of("there")));
    assert_false(pug_outfile_may_folder(path_of("there")));
    assert_int_equal(errno, ENOTDIR);
    assert_false(pug_outfile_may(path_of("there/below")));
}

static void links_are_followed(void **state)
{
    (void)state;
    struct stat status;
    assert_int_equal(pug_outfile_save(path_of("behind"), "old", 3), PUG_OK);
    assert_int_equal(chmod(path_of("behind"), 0640), 0);
    assert_int_equal(symlink("behind", path_of("link")), 0);
    assert_int_equal(pug_outfile_save(path_of("link"), "new", 3), PUG_OK);
    assert_int_equal(lstat(path_of("link"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    holds("behind", "new");
    assert_int_equal(stat(path_of("behind"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_int_equal(symlink("not yet", path_of("dangling")), 0);
    assert_int_equal(pug_outfile_save(path_of("dangling"), "now", 3), PUG_OK);
    holds("not yet", "now");
    assert_int_equal(symlink("ring", path_of("ring")), 0);
    assert_int_equal(pug_outfile_save(path_of("ring"), "x", 1), PUG_ERR_FILE);
    assert_int_equal(errno, ELOOP);
}

static void a_file_that_does_not_fit_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(pug_outfile_save(path_of("full"), "old", 3), PUG_OK);
    unsigned before = files_there();
    pid_t child = fork();
    if (child == 0) {
        static char much[100000];
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 1000, .rlim_max = 1000});
        bool said =
            pug_outfile_save(path_of("full"), much, sizeof(much)) == PUG_ERR_FILE && errno == EFBIG;
        _exit(said ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    holds("full", "old");
    assert_int_equal(files_there(), before);
}

static void only_regular_files_are_read(void **state)
{
    (void)state;
    uint8_t *bytes;
    size_t size;
    assert_int_equal(pug_infile_load("/dev/zero", 1000, &bytes, &size), PUG_ERR_FILE);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(pug_infile_load(folder, 1000, &bytes, &size), PUG_ERR_FILE);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(mkfifo(path_of("fifo to read"), 0600), 0);
    assert_int_equal(pug_infile_load(path_of("fifo to read"), 1000, &bytes, &size), PUG_ERR_FILE);
    assert_int_equal(pug_infile_load(path_of("none"), 1000, &bytes, &size), PUG_ERR_FILE);
    assert_int_equal(errno, ENOENT);
}

static void a_file_is_read_within_bounds(void **state)
{
    (void)state;
    uint8_t *bytes, two[2];
    size_t size;
    struct pug_infile *file;
    assert_int_equal(pug_outfile_save(path_of("four"), "abcd", 4), PUG_OK);
    assert_int_equal(pug_infile_load(path_of("four"), 3, &bytes, &size), PUG_ERR_LIMIT);
    assert_int_equal(pug_infile_open(path_of("four"), &file), PUG_OK);
    assert_int_equal(pug_infile_size(file), 4);
    assert_int_equal(pug_infile_read(file, 2, two, 2), PUG_OK);
    assert_memory_equal(two, "cd", 2);
    assert_int_equal(pug_infile_read(file, 3, two, 2), PUG_ERR_TRUNCATED);
    assert_int_equal(pug_infile_read(file, UINT64_MAX, two, 1), PUG_ERR_TRUNCATED);
    assert_int_equal(truncate(path_of("four"), 1), 0);
    assert_int_equal(pug_infile_read(file, 2, two, 2), PUG_ERR_TRUNCATED);
    pug_infile_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_its_name_when_it_is_complete),
        cmocka_unit_test(what_is_abandoned_leaves_nothing),
        cmocka_unit_test(a_process_that_dies_leaves_nothing),
        cmocka_unit_test(only_regular_files_are_replaced),
        cmocka_unit_test(devices_and_pipes_are_written),
        cmocka_unit_test(it_is_known_before_what_can_be_written),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(a_file_that_does_not_fit_is_an_error),
        cmocka_unit_test(only_regular_files_are_read),
        cmocka_unit_test(a_file_is_read_within_bounds),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
