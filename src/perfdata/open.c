// SPDX-License-Identifier: MIT
/** @file Containers (sections 2 and 4): files, pipes, directories; then all facts put together. */
#include "capture/marks.h"
#include "files/scratch.h"
#include "files/whole.h"
#include "perfdata/perfdata.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC       "PERFILE2"
#define OTHER_ORDER "2ELIFREP"
#define FIRST_MAGIC "PERFFILE"
#define PIPE_HEADER 16u
#define FILE_HEADER 104u
#define OLD_HEADER  72u
#define ATTR_LEAST  80u
#define FEATURES    256u

struct section {
    uint64_t offset, size;
};

bool pug_perf_recognise(const uint8_t *bytes, size_t size)
{
    return size >= 8 && (memcmp(bytes, MAGIC, 8) == 0 || memcmp(bytes, OTHER_ORDER, 8) == 0 ||
                         memcmp(bytes, FIRST_MAGIC, 8) == 0);
}

static enum pug_status refuse(const struct pug_perf *perf, const char *why)
{
    pug_capture_say(perf->capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", perf->capture->path, why);
    return PUG_ERR_FILE;
}

/** Reports the fault at a place of the header. */
static void say_header(const struct pug_perf *perf, enum pug_severity severity, uint64_t offset,
                       const char *why)
{
    pug_capture_say(perf->capture, severity, PUG_OK, "%s: offset %llu, header: %s",
                    ((const struct pug_perf_file *)perf->files.items)->path,
                    (unsigned long long)offset, why);
}

static enum pug_status refuse_header(const struct pug_perf *perf, uint64_t offset, const char *why)
{
    say_header(perf, PUG_SEV_ERROR, offset, why);
    return PUG_ERR_FILE;
}

/* ---- files ---- */

/** `name` is what messages call it; the file is the capture's, or closed. */
static enum pug_status add_file(struct pug_perf *perf, struct pug_infile *in, const char *name)
{
    struct pug_perf_file *file = pug_capture_add(perf->capture, &perf->files, sizeof(*file));
    char *copy = strdup(name);
    if (!file || !copy) {
        pug_infile_close(in);
        free(copy);
        return PUG_ERR_MEM;
    }
    *file = (struct pug_perf_file){in, copy};
    return PUG_OK;
}

static enum pug_status open_file(struct pug_perf *perf, const char *path)
{
    struct pug_infile *in;
    const enum pug_status status = pug_infile_open(path, &in);
    return status == PUG_OK ? add_file(perf, in, path) : status;
}

static const struct pug_infile *first_file(const struct pug_perf *perf)
{
    return ((const struct pug_perf_file *)perf->files.items)->in;
}

/** PUG_ERR_FILE: it cannot be read, which is reported; PUG_ERR_TRUNCATED: it ends before. */
static enum pug_status read_first(struct pug_perf *perf, uint64_t offset, void *bytes, size_t size)
{
    const struct pug_perf_file *file = perf->files.items;
    const enum pug_status status = pug_infile_read(file->in, offset, bytes, size);
    if (status == PUG_ERR_FILE) {
        const int reason = errno;
        pug_perf_fail(perf, file->path, offset, status);
        say_header(perf, PUG_SEV_ERROR, offset, strerror(reason));
    }
    return status;
}

/** A stream is kept in a file without a name, so that its trace can be read where it is needed. */
static enum pug_status spool(struct pug_perf *perf)
{
#ifdef _WIN32
    return refuse(perf, "a stream of perf is not read on Windows: save it as a file");
#else
    const int kept = pug_scratch_open();
    struct pug_infile *in;
    if (kept < 0) {
        pug_capture_say(perf->capture, PUG_SEV_ERROR, PUG_OK, "%s: no temporary file in %s: %s",
                        perf->capture->path, pug_scratch_folder(), strerror(errno));
        return PUG_ERR_FILE;
    }
    uint8_t *block = malloc(1u << 16);
    const struct pug_capture_bytes *head = &perf->capture->head;
    bool good = block && pug_write_whole(kept, head->bytes, head->size);
    for (int64_t got = 1; good && got > 0;) {
        got = pug_capture_stream_read(perf->capture, block, 1u << 16);
        good = got >= 0 && pug_write_whole(kept, block, (size_t)got);
    }
    const int why = errno;
    free(block);
    if (!good) {
        close(kept);
        return refuse(perf, strerror(why));
    }
    const enum pug_status status = pug_infile_adopt(kept, &in);
    return status == PUG_OK ? add_file(perf, in, perf->capture->path) : status;
#endif
}

/* ---- the header of a file ---- */

static bool inside(const struct section *section, uint64_t size)
{
    return section->offset <= size && section->size <= size - section->offset &&
           section->size < SIZE_MAX;
}

static enum pug_status read_attr(struct pug_perf *perf, uint64_t at, const uint8_t *entry,
                                 size_t size)
{
    const struct pug_infile *in = first_file(perf);
    const struct section ids = {pug_bytes_64(entry + size - 16), pug_bytes_64(entry + size - 8)};
    uint8_t *bytes = NULL;
    size_t count = 0;
    if (!inside(&ids, pug_infile_size(in)) || ids.size / 8 > PUG_PERF_IDS)
        say_header(perf, PUG_SEV_WARN, at, "the ids of this attribute are not in the file");
    else if (ids.size >= 8 && !(bytes = malloc((size_t)ids.size)))
        return PUG_ERR_MEM;
    else if (ids.size >= 8 && read_first(perf, ids.offset, bytes, (size_t)ids.size) == PUG_OK)
        count = (size_t)ids.size / 8;
    const enum pug_status status = pug_perf_take_attr(perf, entry, size - 16, bytes, count);
    free(bytes);
    return status;
}

static enum pug_status read_attrs(struct pug_perf *perf, const struct section *attrs,
                                  uint64_t entry_size)
{
    const struct pug_infile *in = first_file(perf);
    if (!inside(attrs, pug_infile_size(in)) || entry_size < ATTR_LEAST || entry_size > 65536)
        return refuse_header(perf, 16, "attributes of such a size, or at such a place, cannot be");
    uint8_t *entry = malloc((size_t)entry_size);
    enum pug_status status = entry ? PUG_OK : PUG_ERR_MEM;
    for (uint64_t at = 0; status == PUG_OK && at + entry_size <= attrs->size; at += entry_size) {
        status = read_first(perf, attrs->offset + at, entry, (size_t)entry_size);
        if (status == PUG_OK)
            status = read_attr(perf, attrs->offset + at, entry, (size_t)entry_size);
    }
    free(entry);
    if (status == PUG_ERR_LIMIT)
        return refuse_header(perf, 32, "there are more attributes or ids than can be");
    return status;
}

static void read_feature(struct pug_perf *perf, unsigned bit, const struct section *section)
{
    const struct pug_infile *in = first_file(perf);
    uint8_t *bytes = NULL;
    perf->place = (struct pug_perf_place){section->offset, 0};
    if (!inside(section, pug_infile_size(in)) || section->size > PUG_PERF_FEATURE)
        pug_perf_damage_feature(perf, bit, "it cannot be read");
    else if (!(bytes = malloc((size_t)section->size + 1)))
        pug_capture_starve(perf->capture);
    else if (read_first(perf, section->offset, bytes, (size_t)section->size) != PUG_OK)
        pug_perf_damage_feature(perf, bit, "it cannot be read");
    else
        pug_perf_take_feature(perf, bit, bytes, (size_t)section->size);
    free(bytes);
}

/** Behind the data stands where each feature is (section 3). */
static void read_features(struct pug_perf *perf, const uint8_t *bits, uint64_t at)
{
    uint8_t place[16];
    for (unsigned bit = 0; bit < FEATURES; bit++) {
        if (!(bits[bit / 8] >> bit % 8 & 1))
            continue;
        if (read_first(perf, at, place, sizeof(place)) != PUG_OK) {
            say_header(perf, PUG_SEV_WARN, at, "the list of features behind the data ends here");
            return;
        }
        const struct section section = {pug_bytes_64(place), pug_bytes_64(place + 8)};
        read_feature(perf, bit, &section);
        at += sizeof(place);
    }
}

static enum pug_status read_file(struct pug_perf *perf, const uint8_t *header, uint64_t size)
{
    const uint64_t length = pug_infile_size(first_file(perf));
    const struct section attrs = {pug_bytes_64(header + 24), pug_bytes_64(header + 32)};
    struct section data = {pug_bytes_64(header + 40), pug_bytes_64(header + 48)};
    enum pug_status status = read_attrs(perf, &attrs, pug_bytes_64(header + 16));
    if (status != PUG_OK)
        return status;
    if (data.offset > length)
        return refuse_header(perf, 40, "the data would begin behind the end of the file");
    if (data.size > length - data.offset) {
        char text[128];
        snprintf(text, sizeof(text),
                 "the file is shorter than it says: %llu bytes of its data are missing",
                 (unsigned long long)(data.size - (length - data.offset)));
        say_header(perf, PUG_SEV_WARN, 48, text);
        data.size = length - data.offset;
    } else if (data.size == 0) {
        say_header(perf, PUG_SEV_WARN, 48,
                   "the recording was never finished; all up to the end of the file is taken");
        data.size = length - data.offset;
    } else if (size >= FILE_HEADER) {
        read_features(perf, header + OLD_HEADER, data.offset + data.size);
    }
    return pug_perf_walk_all(perf, data.offset, data.offset + data.size);
}

static enum pug_status read_container(struct pug_perf *perf)
{
    const struct pug_infile *in = first_file(perf);
    uint8_t header[FILE_HEADER] = {0};
    const uint64_t length = pug_infile_size(in);
    enum pug_status status =
        length < PIPE_HEADER ? PUG_ERR_TRUNCATED : read_first(perf, 0, header, PIPE_HEADER);
    if (status == PUG_ERR_FILE)
        return status;
    if (status != PUG_OK)
        return refuse_header(perf, length, "the file ends inside of it");
    if (memcmp(header, OTHER_ORDER, 8) == 0)
        return refuse_header(perf, 0,
                             "it was written by a big-endian machine, which is not supported");
    if (memcmp(header, FIRST_MAGIC, 8) == 0)
        return refuse_header(perf, 0, "it has perf's first format, of before 2010");
    if (memcmp(header, MAGIC, 8) != 0)
        return refuse_header(perf, 0, "it is no perf.data");
    const uint64_t size = pug_bytes_64(header + 8);
    perf->piped = size == PIPE_HEADER;
    if (perf->piped)
        return pug_perf_walk(perf, 0, PIPE_HEADER, length);
    const size_t wanted = length < FILE_HEADER ? (size_t)length : FILE_HEADER;
    if (size < OLD_HEADER || wanted < OLD_HEADER)
        return refuse_header(perf, 8, "it cannot have such a size");
    status = read_first(perf, 0, header, wanted);
    return status == PUG_OK ? read_file(perf, header, size) : status;
}

/* ---- directories ---- */

/** Returns how many there may be: one more than the last of data.0, data.1, … in the folder. */
static unsigned parts_of(const char *folder)
{
    unsigned behind = 0;
    DIR *open = opendir(folder);
    for (const struct dirent *entry; open && (entry = readdir(open)) != NULL;) {
        char *end;
        if (strncmp(entry->d_name, "data.", 5) != 0 || !isdigit((unsigned char)entry->d_name[5]))
            continue;
        const unsigned long number = strtoul(entry->d_name + 5, &end, 10);
        if (*end == 0 && number < PUG_PERF_FILES && number >= behind)
            behind = (unsigned)number + 1;
    }
    if (open)
        closedir(open);
    return behind;
}

/** data.0, data.1, …: records without a header, a file for each reader thread. */
static enum pug_status read_parts(struct pug_perf *perf)
{
    const unsigned count = parts_of(perf->folder);
    char path[PATH_MAX];
    for (unsigned i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/data.%u", perf->folder, i);
        enum pug_status status = open_file(perf, path);
        if (status == PUG_ERR_MEM)
            return status;
        if (status != PUG_OK) {
            pug_perf_fail(perf, pug_capture_keep(perf->capture, path, sizeof(path)), 0, status);
            pug_capture_say(perf->capture, PUG_SEV_WARN, PUG_OK,
                            "%s: it cannot be read; what was recorded there is missing", path);
            continue;
        }
        const struct pug_perf_file *files = perf->files.items;
        const uint32_t number = (uint32_t)perf->files.count - 1;
        status = pug_perf_walk(perf, number, 0, pug_infile_size(files[number].in));
        if (status != PUG_OK)
            return status;
    }
    return PUG_OK;
}

static enum pug_status open_files(struct pug_perf *perf)
{
    const struct pug_capture *capture = perf->capture;
    char path[PATH_MAX];
    struct stat place;
    if (capture->kind == PUG_CAPTURE_STREAM)
        return spool(perf);
    if (stat(capture->path, &place) != 0 || !S_ISDIR(place.st_mode))
        snprintf(path, sizeof(path), "%s", capture->path);
    else if ((perf->folder = strdup(capture->path)) == NULL)
        return PUG_ERR_MEM;
    else
        snprintf(path, sizeof(path), "%s/data", capture->path);
    const enum pug_status status = open_file(perf, path);
    if (status == PUG_ERR_FILE)
        return refuse(perf, strerror(errno));
    return status;
}

/* ---- everything together ---- */

static void title(struct pug_perf *perf)
{
    struct pug_capture *capture = perf->capture;
    const struct pug_capture_buffer *buffers = pug_capture_buffers(capture);
    char text[160];
    snprintf(text, sizeof(text), "perf.data%s%s, %s, metadata version %llu%s",
             perf->simpleperf ? " of simpleperf" : "",
             perf->piped    ? ", a pipe's"
             : perf->folder ? ", a directory"
                            : "",
             capture->buffers.count == 0 ? "without trace"
             : buffers[0].cpu < 0        ? "per thread"
                                         : "per processor",
             (unsigned long long)perf->info_version, perf->snapshot_mode ? ", snapshot mode" : "");
    capture->title = strdup(text);
    if (!capture->title)
        pug_capture_starve(capture);
}

static struct pug_capture_time record_times(const struct pug_perf *perf)
{
    if (!perf->has_times)
        return (struct pug_capture_time){.unit = PUG_CAPTURE_NO_TIME, .origin = "order of records"};
    return (struct pug_capture_time){
        .unit = PUG_CAPTURE_NANOSECONDS,
        .origin = perf->own_clock ? perf->own_clock : "perf clock",
        .first = perf->first_sample,
        .last = perf->last_sample ? perf->last_sample : perf->last_time,
    };
}

static void tell(struct pug_perf *perf)
{
    struct pug_capture *capture = perf->capture;
    char text[128];
    snprintf(text, sizeof(text),
             "%llu records were lost while recording, the first ones here: memory maps may be "
             "missing",
             (unsigned long long)perf->lost);
    if (perf->lost)
        pug_perf_damage(perf, perf->lost_at.file, perf->lost_at.offset, PUG_PERF_LOST, text);
    if (perf->lost)
        pug_capture_add_fact(capture, "lost records", "%llu", (unsigned long long)perf->lost);
    if (perf->many_mounts)
        pug_capture_add_fact(capture, "namespaces", "paths are as seen inside of several");
    if (perf->auxtrace.count > 0 && !perf->has_info)
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK,
                        "%s: nothing in it says how CoreSight was set up: its trace cannot be "
                        "decoded",
                        capture->path);
    capture->times = capture->record_times = record_times(perf);
    if (pug_perf_counts_ticks(perf)) /* their start is unknown in advance */
        pug_capture_settle_ticks(capture, &capture->options.settings);
}

static enum pug_status settle(struct pug_perf *perf)
{
    pug_perf_settle_objects(perf);
    enum pug_status status = pug_perf_settle_ids(perf);
    if (status == PUG_OK)
        status = pug_perf_cut(perf);
    if (status == PUG_OK)
        status = pug_perf_settle_events(perf);
    if (perf->members.count > 0)
        pug_perf_settle_objects(perf); /* records about libraries in packages may have come, too */
    if (status == PUG_OK)
        status = pug_perf_line_up(perf);
    return status;
}

static enum pug_status check_buffer(const struct pug_perf *perf)
{
    const struct pug_capture *capture = perf->capture;
    const struct pug_capture_buffer *buffers = pug_capture_buffers(capture);
    char names[512] = "";
    if (!capture->options.buffer)
        return PUG_OK;
    for (size_t i = 0; i < capture->buffers.count; i++) {
        if (buffers[i].chosen)
            return PUG_OK;
        strncat(names, " ", sizeof(names) - strlen(names) - 1);
        strncat(names, buffers[i].name, sizeof(names) - strlen(names) - 1);
    }
    pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: no trace buffer %s; there are:%s",
                    capture->path, capture->options.buffer, names);
    return PUG_ERR_DCDREG_NAME_UNKNOWN;
}

enum pug_status pug_perf_open(struct pug_capture *capture)
{
    struct pug_perf *perf = calloc(1, sizeof(*perf));
    if (!perf)
        return PUG_ERR_MEM;
    perf->capture = capture;
    perf->kernel_start = UINT64_C(1) << 63;
    capture->own = perf;
    capture->ops = &pug_perf_ops;
    enum pug_status status = open_files(perf);
    capture->kind = PUG_CAPTURE_PERF;
    if (status == PUG_OK)
        status = read_container(perf);
    if (status == PUG_OK && perf->folder)
        status = read_parts(perf);
    if (status == PUG_OK && capture->starved)
        status = PUG_ERR_MEM; /* what is known of an object may not be there */
    if (status == PUG_OK)
        status = settle(perf);
    if (status != PUG_OK)
        return status;
    title(perf);
    tell(perf);
    return check_buffer(perf);
}
