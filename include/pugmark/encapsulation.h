// SPDX-License-Identifier: MIT
#include "pugmark/advanced/encapsulation.h" /* where it was until 0.3 */
