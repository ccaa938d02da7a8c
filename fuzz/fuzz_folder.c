// SPDX-License-Identifier: MIT
/**
 * @file Any folder as what `pugmark record --out` is to write into: files, links, a manifest that
 * is damaged. What lies elsewhere stays as it is, and so does what is not ours, unless it is
 * forced.
 */
#define _XOPEN_SOURCE 700 /* nftw() */
#include "driver.h"
#include "files.h"
#include "recorder/manifest.h"
#include "recorder/recording_folder.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define THESIS "precious\n"

static const char *const names[] = {
    "trace.bin",          "snapshot.ini", "cpu_0.ini", "program_0/x",
    "trace.bin.pugindex", "thesis.txt",   "program_1", "path"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

/** What the input has not said yet. */
struct choices {
    const uint8_t *at, *end;
};

static unsigned choose(struct choices *choices, unsigned below)
{
    return choices->at < choices->end ? *choices->at++ % below : 0;
}

static void need(bool good)
{
    if (!good)
        abort();
}

static void place(char path[4096], const char *name)
{
    snprintf(path, 4096, "%s", fuzz_place(name));
}

static bool holds(const char *name, const char *text)
{
    char bytes[64] = "", path[4096];
    place(path, name);
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
    if (file)
        fclose(file);
    return file && size == strlen(text) && memcmp(bytes, text, size) == 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

static void empty_folder(const char *name)
{
    char path[4096];
    place(path, name);
    (void)nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    need(mkdir(path, 0700) == 0);
}

/** A file, or something that leads to the victim's. */
static void make(struct choices *choices, const char *name)
{
    char below[256], path[4096], victim[4096];
    snprintf(below, sizeof(below), "target/%s", name);
    place(path, below);
    place(victim, "victim/thesis.txt");
    const bool deep = strchr(name, '/') != NULL;
    if (deep) {
        char folder[4096];
        snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
        if (choose(choices, 4) == 0)
            (void)symlink("../victim", folder);
        else
            (void)mkdir(folder, 0700);
    }
    switch (choose(choices, 6)) {
    case 0: (void)symlink(deep ? "../../victim/thesis.txt" : "../victim/thesis.txt", path); return;
    case 1: (void)symlink("../victim", path); return;
    case 2: (void)link(victim, path); return;
    default: break;
    }
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (file >= 0) {
        const char *text = strstr(name, "thesis") ? THESIS : name;
        need(write(file, text, strlen(text)) == (ssize_t)strlen(text));
        close(file);
    }
}

/** The manifest of what is there, with some bytes changed. */
static void write_manifest(struct choices *choices)
{
    struct rec_manifest manifest = {.count = 0};
    char path[4096];
    place(path, "target");
    const int folder = open(path, O_RDONLY | O_DIRECTORY);
    need(folder >= 0);
    if (rec_manifest_make(&manifest, folder))
        (void)rec_manifest_write(&manifest, folder);
    rec_manifest_free(&manifest);
    const int file = openat(folder, REC_MANIFEST, O_RDWR | O_NOFOLLOW);
    const off_t size = file >= 0 ? lseek(file, 0, SEEK_END) : 0;
    for (unsigned n = choose(choices, 4); n > 0 && size > 0; n--) {
        const uint8_t byte = (uint8_t)choose(choices, 256);
        need(pwrite(file, &byte, 1, choose(choices, 256) % size) == 1);
    }
    if (file >= 0 && choose(choices, 8) == 0) { /* a line of the input's own */
        static const char line[] = "../victim/thesis.txt 9 0\n";
        need(pwrite(file, line, sizeof(line) - 1, size) == (ssize_t)sizeof(line) - 1);
    }
    if (file >= 0)
        close(file);
    close(folder);
}

/** What was a folder of ours leads elsewhere since. */
static void swap_folder(void)
{
    char path[4096];
    empty_folder("target/program_0");
    place(path, "target/program_0");
    need(rmdir(path) == 0 && symlink("../victim", path) == 0);
}

/** Records into it. True: all was put into its place. */
static bool record(bool force, bool commits)
{
    char target[4096], path[4200], why[512];
    struct rec_folder *folder = NULL;
    place(target, "target");
    bool done = rec_folder_new(target, force, NULL, &folder, why, sizeof(why)) == REC_FOLDER_DONE;
    if (done && (done = rec_folder_begin(folder))) {
        snprintf(path, sizeof(path), "%s/trace.bin", rec_folder_path(folder));
        FILE *file = fopen(path, "wb");
        need(file != NULL && fputs("new", file) >= 0 && fclose(file) == 0);
        done = commits && rec_folder_commit(folder, why, sizeof(why));
    }
    rec_folder_free(folder);
    return done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct choices choices = {data, data + size};
    struct stat before, after;
    char late[4096];
    empty_folder("victim");
    empty_folder("target");
    fuzz_write("victim/thesis.txt", THESIS, strlen(THESIS));
    for (unsigned n = choose(&choices, NAMES); n > 0; n--)
        make(&choices, names[choose(&choices, NAMES)]);
    if (choose(&choices, 3))
        write_manifest(&choices);
    place(late, "target/mine.txt"); /* that no manifest has */
    if (choose(&choices, 3) == 0)
        swap_folder();
    const bool others = choose(&choices, 2);
    if (others)
        fuzz_write("target/mine.txt", "mine\n", 5);
    const bool force = choose(&choices, 2), commits = choose(&choices, 4);
    char target[4096];
    place(target, "target");
    need(stat(target, &before) == 0);
    const bool done = record(force, commits);
    need(holds("victim/thesis.txt", THESIS));
    need(!others || holds("target/mine.txt", "mine\n"));
    need(!done || holds("target/trace.bin", "new"));
    need(!(done && others && !force));
    need(stat(target, &after) == 0);
    need(done || before.st_ino == after.st_ino);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    const size_t size = room < 64 ? room : 64;
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)rec_random_below(random, 256);
    return size;
}
