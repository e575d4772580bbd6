/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The region of interest, between the guest's markers.
 */
#ifndef MOSBENCH_REGION_H
#define MOSBENCH_REGION_H

/* The model counts, and cores are sampled. */
extern bool mosbench_counting;

#endif
