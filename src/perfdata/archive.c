// SPDX-License-Identifier: MIT
/**
 * @file Libraries that are mapped out of an Android package: the map names the package, its offset
 * leads into it. They are objects of their own, "base.apk!/lib/arm64-v8a/libx.so".
 */
#include "perfdata/perfdata.h"

#include "files/packed.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* A package that has had so many questions has no answer for more. */
#define MOST_QUESTIONS 4096u

static bool is_package(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".apk") == 0;
}

struct question {
    uint64_t offset;
    struct pug_packed_member *member;
};

static bool ask(void *context, const char *file)
{
    struct question *question = context;
    return pug_packed_member(file, question->offset, question->member);
}

/** Below the folder of recorded paths, or in the folders that are searched. */
static bool find(struct pug_perf *perf, const char *path, uint64_t offset,
                 struct pug_packed_member *member)
{
    struct question question = {offset, member};
    char file[PATH_MAX];
    return (pug_root_resolve(pug_perf_symfs(perf), path, file, sizeof(file)) > 0 &&
            ask(&question, file)) ||
           pug_perf_each_called(perf, path, false, ask, &question);
}

void pug_perf_enter_archive(struct pug_perf *perf, uint32_t *object, uint64_t *offset)
{
    struct pug_packed_member found;
    char path[PATH_MAX];
    if (*object == PUG_NO_OBJECT || *offset == 0)
        return;
    const char *archive = pug_capture_objects(perf->capture)[*object]->path;
    const struct pug_perf_member *known = perf->members.items;
    if (*archive != '/' || !is_package(archive))
        return;
    for (size_t i = 0; i < perf->members.count; i++) {
        if (known[i].archive != *object || *offset - known[i].begin >= known[i].size)
            continue;
        *object = known[i].object;
        *offset -= known[i].begin;
        return;
    }
    if (perf->archive_questions++ >= MOST_QUESTIONS || !find(perf, archive, *offset, &found))
        return;
    const int length = snprintf(path, sizeof(path), "%s!/%s", archive, found.name);
    struct pug_perf_member *kept = pug_capture_add(perf->capture, &perf->members, sizeof(*kept));
    if (length < 0 || (size_t)length >= sizeof(path) || !kept)
        return;
    *kept = (struct pug_perf_member){*object, PUG_NO_OBJECT, found.begin, found.size};
    kept->object = pug_perf_object(perf, path, (size_t)length, NULL, 0, 0, 0);
    *object = kept->object;
    *offset -= found.begin;
}
