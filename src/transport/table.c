// SPDX-License-Identifier: MIT
/** @file The one list of transports. */
#include "transport/builtin.h"

static const struct pug_transport *const transports[] = {
    &pug_transport_plain, &pug_transport_coresight, &pug_transport_orbflow,
    &pug_transport_nexus, &pug_transport_osd,       &pug_transport_encapsulation,
    &pug_transport_smi,   &pug_transport_esp32,     &pug_transport_pulp,
    &pug_transport_raw,
};

const struct pug_transport *pug_transport_at(size_t n)
{
    return n < sizeof(transports) / sizeof(transports[0]) ? transports[n] : NULL;
}

const struct pug_transport *pug_transport_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof(transports) / sizeof(transports[0]); i++)
        if (strcmp(transports[i]->name, name) == 0)
            return transports[i];
    return NULL;
}

const char *pug_transport_name(const struct pug_transport *transport)
{
    return transport->name;
}

const char *pug_transport_title(const struct pug_transport *transport)
{
    return transport->title;
}

bool pug_transport_is_single(const struct pug_transport *transport)
{
    return transport->single;
}
