// SPDX-License-Identifier: MIT
/**
 * @file A command on many inputs. Small ones go to whichever process is free, one at a time; large
 * ones are cut among all of them. What commands print comes in the order of the inputs; what they
 * count is one sum (input_spread). An input that cannot be read costs that one.
 */
#ifndef PUGMARK_CLUSTER_MANY_H
#define PUGMARK_CLUSTER_MANY_H

#include "common/command.h"
#include "peers.h"

/** The work: a command and its inputs. */
struct many {
    struct cluster *cluster;
    const struct command *command;
    char **words; /**< of the command, without its inputs */
    int word_count;
    const struct option_list *inputs;
    uint64_t large;   /**< bytes from which on an input is cut */
    const char *keep; /**< folder for what is done, to go on later; or NULL */
};

/** The worst exit code of all. */
int many_run(const struct many *many);

#endif
