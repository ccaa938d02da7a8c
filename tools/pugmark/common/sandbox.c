// SPDX-License-Identifier: MIT
#define _GNU_SOURCE /* O_PATH, realpath() */
#include "sandbox.h"

#include "capture/capture.h"
#include "files/outfile.h"
#include "files/scratch.h"
#include "folders.h"
#include "input/input.h"
#include "live/live.h"
#include "outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__) && __has_include(<linux/landlock.h>)
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

static struct {
    char *const *operands;
    size_t count;
    bool writes_input, writes_index, reads_all, waived;
    bool entered, later; /* it is done; when the input is open it will be */
    bool reads, explained;
} state;

void sandbox_operands(char *const *operands, size_t count)
{
    state.operands = operands;
    state.count = count;
}

void sandbox_allow_input(void)
{
    state.writes_input = true;
}

void sandbox_allow_index(void)
{
    state.writes_index = true;
}

void sandbox_read_all(void)
{
    state.reads_all = true;
}

void sandbox_waive(void)
{
    state.waived = true;
}

#ifdef LANDLOCK_CREATE_RULESET_VERSION

/* Whatever changes files, and starting programs. What a kernel does not know yet it is not asked
 * for. */
static const uint64_t writing = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
static const uint64_t reading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

/* Of later versions: their numbers, since headers may be older than the kernel. */
#define ACCESS_FS_REFER    (UINT64_C(1) << 13) /* 2 */
#define ACCESS_FS_TRUNCATE (UINT64_C(1) << 14) /* 3 */
#define ACCESS_NET_TCP     UINT64_C(3)         /* 4: bind and connect */
#define SCOPES             UINT64_C(3)         /* 6: abstract sockets, signals */

/* struct landlock_ruleset_attr, as it became. */
struct ruleset {
    uint64_t files, net, scopes;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

struct rules {
    int file;
    uint64_t read, write; /* rights */
    uint64_t of_files;    /* of these, those that a file can have */
    bool good;
};

unsigned sandbox_level(void)
{
    const char *most = getenv("PUGMARK_LANDLOCK"); /* for tests: as an older kernel */
    const long level =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    const long limit = most && *most ? strtol(most, NULL, 10) : LONG_MAX;
    return level < 1 || limit < 1 ? 0 : (unsigned)(level < limit ? level : limit);
}

static struct ruleset ruleset_of(unsigned level, bool reads)
{
    return (struct ruleset){.files = LANDLOCK_ACCESS_FS_EXECUTE | writing | (reads ? reading : 0) |
                                     (level >= 2 ? ACCESS_FS_REFER : 0) |
                                     (level >= 3 ? ACCESS_FS_TRUNCATE : 0),
                            .net = level >= 4 ? ACCESS_NET_TCP : 0,
                            .scopes = level >= 6 ? SCOPES : 0};
}

/** How much of it the kernel knows. */
static size_t ruleset_size(unsigned level)
{
    return level >= 6 ? sizeof(struct ruleset) : level >= 4 ? 16 : 8;
}

/** A missing file needs no permission. */
static void allow(struct rules *rules, const char *path, uint64_t access)
{
    struct landlock_path_beneath_attr beneath = {.allowed_access = access,
                                                 .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    struct stat status;
    if (beneath.parent_fd < 0)
        return;
    if (fstat(beneath.parent_fd, &status) == 0 && !S_ISDIR(status.st_mode))
        beneath.allowed_access &= rules->of_files;
    if (beneath.allowed_access)
        rules->good &= syscall(SYS_landlock_add_rule, rules->file, LANDLOCK_RULE_PATH_BENEATH,
                               &beneath, 0) == 0;
    close(beneath.parent_fd);
}

static bool folder_of(const char *file, char folder[PATH_MAX])
{
    size_t length = strlen(file);
    while (length > 1 && file[length - 1] == '/')
        length--;
    while (length > 0 && file[length - 1] != '/')
        length--;
    return snprintf(folder, PATH_MAX, "%.*s", length > 0 ? (int)length : 1,
                    length > 0 ? file : ".") < PATH_MAX;
}

static void allow_folder_of(struct rules *rules, const char *file, uint64_t access)
{
    char folder[PATH_MAX];
    if (folder_of(file, folder))
        allow(rules, folder, access);
}

/* ---- reading ---- */

/** A file, and what lies beside it, but not all of the home folder for it. */
static void allow_file(struct rules *rules, const char *file)
{
    char folder[PATH_MAX];
    allow(rules, file, rules->read);
    if (folder_of(file, folder) && folder_is_own(folder))
        allow(rules, folder, rules->read);
    if (snprintf(folder, sizeof(folder), "%s.pugindex", file) < PATH_MAX)
        allow(rules, folder, rules->read);
}

/** "FILE", "FILE@NUMBER", "FILE@SOURCE=ID", "NAME=FILE": whatever part of it may be a file. */
static void allow_parts(struct rules *rules, const char *word)
{
    const char *equals = strchr(word, '=');
    char *copy = strdup(word), *at = NULL;
    rules->good &= copy != NULL;
    if (equals)
        allow_file(rules, equals + 1);
    do {
        if (copy)
            allow_file(rules, copy);
        at = copy ? strrchr(copy, '@') : NULL;
        if (at)
            *at = 0;
    } while (at);
    free(copy);
}

static void allow_words(struct rules *rules)
{
    struct option_word word;
    for (size_t n = 0; option_word_at(n, &word); n++) {
        if (!word.argument || option_is_output(word.option))
            continue;
        if (strstr(word.option->argument, "DIR"))
            allow(rules, word.argument, rules->read);
        else if (option_is_input(word.option))
            allow_parts(rules, word.argument);
    }
}

/** A device may be opened again; names of hosts are looked up in these files. */
static void allow_live(struct rules *rules, const char *operand)
{
    static const char *const hosts[] = {
        "/etc/hosts",    "/etc/resolv.conf", "/etc/nsswitch.conf",  "/etc/host.conf",
        "/etc/gai.conf", "/etc/services",    "/run/systemd/resolve"};
    struct pug_live_place place;
    const char *why;
    if (!pug_live_names(operand) || !pug_live_place(operand, &place, &why))
        return;
    if (place.scheme == PUG_LIVE_SERIAL || place.scheme == PUG_LIVE_UNIX)
        allow(rules, place.path, rules->read | (rules->write & LANDLOCK_ACCESS_FS_WRITE_FILE));
    for (size_t i = 0; place.host[0] && i < sizeof(hosts) / sizeof(hosts[0]); i++)
        allow(rules, hosts[i], rules->read);
}

static void allow_operands(struct rules *rules)
{
    char folder[PATH_MAX];
    struct stat status;
    for (size_t i = 0; i < state.count; i++) {
        const char *operand = state.operands[i], *end = strrchr(operand, '.');
        const bool ini = end && strcmp(end, ".ini") == 0;
        if (stat(operand, &status) != 0) {
            allow_live(rules, operand);
            continue;
        }
        if (S_ISDIR(status.st_mode) || ini)
            (void)(folder_of_input(operand, folder, sizeof(folder)) &&
                   (allow(rules, folder, rules->read), true));
        else
            allow_file(rules, operand);
        if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
            allow(rules, operand, rules->read | LANDLOCK_ACCESS_FS_WRITE_FILE);
    }
}

/* struct landlock_net_port_attr and its rule, of version 4. */
#define RULE_NET_PORT   2
#define ACCESS_NET_BIND UINT64_C(1)
#define ACCESS_NET_CONN UINT64_C(2)

static void allow_port(struct rules *rules, uint64_t port, uint64_t access)
{
    const struct {
        uint64_t access, port;
    } rule = {access, port};
    rules->good &= syscall(SYS_landlock_add_rule, rules->file, RULE_NET_PORT, &rule, 0) == 0;
}

/** A live input may be connected to again, at its own ports. */
static void allow_ports(struct rules *rules)
{
    struct pug_live_place place;
    const char *why;
    for (size_t i = 0; i < state.count; i++) {
        if (!pug_live_names(state.operands[i]) || access(state.operands[i], F_OK) == 0 ||
            !pug_live_place(state.operands[i], &place, &why) || !place.port[0])
            continue;
        allow_port(rules, strtoul(place.port, NULL, 10),
                   place.scheme == PUG_LIVE_LISTEN ? ACCESS_NET_BIND : ACCESS_NET_CONN);
        if (place.fallback)
            allow_port(rules, place.fallback, ACCESS_NET_CONN);
    }
}

/** What the C library, LLVM and those who look for debug information open. */
static void allow_system(struct rules *rules)
{
    static const char *const places[] = {
        "/lib",
        "/lib32",
        "/lib64",
        "/usr/lib",
        "/usr/lib32",
        "/usr/lib64",
        "/usr/local/lib",
        "/usr/share/zoneinfo",
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/sys/devices/system/cpu",
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/urandom",
#ifdef SANITIZED
        "/proc", /* sanitizers look there */
#endif
    };
    const char *more = getenv("LD_LIBRARY_PATH"), *home = getenv("HOME");
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        allow(rules, places[i], rules->read);
    for (size_t length; more && *more; more += length + (more[length] == ':')) {
        length = strcspn(more, ":");
        if (length > 0 && snprintf(path, sizeof(path), "%.*s", (int)length, more) < PATH_MAX)
            allow(rules, path, rules->read);
    }
    if (home && snprintf(path, sizeof(path), "%s/.debug", home) < PATH_MAX)
        allow(rules, path, rules->read);
    if (home && snprintf(path, sizeof(path), "%s/.perfconfig", home) < PATH_MAX)
        allow(rules, path, rules->read);
}

/* ---- writing ---- */

/** Where an output goes; by default a link's target is that, as the user named the link. */
static void allow_output(struct rules *rules, const char *file, bool follow)
{
    char target[PATH_MAX];
    struct stat status;
    unsigned mode;
    const bool there = stat(file, &status) == 0;
    char *real = there && S_ISDIR(status.st_mode) && follow ? realpath(file, NULL) : NULL;
    if (real) { /* it is exchanged, or files in it are */
        allow(rules, real, rules->write);
        allow_folder_of(rules, real, rules->write);
    } else if (there && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        allow(rules, file, rules->write);
    else if (follow && pug_outfile_place(file, target, sizeof(target), &mode))
        allow_folder_of(rules, target, rules->write);
    else
        allow_folder_of(rules, file, rules->write);
    free(real);
}

/** Is an index in a folder? */
static bool has_index(const char *folder)
{
    DIR *stream = opendir(folder);
    bool found = false;
    for (const struct dirent *entry; stream && !found && (entry = readdir(stream)) != NULL;) {
        const char *end = strrchr(entry->d_name, '.');
        found = end && strcmp(end, ".pugindex") == 0;
    }
    if (stream)
        closedir(stream);
    return found;
}

static void allow_writing(struct rules *rules, bool asked)
{
    char folder[PATH_MAX];
    struct option_word word;
    allow(rules, pug_scratch_folder(), rules->write | rules->read);
    for (size_t n = 0; option_word_at(n, &word); n++)
        if (word.argument && option_is_output(word.option)) {
            allow_output(rules, word.argument, !asked);
            if (strcmp(word.option->name, "save") == 0) /* what was saved is read again */
                allow_folder_of(rules, word.argument, rules->read);
        }
    for (size_t i = 0; i < state.count; i++)
        if (folder_of_input(state.operands[i], folder, sizeof(folder)) &&
            (state.writes_input || (state.writes_index && !asked && has_index(folder))))
            allow(rules, folder, rules->write);
}

/* ---- entering ---- */

static bool is_saved_or_perf(const char *path)
{
    uint8_t begin[8];
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(begin, 1, sizeof(begin), file) : 0;
    if (file)
        fclose(file);
    return pug_perf_recognise(begin, size) || (size == 8 && memcmp(begin, "PUGPROF\n", 8) == 0);
}

/** Does an input name programs by their paths, which are known when it is read? */
static bool names_programs(const char *operand, const struct input_options *options)
{
    char file[PATH_MAX];
    struct stat status;
    if (!options || options->protocol || options->params)
        return false;
    if (strcmp(operand, "-") == 0)
        return true;
    if (stat(operand, &status) != 0)
        return false;
    if (S_ISDIR(status.st_mode))
        return snprintf(file, sizeof(file), "%s/snapshot.ini", operand) < PATH_MAX &&
               access(file, F_OK) != 0;
    return !S_ISREG(status.st_mode) || is_saved_or_perf(operand);
}

static bool restricts_reading(const struct input_options *options)
{
    if (state.reads_all)
        return false;
    if (options && (options->symfs || options->confine))
        return true;
    for (size_t i = 0; i < state.count; i++)
        if (names_programs(state.operands[i], options))
            return false;
    return true;
}

static bool enter(const struct input_options *options, bool asked)
{
    const unsigned level = sandbox_level();
    const bool reads = restricts_reading(options);
    const struct ruleset wanted = ruleset_of(level, reads);
    if (level == 0) {
        errno = EOPNOTSUPP;
        return false;
    }
    struct rules rules = {
        .file = (int)syscall(SYS_landlock_create_ruleset, &wanted, ruleset_size(level), 0),
        .read = reads ? reading : 0,
        .write = wanted.files & ~(LANDLOCK_ACCESS_FS_EXECUTE | reading),
        .of_files = wanted.files & (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                    ACCESS_FS_TRUNCATE)};
    rules.good = rules.file >= 0;
    if (rules.good)
        allow_writing(&rules, asked);
    if (rules.good && wanted.net)
        allow_ports(&rules);
    if (rules.good && reads) {
        allow_operands(&rules);
        allow_words(&rules);
        allow_system(&rules);
        if (folder_is_own("."))
            allow(&rules, ".", rules.read);
    }
    const bool good = rules.good && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                      syscall(SYS_landlock_restrict_self, rules.file, 0) == 0;
    if (rules.file >= 0)
        close(rules.file);
    state.reads = good && reads;
    return good;
}

#else

unsigned sandbox_level(void)
{
    return 0;
}

static bool enter(const struct input_options *options, bool asked)
{
    (void)options;
    (void)asked;
    errno = ENOSYS;
    return false;
}

#endif

/** Where the system has none, it is gone without, unless it was asked for. */
static bool enter_once(const struct input_options *options, bool asked)
{
    if (state.entered)
        return true;
    state.entered = true;
    if (enter(options, asked) || !asked)
        return true;
    message_say("pugmark: --sandbox: not on this system: %s\n", strerror(errno));
    return false;
}

bool sandbox_start(const struct input_options *options)
{
    const bool asked = options && options->sandbox, asks = options && options->debuginfod;
    state.later = asked && asks;
    if (state.later ||
        (!asked && (state.waived || asks || input_peers() || (options && options->no_sandbox))))
        return true;
    return enter_once(options, asked);
}

bool sandbox_settle(const struct input_options *options)
{
    return !state.later || enter_once(options, true);
}

void sandbox_explain(const char *message)
{
    if (!state.reads || state.explained || !strstr(message, strerror(EACCES)))
        return;
    state.explained = true;
    message_say("pugmark: read are files below the folders of inputs and options, and below the "
                "current one; --no-sandbox reads others, too\n");
}
