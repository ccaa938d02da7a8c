// SPDX-License-Identifier: MIT
/** @file Clusters: which cores belong together. Where a snapshot does not say, all do. */
#include "snapshot/file.h"

#include <stdlib.h>
#include <strings.h>

enum pug_status pug_snapshot_cluster_add(struct pug_snapshot *snapshot, const char *name,
                                         char *devices, unsigned line)
{
    struct cluster *cluster = pug_snapshot_list_add(&snapshot->clusters, sizeof(*cluster));
    if (!cluster)
        return PUG_ERR_MEM;
    cluster->name = name;
    cluster->line = line;
    char *device;
    while ((device = pug_snapshot_ini_piece(&devices)) != NULL)
        if (*device && !pug_snapshot_list_add_pointer(&cluster->devices, device))
            return PUG_ERR_MEM;
    return PUG_OK;
}

bool pug_snapshot_is_core(const struct pug_snapshot *snapshot,
                          const struct pug_snapshot_device *device)
{
    if (strcasecmp(device->class_name, "core") == 0)
        return true;
    return pug_snapshot_is_traced(snapshot, device->name);
}

static void warn_of_strangers(const struct pug_snapshot *snapshot, const struct cluster *cluster)
{
    const char *const *names = cluster->devices.items;
    for (size_t i = 0; i < cluster->devices.count; i++)
        if (!pug_snapshot_device(snapshot, names[i]))
            pug_snapshot_say(snapshot, "snapshot_parser", PUG_SEV_WARN, PUG_OK,
                             "%s/snapshot.ini:%u: %s is of device '%s', which is not there\n",
                             snapshot->directory, cluster->line, cluster->name, names[i]);
}

enum pug_status pug_snapshot_clusters_finish(struct pug_snapshot *snapshot)
{
    const struct cluster *clusters = snapshot->clusters.items;
    for (size_t i = 0; i < snapshot->clusters.count; i++)
        warn_of_strangers(snapshot, &clusters[i]);
    if (snapshot->clusters.count > 0)
        return PUG_OK;
    const struct pug_snapshot_device *device;
    struct cluster all = {.name = ""};
    for (size_t n = 0; (device = pug_snapshot_device_at(snapshot, n)) != NULL; n++)
        if (pug_snapshot_is_core(snapshot, device) &&
            !pug_snapshot_list_add_pointer(&all.devices, device->name))
            break;
    struct cluster *only =
        all.devices.count > 0 ? pug_snapshot_list_add(&snapshot->clusters, sizeof(*only)) : NULL;
    if (only)
        *only = all;
    else
        free(all.devices.items);
    return only || all.devices.count == 0 ? PUG_OK : PUG_ERR_MEM;
}

void pug_snapshot_clusters_free(struct pug_snapshot *snapshot)
{
    struct cluster *clusters = snapshot->clusters.items;
    for (size_t i = 0; i < snapshot->clusters.count; i++)
        free(clusters[i].devices.items);
    free(clusters);
}

bool pug_snapshot_cluster_at(const struct pug_snapshot *snapshot, size_t n,
                             struct pug_snapshot_cluster *cluster)
{
    const struct cluster *clusters = snapshot->clusters.items;
    if (n >= snapshot->clusters.count)
        return false;
    *cluster = (struct pug_snapshot_cluster){.name = clusters[n].name,
                                             .devices = clusters[n].devices.items,
                                             .count = clusters[n].devices.count};
    return true;
}
