// SPDX-License-Identifier: MIT
#define _GNU_SOURCE /* O_PATH */
#include "sandbox.h"

#include "files/scratch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#if defined(__linux__) && __has_include(<linux/landlock.h>)
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#ifdef LANDLOCK_CREATE_RULESET_VERSION

#define FOLDERS 8u

static struct {
    const char *files[FOLDERS];
    size_t count;
    bool beside_input;
} written;

/* Whatever changes files, and starting programs. What a kernel does not know yet it is not asked
 * for. */
static const uint64_t always =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
    LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

/* Of later versions: their numbers, since headers may be older than the kernel. */
#define ACCESS_FS_REFER    (UINT64_C(1) << 13) /* 2 */
#define ACCESS_FS_TRUNCATE (UINT64_C(1) << 14) /* 3 */
#define ACCESS_NET_TCP     UINT64_C(3)         /* 4: bind and connect */
#define SCOPES             UINT64_C(3)         /* 6: abstract sockets, signals */

/* struct landlock_ruleset_attr, as it became. */
struct ruleset {
    uint64_t files, net, scopes;
};

static struct ruleset ruleset_of(long version)
{
    return (struct ruleset){
        .files =
            always | (version >= 2 ? ACCESS_FS_REFER : 0) | (version >= 3 ? ACCESS_FS_TRUNCATE : 0),
        .net = version >= 4 ? ACCESS_NET_TCP : 0,
        .scopes = version >= 6 ? SCOPES : 0,
    };
}

/** How much of it the kernel knows. */
static size_t ruleset_size(long version)
{
    return version >= 6 ? sizeof(struct ruleset) : version >= 4 ? 16 : 8;
}

static bool allow(int rules, const char *folder, uint64_t access)
{
    struct landlock_path_beneath_attr beneath = {
        .allowed_access = access & ~LANDLOCK_ACCESS_FS_EXECUTE,
        .parent_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (beneath.parent_fd < 0) /* nothing can be written there */
        return errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
    const bool good =
        syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0;
    close(beneath.parent_fd);
    return good;
}

static bool allow_folder_of(int rules, const char *file, uint64_t access)
{
    char folder[4096] = ".";
    const char *slash = strrchr(file, '/');
    if (slash && (size_t)(slash - file) + 2 > sizeof(folder))
        return false;
    if (slash)
        snprintf(folder, sizeof(folder), "%.*s", (int)(slash - file) + 1, file);
    return allow(rules, folder, access);
}

static bool enter(const char *input)
{
    const long version =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return false;
    const struct ruleset wanted = ruleset_of(version);
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &wanted, ruleset_size(version), 0);
    bool good = rules >= 0 && allow(rules, pug_scratch_folder(), wanted.files) &&
                (!written.beside_input || allow_folder_of(rules, input, wanted.files));
    for (size_t i = 0; good && i < written.count; i++)
        good = allow_folder_of(rules, written.files[i], wanted.files);
    good = good && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    if (rules >= 0)
        close(rules);
    return good;
}

void sandbox_allow(const struct option_set *sets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t n = 0; n < sets[i].count; n++) {
            const struct option *option = &sets[i].options[n];
            if (strcmp(option->name, "output") != 0 || option->take != option_string)
                continue;
            const char *file = *(const char **)(void *)((char *)sets[i].target + option->offset);
            if (file && written.count < FOLDERS)
                written.files[written.count++] = file;
        }
    }
}

void sandbox_allow_input(void)
{
    written.beside_input = true;
}

#else

static bool enter(const char *input)
{
    (void)input;
    errno = ENOSYS;
    return false;
}

void sandbox_allow(const struct option_set *sets, size_t count)
{
    (void)sets;
    (void)count;
}

void sandbox_allow_input(void)
{
}

#endif

bool sandbox_enter(const char *input)
{
    if (enter(input))
        return true;
    fprintf(stderr, "pugmark: --sandbox: not on this system: %s\n", strerror(errno));
    return false;
}
