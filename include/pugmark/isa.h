// SPDX-License-Identifier: MIT
#include "pugmark/advanced/isa.h" /* where it was until 0.3 */
