// SPDX-License-Identifier: MIT
#include "pugmark/advanced/quirks.h" /* where it was until 0.3 */
