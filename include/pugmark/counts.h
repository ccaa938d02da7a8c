// SPDX-License-Identifier: MIT
#include "pugmark/advanced/counts.h" /* where it was until 0.3 */
