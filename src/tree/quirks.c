// SPDX-License-Identifier: MIT
#include "pugmark/quirks.h"

#include <string.h>

struct pug_quirks pug_quirks_reference(void)
{
    struct pug_quirks quirks;
    memset(&quirks, 0xff, sizeof(quirks));
    return quirks;
}
