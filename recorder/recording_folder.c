// SPDX-License-Identifier: MIT
#define _GNU_SOURCE /* statx(), renameat2() */
#include "recorder/recording_folder.h"

#include "recorder/manifest.h"
#include "recorder/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1u
#define RENAME_EXCHANGE  2u
#endif

#define TRIES 1000u

struct rec_folder {
    char target[PATH_MAX]; /* without links, if it is there */
    char made[PATH_MAX];   /* the new folder; "": none */
    const char *whole;     /* why the target cannot be renamed; NULL: it can */
    enum rec_holds holds;
    bool there;
    struct stat status; /* of the target */
    struct rec_manifest former;
    struct stat input;
    bool has_input;
};

/* ---- the target ---- */

static void parent_of(const char *path, char parent[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    const int length = slash ? (int)(slash - path) : 1;
    snprintf(parent, PATH_MAX, "%.*s", length > 0 ? length : 1, slash ? path : ".");
}

static bool is_mount_point(const struct rec_folder *folder, const struct stat *parent)
{
#if defined(__linux__) && defined(STATX_ATTR_MOUNT_ROOT)
    struct statx status;
    if (statx(AT_FDCWD, folder->target, 0, STATX_BASIC_STATS, &status) == 0 &&
        status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
        return status.stx_attributes & STATX_ATTR_MOUNT_ROOT;
#endif
    return parent->st_dev != folder->status.st_dev || parent->st_ino == folder->status.st_ino;
}

/** Why a folder that is there cannot have another one put in its place; NULL: it can. */
static const char *why_not_renamed(const struct rec_folder *folder)
{
    char parent[PATH_MAX];
    struct stat status, current;
    parent_of(folder->target, parent);
    if (stat(".", &current) == 0 && current.st_dev == folder->status.st_dev &&
        current.st_ino == folder->status.st_ino)
        return "it is the current folder";
    if (stat(parent, &status) != 0 || access(parent, W_OK | X_OK) != 0)
        return "the folder that it is in cannot be written";
    if (is_mount_point(folder, &status))
        return "it is a mount point";
    if ((status.st_mode & S_ISVTX) && geteuid() != 0 && geteuid() != status.st_uid &&
        geteuid() != folder->status.st_uid)
        return "it is somebody else's";
    return NULL;
}

static enum rec_folder_status refuse(const char *what, char *why, size_t size)
{
    snprintf(why, size, "%.300s; --force writes into it and leaves other files where they are",
             what);
    return REC_FOLDER_REFUSED;
}

/** Is a file of the former recording what is being read? */
static bool has_input(const struct rec_folder *folder)
{
    for (size_t i = 0; folder->has_input && i < folder->former.count; i++) {
        const struct stat *seen = &folder->former.files[i].seen;
        if (seen->st_nlink > 0 && seen->st_dev == folder->input.st_dev &&
            seen->st_ino == folder->input.st_ino)
            return true;
    }
    return false;
}

static enum rec_folder_status look(struct rec_folder *folder, bool force, char *why, size_t size)
{
    char other[256] = "", what[400];
    const int descriptor = open(folder->target, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &folder->status) != 0) {
        snprintf(why, size, "%s", strerror(errno));
        if (descriptor >= 0)
            close(descriptor);
        return REC_FOLDER_FAILED;
    }
    (void)rec_manifest_read(&folder->former, descriptor);
    folder->holds = rec_manifest_check(&folder->former, descriptor, other, sizeof(other));
    const int error = errno;
    close(descriptor);
    if (folder->holds == REC_HOLDS_UNREADABLE) {
        snprintf(why, size, "%s", strerror(error));
        return REC_FOLDER_FAILED;
    }
    folder->whole = has_input(folder) ? "the input is in it" : why_not_renamed(folder);
    if (access(folder->target, W_OK | X_OK) != 0) {
        snprintf(why, size, "%s", strerror(errno));
        return REC_FOLDER_FAILED;
    }
    if (force || folder->holds == REC_HOLDS_NOTHING)
        return REC_FOLDER_DONE;
    if (folder->holds == REC_HOLDS_OTHERS)
        return refuse(other, why, size);
    snprintf(what, sizeof(what), "its recording cannot be replaced as a whole: %s",
             folder->whole ? folder->whole : "");
    return folder->whole ? refuse(what, why, size) : REC_FOLDER_DONE;
}

/** An absent folder is made beside its name. */
static enum rec_folder_status look_beside(const struct rec_folder *folder, char *why, size_t size)
{
    char parent[PATH_MAX];
    struct stat status;
    parent_of(folder->target, parent);
    bool good = stat(parent, &status) == 0;
    if (good && !S_ISDIR(status.st_mode)) {
        errno = ENOTDIR;
        good = false;
    }
    if (good && access(parent, W_OK | X_OK) == 0)
        return REC_FOLDER_DONE;
    snprintf(why, size, "%s", strerror(errno));
    return REC_FOLDER_FAILED;
}

/** With links resolved, if it is there; else without slashes at its end. */
static bool find(struct rec_folder *folder, const char *target)
{
    char *real = realpath(target, NULL);
    folder->there = real != NULL;
    if (!real && (errno != ENOENT || strlen(target) >= PATH_MAX - 64))
        return false;
    snprintf(folder->target, sizeof(folder->target), "%s", real ? real : target);
    free(real);
    for (size_t at = strlen(folder->target); at > 1 && folder->target[at - 1] == '/'; at--)
        folder->target[at - 1] = 0;
    char link[1];
    const bool leads_nowhere = !folder->there && readlink(folder->target, link, sizeof(link)) >= 0;
    errno = ENOENT;
    return folder->target[0] && !leads_nowhere;
}

enum rec_folder_status rec_folder_new(const char *target, bool force, const struct stat *input,
                                      struct rec_folder **out, char *why, size_t size)
{
    struct rec_folder *folder = calloc(1, sizeof(*folder));
    enum rec_folder_status status = REC_FOLDER_FAILED;
    if (!folder) {
        snprintf(why, size, "%s", strerror(ENOMEM));
        return REC_FOLDER_FAILED;
    }
    folder->has_input = input != NULL;
    if (input)
        folder->input = *input;
    if (!find(folder, target))
        snprintf(why, size, "%s", strerror(errno));
    else
        status = folder->there ? look(folder, force, why, size) : look_beside(folder, why, size);
    if (status == REC_FOLDER_DONE)
        *out = folder;
    else
        rec_folder_free(folder);
    return status;
}

bool rec_folder_is_used(const struct rec_folder *folder)
{
    return folder->there && folder->holds != REC_HOLDS_NOTHING;
}

const char *rec_folder_holds(const struct rec_folder *folder, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char parent[PATH_MAX];
    struct stat status;
    parent_of(path, parent);
    const bool in = folder->there
                        ? stat(parent, &status) == 0 && status.st_dev == folder->status.st_dev &&
                              status.st_ino == folder->status.st_ino
                        : strcmp(parent, folder->target) == 0;
    return in && *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
                   strcmp(name, REC_MANIFEST) != 0 && !strchr(name, '\n')
               ? name
               : NULL;
}

/* ---- the new folder ---- */

/** Are files renamed into the target one by one? */
static bool is_within(const struct rec_folder *folder)
{
    return folder->there && (folder->whole || folder->holds == REC_HOLDS_OTHERS);
}

bool rec_folder_begin(struct rec_folder *folder)
{
    errno = EEXIST;
    for (unsigned n = 0; n < TRIES && errno == EEXIST; n++) {
        const int length =
            snprintf(folder->made, sizeof(folder->made), "%s%s.%lx.%u", folder->target,
                     is_within(folder) ? "/.recording" : "", (long)getpid(), n);
        if (length >= (int)sizeof(folder->made)) {
            errno = ENAMETOOLONG;
            break;
        }
        rec_unfinished_begin(folder->made);
        if (mkdir(folder->made, 0777) == 0)
            return true;
        const int why = errno;
        rec_unfinished_end();
        errno = why;
    }
    folder->made[0] = 0;
    return false;
}

const char *rec_folder_path(const struct rec_folder *folder)
{
    return folder->made;
}

/* ---- into its place ---- */

static int rename_with(const char *from, const char *to, unsigned flags)
{
#if defined(__linux__) && defined(SYS_renameat2)
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
#else
    (void)from, (void)to, (void)flags;
    errno = ENOSYS;
    return -1;
#endif
}

static bool is_unknown(int error)
{
    return error == ENOSYS || error == EINVAL || error == EPERM;
}

/** Two renames where the system cannot exchange: what is in the way of the first comes back. */
static bool exchange(struct rec_folder *folder)
{
    char aside[PATH_MAX + 8];
    if (rename_with(folder->made, folder->target, RENAME_EXCHANGE) == 0)
        return true;
    if (!is_unknown(errno))
        return false;
    snprintf(aside, sizeof(aside), "%s.old", folder->made);
    if (strlen(aside) >= sizeof(folder->made) || rename(folder->target, aside) != 0)
        return false;
    if (rename(folder->made, folder->target) == 0) {
        snprintf(folder->made, sizeof(folder->made), "%.*s", PATH_MAX - 1, aside);
        return true;
    }
    const int why = errno;
    (void)rename(aside, folder->target);
    errno = why;
    return false;
}

/**
 * The former recording goes, which is now where the new one was. What came to it meanwhile stays.
 */
static void remove_former(struct rec_folder *folder)
{
    const int descriptor = open(folder->made, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor >= 0) {
        rec_manifest_remove(&folder->former, descriptor, NULL,
                            folder->has_input ? &folder->input : NULL);
        (void)unlinkat(descriptor, REC_MANIFEST, 0);
        close(descriptor);
    }
    if (rmdir(folder->made) != 0)
        fprintf(stderr, "pugmark: %s has files that came into the former recording meanwhile\n",
                folder->made);
    folder->made[0] = 0;
}

/** As a whole: it takes the place of nothing, of an empty folder, or of a former recording. */
static bool put_whole(struct rec_folder *folder)
{
    if (folder->there && chmod(folder->made, folder->status.st_mode & 07777) != 0)
        return false;
    if (folder->there && folder->holds == REC_HOLDS_RECORDING) {
        if (!exchange(folder))
            return false;
        rec_unfinished_end();
        remove_former(folder);
        return true;
    }
    if (!folder->there && rename_with(folder->made, folder->target, RENAME_NOREPLACE) == 0) {
        folder->made[0] = 0;
        return true;
    }
    if ((!folder->there && !is_unknown(errno)) || rename(folder->made, folder->target) != 0)
        return false;
    folder->made[0] = 0;
    return true;
}

/** One file takes the place of what has its name. */
static bool put_file(int from, int to, const char *name)
{
    const char *source = name, *target = name;
    const int out_of = rec_manifest_folder(from, &source, false);
    const int into = out_of < 0 ? -1 : rec_manifest_folder(to, &target, true);
    const bool good = into >= 0 && renameat(out_of, source, into, target) == 0;
    const int why = errno;
    if (out_of >= 0)
        close(out_of);
    if (into >= 0)
        close(into);
    errno = why;
    return good;
}

static bool put_each(struct rec_folder *folder, const struct rec_manifest *manifest, int from,
                     int to, char *why, size_t size)
{
    for (size_t i = 0; i < manifest->count; i++) {
        const char *name = manifest->files[i].name;
        if (strcmp(name, REC_MANIFEST) != 0 && !put_file(from, to, name)) {
            snprintf(why, size, "%.200s: %s", name, strerror(errno));
            return false;
        }
    }
    rec_manifest_remove(&folder->former, to, manifest, folder->has_input ? &folder->input : NULL);
    return put_file(from, to, REC_MANIFEST);
}

bool rec_folder_commit(struct rec_folder *folder, char *why, size_t size)
{
    struct rec_manifest manifest = {0};
    const bool within = is_within(folder);
    const int from = open(folder->made, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int to = within ? open(folder->target, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    why[0] = 0;
    bool good = from >= 0 && (!within || to >= 0) && rec_manifest_make(&manifest, from) &&
                rec_manifest_write(&manifest, from);
    if (good && within)
        good = put_each(folder, &manifest, from, to, why, size);
    else if (good)
        good = put_whole(folder);
    if (!good && !why[0])
        snprintf(why, size, "%s", strerror(errno));
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    rec_manifest_free(&manifest);
    rec_unfinished_end();
    return good;
}

void rec_folder_free(struct rec_folder *folder)
{
    if (!folder)
        return;
    if (folder->made[0]) {
        rec_unfinished_remove(folder->made);
        rec_unfinished_end();
    }
    rec_manifest_free(&folder->former);
    free(folder);
}
