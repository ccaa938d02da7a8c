// SPDX-License-Identifier: MIT
#include "files/whole.h"
#include "recorder/bytes.h"
#include "recorder/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK (1u << 15)

struct known {
    uint64_t address;
    uint32_t size, id, next; /* next: of the same bucket, + 1 */
    uint8_t isa;
    uint8_t *bytes;
};

struct stream {
    struct rec_bytes events;
    uint64_t began, now, told, hits, accessed;
    uint32_t *follower;
    uint32_t followers;
    uint32_t at; /* + 1 */
};

struct rec_path_writer {
    int file;
    struct rec_bytes out;
    struct known *known;
    uint32_t known_count, known_room;
    uint32_t *buckets; /* + 1 */
    uint32_t bucket_count;
    struct stream *streams[REC_PATH_CPUS];
    bool data;
    int failed; /* errno */
};

static void flush(struct rec_path_writer *writer)
{
    if (!writer->failed && !pug_write_whole(writer->file, writer->out.data, writer->out.size))
        writer->failed = errno;
    if (writer->out.failed && !writer->failed)
        writer->failed = ENOMEM;
    writer->out.size = 0;
}

struct rec_path_writer *rec_path_writer_new(int file, const struct rec_path_header *header)
{
    struct rec_path_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return NULL;
    writer->file = file;
    rec_put_n(&writer->out, REC_PATH_MAGIC, REC_PATH_MAGIC_SIZE);
    rec_put_leb(&writer->out, header->family);
    writer->data = header->data;
    rec_put_leb(&writer->out, (header->system ? REC_PATH_SYSTEM : 0u) |
                                  (header->data ? REC_PATH_DATA : 0u) |
                                  (header->traps ? REC_PATH_TRAPS : 0u));
    rec_put_leb(&writer->out, header->pid);
    return writer;
}

void rec_path_writer_free(struct rec_path_writer *writer)
{
    if (!writer)
        return;
    for (uint32_t i = 0; i < writer->known_count; i++)
        free(writer->known[i].bytes);
    for (unsigned i = 0; i < REC_PATH_CPUS; i++) {
        if (!writer->streams[i])
            continue;
        rec_bytes_free(&writer->streams[i]->events);
        free(writer->streams[i]->follower);
        free(writer->streams[i]);
    }
    rec_bytes_free(&writer->out);
    free(writer->known);
    free(writer->buckets);
    free(writer);
}

/* ---- blocks ---- */

static uint32_t hash_of(uint64_t address, uint32_t size)
{
    return (uint32_t)((address * 31 + size) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

static bool grow_buckets(struct rec_path_writer *writer)
{
    uint32_t count = writer->known_room * 2;
    uint32_t *buckets = calloc(count, sizeof(*buckets));
    if (!buckets)
        return false;
    free(writer->buckets);
    writer->buckets = buckets;
    writer->bucket_count = count;
    for (uint32_t i = 0; i < writer->known_count; i++) {
        struct known *known = &writer->known[i];
        uint32_t *bucket = &buckets[hash_of(known->address, known->size) % count];
        known->next = *bucket;
        *bucket = i + 1;
    }
    return true;
}

static bool reserve_known(struct rec_path_writer *writer)
{
    if (writer->known_count < writer->known_room)
        return true;
    uint32_t room = writer->known_room * 2 + 256;
    struct known *grown = realloc(writer->known, room * sizeof(*grown));
    if (!grown)
        return false;
    writer->known = grown;
    writer->known_room = room;
    return grow_buckets(writer);
}

/** The block's number, + 1; it is described where it is new. 0: no memory. */
static uint32_t find_block(struct rec_path_writer *writer, const struct rec_path_block *block)
{
    const uint32_t size = block->size;
    uint32_t hash = hash_of(block->address, size);
    for (uint32_t n = writer->bucket_count ? writer->buckets[hash % writer->bucket_count] : 0; n;
         n = writer->known[n - 1].next) {
        const struct known *known = &writer->known[n - 1];
        if (known->address == block->address && known->size == size && known->isa == block->isa &&
            memcmp(known->bytes, block->bytes, size) == 0)
            return n;
    }
    if (!reserve_known(writer) || writer->bucket_count == 0)
        return 0;
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return 0;
    memcpy(bytes, block->bytes, size);
    uint32_t *bucket = &writer->buckets[hash % writer->bucket_count];
    uint32_t id = writer->known_count++;
    writer->known[id] = (struct known){.address = block->address,
                                       .size = size,
                                       .id = id,
                                       .next = *bucket,
                                       .isa = block->isa,
                                       .bytes = bytes};
    *bucket = id + 1;
    rec_put(&writer->out, REC_PATH_BLOCK);
    rec_put_leb(&writer->out, block->isa);
    rec_put_leb(&writer->out, block->address);
    rec_put_leb(&writer->out, size);
    rec_put_n(&writer->out, bytes, size);
    return id + 1;
}

/* ---- events ---- */

static void end_hits(struct stream *stream)
{
    if (stream->hits > 0)
        rec_put_leb(&stream->events, stream->hits << 1);
    stream->hits = 0;
}

static void put_event(struct stream *stream, enum rec_path_event event, uint64_t operand)
{
    end_hits(stream);
    rec_put_leb(&stream->events, operand << 4 | (uint64_t)event << 1 | 1);
}

static void flush_stream(struct rec_path_writer *writer, unsigned cpu)
{
    struct stream *stream = writer->streams[cpu];
    end_hits(stream);
    if (stream->events.size > 0) {
        rec_put(&writer->out, REC_PATH_EVENTS);
        rec_put_leb(&writer->out, cpu);
        rec_put_leb(&writer->out, stream->began);
        rec_put_leb(&writer->out, stream->events.size);
        rec_put_n(&writer->out, stream->events.data, stream->events.size);
    }
    writer->out.failed |= stream->events.failed;
    stream->events.size = 0;
    stream->accessed = 0;
    stream->began = stream->told = stream->now;
    flush(writer);
}

static struct stream *stream_at(struct rec_path_writer *writer, unsigned cpu)
{
    if (!writer->streams[cpu])
        writer->streams[cpu] = calloc(1, sizeof(struct stream));
    if (!writer->streams[cpu])
        writer->failed = ENOMEM;
    return writer->streams[cpu];
}

static bool reserve_follower(struct rec_path_writer *writer, struct stream *stream)
{
    if (stream->at <= stream->followers)
        return true;
    uint32_t count = writer->known_room;
    uint32_t *grown = realloc(stream->follower, count * sizeof(*grown));
    if (!grown)
        return false;
    memset(grown + stream->followers, 0, (count - stream->followers) * sizeof(*grown));
    stream->follower = grown;
    stream->followers = count;
    return true;
}

static void put_access(struct stream *stream, const struct rec_path_access *access)
{
    put_event(stream, REC_EVENT_GAP,
              1 + ((uint64_t)access->insn << REC_ACCESS_INSN |
                   (access->known ? REC_ACCESS_KNOWN : 0u) |
                   (access->store ? REC_ACCESS_STORE : 0u) | access->size));
    rec_put_leb(&stream->events, rec_path_fold(access->address - stream->accessed));
    if (access->known)
        rec_put_leb(&stream->events, access->value);
    stream->accessed = access->address;
}

static void put_block(struct rec_path_writer *writer, struct stream *stream,
                      const struct rec_path_item *item)
{
    uint32_t id = find_block(writer, item->block);
    if (id == 0 || (stream->at && !reserve_follower(writer, stream))) {
        writer->failed = ENOMEM;
        return;
    }
    uint32_t *follower = stream->at ? &stream->follower[stream->at - 1] : NULL;
    if (follower && *follower == id) {
        stream->hits++;
    } else {
        put_event(stream, REC_EVENT_BLOCK, id - 1);
        if (follower)
            *follower = id;
    }
    stream->at = id;
    for (uint32_t i = 0; writer->data && i < item->access_count; i++)
        put_access(stream, &item->accesses[i]);
    if (item->count < item->block->count)
        put_event(stream, REC_EVENT_CUT, item->count);
}

static void put_task(struct rec_path_writer *writer, const struct rec_path_item *item)
{
    flush_stream(writer, item->cpu);
    rec_put(&writer->out, REC_PATH_TASK);
    rec_put_leb(&writer->out, item->cpu);
    rec_put_leb(&writer->out, writer->streams[item->cpu]->now);
    rec_put_leb(&writer->out, item->pid);
    rec_put_leb(&writer->out, item->value);
    writer->streams[item->cpu]->at = 0;
}

static void put_text(struct rec_path_writer *writer, const char *text)
{
    rec_put_leb(&writer->out, strlen(text));
    rec_put_n(&writer->out, text, strlen(text));
}

static void put_map(struct rec_path_writer *writer, const struct rec_path_item *item)
{
    rec_put(&writer->out, REC_PATH_MAP);
    rec_put_leb(&writer->out, item->value);
    rec_put_leb(&writer->out, item->address);
    rec_put_leb(&writer->out, item->size);
    rec_put_leb(&writer->out, item->offset);
    put_text(writer, item->text);
}

void rec_path_writer_put(struct rec_path_writer *writer, const struct rec_path_item *item)
{
    struct stream *stream = item->cpu < REC_PATH_CPUS ? stream_at(writer, item->cpu) : NULL;
    if (!stream || writer->failed)
        return;
    switch (item->kind) {
    case REC_PATH_RAN: put_block(writer, stream, item); break;
    case REC_PATH_ASKED: put_event(stream, REC_EVENT_SYSCALL, item->value); break;
    case REC_PATH_TRAPPED:
        put_event(stream, REC_EVENT_TRAP,
                  item->value | (item->numbered ? (uint64_t)item->number + 1 : 0)
                                    << REC_TRAP_NUMBER);
        rec_put_leb(&stream->events, item->known ? item->address + 1 : 0);
        break;
    case REC_PATH_IN_CONTEXT: put_event(stream, REC_EVENT_CONTEXT, item->value); break;
    case REC_PATH_IN_PRIVILEGE: put_event(stream, REC_EVENT_PRIVILEGE, item->value); break;
    case REC_PATH_AT:
        if (stream->events.size == 0)
            stream->began = stream->told = item->value;
        else if (item->value > stream->told)
            put_event(stream, REC_EVENT_TIME, item->value - stream->told);
        stream->now = stream->told = item->value;
        break;
    case REC_PATH_LEFT_OUT: put_event(stream, REC_EVENT_GAP, item->value); break;
    case REC_PATH_NEW_TASK: put_task(writer, item); break;
    case REC_PATH_MAPPED: put_map(writer, item); break;
    case REC_PATH_NAMED:
    case REC_PATH_IS_CORE:
        rec_put(&writer->out, item->kind == REC_PATH_NAMED ? REC_PATH_PROGRAM : REC_PATH_CORE);
        put_text(writer, item->text);
        break;
    case REC_PATH_ENDED:
    case REC_PATH_BAD: break;
    }
    if (stream->events.size > CHUNK)
        flush_stream(writer, item->cpu);
}

bool rec_path_writer_end(struct rec_path_writer *writer)
{
    for (unsigned i = 0; i < REC_PATH_CPUS; i++)
        if (writer->streams[i])
            flush_stream(writer, i);
    rec_put(&writer->out, REC_PATH_END);
    flush(writer);
    errno = writer->failed;
    return !writer->failed;
}
