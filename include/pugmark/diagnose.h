// SPDX-License-Identifier: MIT
#include "pugmark/advanced/diagnose.h" /* where it was until 0.3 */
