// SPDX-License-Identifier: MIT
/**
 * @file Parameters of an encoder that were not given, where the decoded trace shows that they
 * matter.
 */
#include "diagnose/findings.h"

#include "pugmark/author/protocol.h"

#include <stdio.h>
#include <string.h>

/** Is it the width of a field, by its name? Or an option that adds fields? */
static bool is_parameter(const char *name)
{
    const size_t length = strlen(name);
    return length > 2 && strcmp(name + length - 2, "_p") == 0;
}

static const struct pug_capture_source *find_source(const struct pug_capture *capture, uint32_t id)
{
    const struct pug_capture_source *source;
    for (size_t n = 0; (source = pug_capture_source_at(capture, n)) != NULL; n++)
        if (source->id == id)
            return source;
    return NULL;
}

bool pug_lacks_parameters(const struct pug_capture *capture, uint32_t id, char *names, size_t size)
{
    const struct pug_capture_source *source = find_source(capture, id);
    const struct pug_protocol *protocol = source ? pug_protocol_find(source->protocol) : NULL;
    const struct pug_description *description = protocol ? protocol->description : NULL;
    const struct pug_settings *settings = source ? source->settings : NULL;
    size_t used = 0;
    *names = 0;
    if (!settings || !description || !description->of_parameters ||
        pug_settings_find(settings, "discovery_info_0"))
        return false;
    for (const struct pug_doubt *doubt = description->doubts; doubt && doubt->setting; doubt++) {
        if (!is_parameter(doubt->setting) || pug_settings_find(settings, doubt->setting) ||
            used + strlen(doubt->setting) + 2 >= size)
            continue;
        used += (size_t)snprintf(names + used, size - used, " %s", doubt->setting);
    }
    return used > 0;
}
