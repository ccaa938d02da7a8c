// SPDX-License-Identifier: MIT
#include "support/kept_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In memory where that can be: what is kept is made safe each time. */
static char folder[64] = "/dev/shm/pugmark-kept-XXXXXX";

int kept_folder_open(void **state)
{
    (void)state;
    if (mkdtemp(folder))
        return 0;
    snprintf(folder, sizeof(folder), "/tmp/pugmark-kept-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
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
