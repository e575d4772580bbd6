// SPDX-License-Identifier: BSD-3-Clause
// A second file of the toy kernel, with a variable of a name that the first has too.

static volatile struct { long first; int of_the_driver; } hidden = { 1, 2 };
struct { const volatile void *address; } driver_hidden = { &hidden };
