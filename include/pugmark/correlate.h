// SPDX-License-Identifier: MIT
#include "pugmark/advanced/correlate.h" /* where it was until 0.3 */
