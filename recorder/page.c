// SPDX-License-Identifier: MIT
#include "recorder/page.h"

#include "files/outfile.h"

#include <errno.h>
#include <stdlib.h>

bool rec_page_open(struct rec_page *page)
{
    page->text = NULL;
    page->file = open_memstream(&page->text, &page->size);
    return page->file != NULL;
}

bool rec_page_close(struct rec_page *page)
{
    const bool good = !ferror(page->file);
    return fclose(page->file) == 0 && good && page->text;
}

bool rec_page_save(struct rec_page *page, const char *path)
{
    const bool good =
        rec_page_close(page) && pug_outfile_save(path, page->text, page->size) == PUG_OK;
    const int error = errno;
    free(page->text);
    errno = error;
    return good;
}
