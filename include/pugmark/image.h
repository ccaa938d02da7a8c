// SPDX-License-Identifier: MIT
#include "pugmark/advanced/image.h" /* where it was until 0.3 */
