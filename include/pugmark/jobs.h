// SPDX-License-Identifier: MIT
#include "pugmark/advanced/jobs.h" /* where it was until 0.3 */
