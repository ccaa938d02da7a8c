// SPDX-License-Identifier: MIT
#include "profile/peers.h"

#include "schedule/peers.h"

#include <stdlib.h>

static enum pug_status merge_bytes(struct pug_profile *profile, const uint8_t *bytes, size_t size)
{
    struct pug_profile *other;
    enum pug_status status = pug_profile_read(bytes, size, &other);
    if (status != PUG_OK)
        return status;
    status = pug_profile_merge_noting(profile, other);
    pug_profile_free(other);
    return status;
}

static enum pug_status send_profile(struct pug_peers *peers, unsigned to,
                                    struct pug_profile *profile)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    const enum pug_status status = pug_profile_write(profile, &bytes, &size);
    pug_peers_send(peers, to, PUG_PEERS_DATA, bytes, size);
    free(bytes);
    return status;
}

enum pug_status pug_profile_merge_peers(struct pug_peers *peers, struct pug_profile *profile)
{
    enum pug_status status = PUG_OK;
    if (!pug_peers_any(peers))
        return PUG_OK;
    pug_peers_begin(peers);
    for (unsigned bit = 1; bit < peers->count && status == PUG_OK; bit *= 2) {
        struct pug_peers_message message;
        if (peers->number & bit)
            return send_profile(peers, peers->number - bit, profile);
        if (peers->number + bit >= peers->count)
            continue;
        (void)pug_peers_receive(peers, peers->number + bit, PUG_PEERS_DATA, true, &message);
        status = merge_bytes(profile, message.bytes, message.size);
        free(message.bytes);
    }
    return status;
}
