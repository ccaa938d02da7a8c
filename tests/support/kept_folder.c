// SPDX-License-Identifier: MIT
#include "support/kept_folder.h"

#include "support/temporary.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

int kept_folder_open(void **state)
{
    (void)state;
    return temporary_folder(folder, sizeof(folder), "kept") ? 0 : -1;
}

const char *kept_folder(void)
{
    return folder;
}

const char *kept_folder_empty(void)
{
    DIR *all = opendir(folder);
    char path[512];
    for (struct dirent *entry; all && (entry = readdir(all)) != NULL;) {
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    if (all)
        closedir(all);
    return folder;
}

int kept_folder_close(void **state)
{
    (void)state;
    return rmdir(kept_folder_empty());
}

bool kept_folder_settle(void *times)
{
    unsigned *left = times;
    if (*left == 0)
        return false;
    *left -= *left != KEPT_ALWAYS;
    return true;
}
