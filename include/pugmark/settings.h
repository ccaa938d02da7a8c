// SPDX-License-Identifier: MIT
#include "pugmark/advanced/settings.h" /* where it was until 0.3 */
