// SPDX-License-Identifier: MIT
#include "maps.h"

#include "stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct map {
    uint64_t start, end, offset;
    char *path;
};

static struct {
    struct map *items;
    size_t count, room;
    size_t holds; /* from here on they are known to hold still */
} maps;

static bool is_known(uint64_t address)
{
    for (size_t i = maps.count; i > maps.holds; i--)
        if (address >= maps.items[i - 1].start && address < maps.items[i - 1].end)
            return true;
    return false;
}

/** The newest that was written for this address is the same. */
static bool is_written(const struct map *map)
{
    for (size_t i = maps.count; i > 0; i--) {
        const struct map *old = &maps.items[i - 1];
        if (map->start < old->end && old->start < map->end)
            return old->start == map->start && old->end == map->end && old->offset == map->offset &&
                   strcmp(old->path, map->path) == 0;
    }
    return false;
}

static void write_map(const struct map *map)
{
    struct buffer record = {NULL, 0, 0};
    buffer_number(&record, REC_PATH_MAP);
    buffer_number(&record, stream_clock());
    buffer_number(&record, map->start);
    buffer_number(&record, map->end - map->start);
    buffer_number(&record, map->offset);
    buffer_number(&record, strlen(map->path));
    buffer_bytes(&record, map->path, strlen(map->path));
    stream_record(&record, true);
    free(record.bytes);
}

static void add(const struct map *map)
{
    bool written = is_written(map);
    if (maps.count == maps.room) {
        size_t room = maps.room * 2 + 64;
        struct map *grown = realloc(maps.items, room * sizeof(*grown));
        if (!grown)
            return;
        maps.items = grown;
        maps.room = room;
    }
    maps.items[maps.count] = *map;
    maps.items[maps.count].path = strdup(map->path);
    if (!maps.items[maps.count].path)
        return;
    maps.count++;
    if (!written)
        write_map(map);
}

void maps_meet(uint64_t address, const void *host)
{
    if (is_known(address))
        return;
    FILE *file = fopen("/proc/self/maps", "re");
    char line[REC_PATH_NAME_BYTES + 128];
    uint64_t place = (uint64_t)(uintptr_t)host;
    while (file && fgets(line, sizeof(line), file)) {
        uint64_t start, end, offset;
        int name = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &start, &end,
                   &offset, &name) < 3 ||
            place < start || place >= end)
            continue;
        line[strcspn(line, "\n")] = 0;
        struct map map = {address - (place - start), address + (end - place), offset, line + name};
        if (line[name] != '/') {
            map.path = line + strlen(line);
            map.offset = 0;
        }
        add(&map);
        break;
    }
    if (file)
        fclose(file);
}

void maps_changed(void)
{
    maps.holds = maps.count;
}
