// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Evaluation } from '../api/schema';
import { plural } from './count';
import { obstacles } from './placement';

/** outcome is what an evaluation led to, in one line. */
export function outcome(e: Evaluation): string {
  const failed = Object.entries(e.FailedTGAllocs ?? {});
  if (failed.length === 0) return e.StatusDescription ?? '';
  return failed.map(([group, m]) => `${plural(e.QueuedAllocations?.[group] || 1 + (m?.CoalescedFailures ?? 0), 'instance')} of ${group} without a place: ${obstacles(m).join('; ')}`).join('. ');
}
