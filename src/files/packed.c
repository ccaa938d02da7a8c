// SPDX-License-Identifier: MIT
#include "files/packed.h"

#include "base/bytes.h"
#include "files/infile.h"
#include "files/scratch.h"
#include "files/unpack.h"
#include "files/whole.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the file that is made ---- */

#define MOST_BYTES ((uint64_t)512 << 20)

struct made {
    int descriptor;
    uint64_t size;
};

static bool put(void *context, const uint8_t *bytes, size_t size)
{
    struct made *made = context;
    made->size += size;
    if (made->size > MOST_BYTES) {
        errno = EFBIG;
        return false;
    }
    return pug_write_whole(made->descriptor, bytes, size);
}

static bool refuse(void)
{
    errno = EINVAL;
    return false;
}

/* ---- archives (zip) ---- */

enum { END_SIZE = 22, ENTRY_SIZE = 46, LOCAL_SIZE = 30, STORED = 0 };
#define END_MARK   0x06054b50u
#define ENTRY_MARK 0x02014b50u
#define LOCAL_MARK 0x04034b50u

/** The list of an archive's files. */
struct list {
    uint8_t *bytes;
    uint32_t size, at;
};

/** A file of it. */
struct member {
    const char *name;
    size_t length;
    uint64_t header; /* where its own header is */
    uint32_t size;
    bool stored;
};

/** At the archive's end stands where its list is, in front of a comment. */
static bool read_list(const struct pug_infile *file, struct list *list)
{
    uint8_t tail[END_SIZE + UINT16_MAX];
    const uint64_t size = pug_infile_size(file);
    const size_t held = size < sizeof(tail) ? (size_t)size : sizeof(tail);
    *list = (struct list){0};
    if (pug_infile_read(file, size - held, tail, held) != PUG_OK)
        return false;
    for (size_t back = END_SIZE; back <= held; back++) {
        const uint8_t *end = tail + held - back;
        if (pug_bytes_32(end) != END_MARK)
            continue;
        list->size = pug_bytes_32(end + 12);
        const uint32_t at = pug_bytes_32(end + 16);
        list->bytes = list->size <= size ? malloc((size_t)list->size + 1) : NULL;
        if (list->bytes && pug_infile_read(file, at, list->bytes, list->size) == PUG_OK)
            return true;
        free(list->bytes);
        return refuse();
    }
    return refuse();
}

/** The next file of the list; false: there is none. */
static bool next_member(struct list *list, struct member *member)
{
    const uint8_t *entry = list->bytes + list->at;
    const uint32_t left = list->size - list->at;
    if (left < ENTRY_SIZE || pug_bytes_32(entry) != ENTRY_MARK)
        return false;
    const uint32_t length = pug_bytes_16(entry + 28);
    const uint32_t whole =
        ENTRY_SIZE + length + pug_bytes_16(entry + 30) + pug_bytes_16(entry + 32);
    if (whole > left)
        return false;
    *member = (struct member){.name = (const char *)entry + ENTRY_SIZE,
                              .length = length,
                              .header = pug_bytes_32(entry + 42),
                              .size = pug_bytes_32(entry + 24),
                              .stored = pug_bytes_16(entry + 10) == STORED};
    list->at += whole;
    return true;
}

/** The start of a file's bytes, after its own header. */
static bool begin_of(const struct pug_infile *file, const struct member *member, uint64_t *begin)
{
    uint8_t header[LOCAL_SIZE];
    if (pug_infile_read(file, member->header, header, sizeof(header)) != PUG_OK ||
        pug_bytes_32(header) != LOCAL_MARK)
        return false;
    *begin = member->header + LOCAL_SIZE + pug_bytes_16(header + 26) + pug_bytes_16(header + 28);
    return *begin + member->size <= pug_infile_size(file);
}

bool pug_packed_member(const char *archive, uint64_t offset, struct pug_packed_member *out)
{
    struct pug_infile *file;
    struct list list;
    struct member member;
    bool found = false;
    if (pug_infile_open(archive, &file) != PUG_OK)
        return false;
    if (read_list(file, &list)) {
        while (!found && next_member(&list, &member))
            found = member.stored && member.length < sizeof(out->name) && offset >= member.header &&
                    begin_of(file, &member, &out->begin) && offset >= out->begin &&
                    offset - out->begin < member.size;
        if (found) {
            memcpy(out->name, member.name, member.length);
            out->name[member.length] = 0;
            out->size = member.size;
        }
        free(list.bytes);
    }
    pug_infile_close(file);
    return found;
}

/** Find a name in an archive, if it is stored uncompressed. */
static bool find_member(const struct pug_infile *file, const char *name, uint64_t *begin,
                        uint64_t *size)
{
    struct list list;
    struct member member;
    bool found = false;
    if (!read_list(file, &list))
        return false;
    while (!found && next_member(&list, &member))
        found = member.length == strlen(name) && memcmp(member.name, name, member.length) == 0;
    found = found && member.stored && begin_of(file, &member, begin);
    *size = found ? member.size : 0;
    free(list.bytes);
    return found || refuse();
}

/* ---- both ---- */

static const char bang[] = "!/";

bool pug_packed_is(const char *path)
{
    return strstr(path, bang) != NULL || pug_unpack_kind(path) != PUG_UNPACK_NONE;
}

#define BLOCK ((size_t)64 << 10)

/** Bytes of a file, through whatever unpacks them. */
static bool copy(const struct pug_infile *file, uint64_t from, uint64_t size,
                 struct pug_unpack *unpack, struct made *made)
{
    uint8_t *block = malloc(BLOCK);
    bool good = block != NULL;
    for (uint64_t at = 0; good && at < size;) {
        const size_t step = size - at < BLOCK ? (size_t)(size - at) : BLOCK;
        good = pug_infile_read(file, from + at, block, step) == PUG_OK;
        if (good)
            good =
                unpack ? pug_unpack_bytes(unpack, block, step, put, made) : put(made, block, step);
        at += step;
    }
    free(block);
    return good;
}

static bool copy_member(const char *path, struct made *made)
{
    const char *mark = strstr(path, bang);
    struct pug_infile *file;
    uint64_t begin, size;
    char *archive = strndup(path, (size_t)(mark - path));
    const bool opened = archive && pug_infile_open(archive, &file) == PUG_OK;
    free(archive);
    if (!opened)
        return false;
    const bool good = find_member(file, mark + strlen(bang), &begin, &size) &&
                      copy(file, begin, size, NULL, made);
    pug_infile_close(file);
    return good;
}

static bool copy_unpacked(const char *path, struct made *made)
{
    struct pug_infile *file;
    if (pug_infile_open(path, &file) != PUG_OK)
        return false;
    struct pug_unpack *unpack = pug_unpack_new(pug_unpack_kind(path));
    const bool good = unpack && copy(file, 0, pug_infile_size(file), unpack, made) &&
                      (pug_unpack_ended(unpack) || refuse());
    pug_unpack_free(unpack);
    pug_infile_close(file);
    return good;
}

int pug_packed_open(const char *path)
{
    struct made made = {.descriptor = pug_scratch_open()};
    if (made.descriptor < 0)
        return -1;
    const bool good = strstr(path, bang) ? copy_member(path, &made) : copy_unpacked(path, &made);
    if (good && lseek(made.descriptor, 0, SEEK_SET) == 0)
        return made.descriptor;
    const int why = errno;
    close(made.descriptor);
    errno = why;
    return -1;
}
