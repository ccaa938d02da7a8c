// SPDX-License-Identifier: MIT
#include "pugmark/advanced/transport.h" /* where it was until 0.3 */
