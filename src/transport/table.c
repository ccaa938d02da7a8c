// SPDX-License-Identifier: MIT
/** @file The one list of transports: those built in, and those that a program registers. */
#include "transport/builtin.h"

static const struct pug_transport *const transports[] = {
    &pug_transport_plain, &pug_transport_coresight, &pug_transport_orbflow,
    &pug_transport_nexus, &pug_transport_osd,       &pug_transport_encapsulation,
    &pug_transport_smi,   &pug_transport_esp32,     &pug_transport_pulp,
    &pug_transport_raw,
};

#define BUILTINS       (sizeof(transports) / sizeof(transports[0]))
#define EXTERNAL_LIMIT 32

static const struct pug_transport *external[EXTERNAL_LIMIT];
static size_t external_count;

const struct pug_transport *pug_transport_at(size_t n)
{
    if (n < BUILTINS)
        return transports[n];
    return n - BUILTINS < external_count ? external[n - BUILTINS] : NULL;
}

const struct pug_transport *pug_transport_find(const char *name)
{
    const struct pug_transport *transport;
    for (size_t n = 0; name && (transport = pug_transport_at(n)) != NULL; n++)
        if (strcmp(transport->name, name) == 0)
            return transport;
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

enum pug_status pug_transport_register(const struct pug_transport *transport)
{
    if (!transport || !transport->name || !transport->create || !transport->free ||
        !transport->data || !transport->flush || !transport->end || !transport->reset)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (transport->abi != PUG_AUTHOR_ABI)
        return PUG_ERR_NOT_OFFERED;
    if (pug_transport_find(transport->name))
        return PUG_ERR_NAME_TAKEN;
    if (external_count == EXTERNAL_LIMIT)
        return PUG_ERR_TOO_MANY_PROTOCOLS;
    external[external_count++] = transport;
    return PUG_OK;
}

enum pug_status pug_transport_unregister(const char *name)
{
    for (size_t i = 0; name && i < external_count; i++) {
        if (strcmp(external[i]->name, name) != 0)
            continue;
        memmove(&external[i], &external[i + 1], (external_count - i - 1) * sizeof(external[0]));
        external_count--;
        return PUG_OK;
    }
    return PUG_ERR_UNKNOWN_NAME;
}
