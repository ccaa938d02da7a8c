// SPDX-License-Identifier: MIT
#include "million_library.h"

#include "files/map.h"
#include "pugmark/advanced/diagnose.h"
#include "pugmark/advanced/jobs.h"

struct million_runs *million_runs;

enum pug_status __real_pug_tree_decode(struct pug_tree *tree, const struct pug_jobs *config,
                                       const uint8_t *bytes, size_t size,
                                       struct pug_jobs_result *result);
enum pug_status __wrap_pug_tree_decode(struct pug_tree *tree, const struct pug_jobs *config,
                                       const uint8_t *bytes, size_t size,
                                       struct pug_jobs_result *result);

/** Pieces are longer than inputs otherwise, and one thread reads them all. */
enum pug_status __wrap_pug_tree_decode(struct pug_tree *tree, const struct pug_jobs *config,
                                       const uint8_t *bytes, size_t size,
                                       struct pug_jobs_result *result)
{
    if (!million_runs || million_runs->plain || !config || config->threads < 2)
        return __real_pug_tree_decode(tree, config, bytes, size, result);
    struct pug_jobs small = *config;
    struct pug_jobs_result own;
    struct pug_jobs_result *const outcome = result ? result : &own;
    small.block = small.piece = million_runs->piece;
    const enum pug_status status = __real_pug_tree_decode(tree, &small, bytes, size, outcome);
    if (outcome->threads > million_runs->most)
        million_runs->most = outcome->threads;
    return status;
}

size_t __real_pug_guess_format(const uint8_t *bytes, size_t size,
                               struct pug_guess guesses[PUG_GUESSES]);
size_t __wrap_pug_guess_format(const uint8_t *bytes, size_t size,
                               struct pug_guess guesses[PUG_GUESSES]);

size_t __wrap_pug_guess_format(const uint8_t *bytes, size_t size,
                               struct pug_guess guesses[PUG_GUESSES])
{
    return million_runs && !million_runs->plain ? 0 : __real_pug_guess_format(bytes, size, guesses);
}

void __real_pug_diagnosis_elements(struct pug_diagnosis_part *part,
                                   const struct pug_element *elements, size_t count);
void __wrap_pug_diagnosis_elements(struct pug_diagnosis_part *part,
                                   const struct pug_element *elements, size_t count);

void __wrap_pug_diagnosis_elements(struct pug_diagnosis_part *part,
                                   const struct pug_element *elements, size_t count)
{
    if (!million_runs || million_runs->plain)
        __real_pug_diagnosis_elements(part, elements, count);
}

#define MAPS 64

void million_warm_up(void)
{
    struct pug_map *maps[MAPS] = {NULL};
    for (size_t i = 0; i < MAPS; i++)
        if (pug_map_open("/proc/self/exe", &maps[i]) != PUG_OK)
            break;
    for (size_t i = 0; i < MAPS; i++)
        pug_map_close(maps[i]);
}
