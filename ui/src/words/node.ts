// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Node, NodeListStub } from '../api/schema';
import type { Meaning } from './meaning';

/** saidOfNode is the state of a node in one or two words. */
export function saidOfNode(n: Pick<Node | NodeListStub, 'Status' | 'Drain' | 'SchedulingEligibility' | 'SilentSince'>): string {
  if (n.Status !== 'ready') return n.Status ?? '';
  if (n.Drain) return 'draining';
  if (n.SilentSince) return 'silent';
  return n.SchedulingEligibility === 'ineligible' ? 'ready, ineligible' : 'ready';
}

const drains: Record<string, Meaning> = { waiting: 'late', moving: 'go', stopping: 'go' };

/** ofDraining is the meaning of an allocation's state on a draining node. */
export const ofDraining = (state: string | undefined): Meaning => drains[state ?? ''] ?? 'wait';

/** nanoseconds reads a duration such as 90s, 30m or 1h30m; undefined if it is not one. */
export function nanoseconds(text: string): number | undefined {
  const units: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };
  if (!/^(\d{1,6}[smhd])+$/.test(text)) return undefined;
  let seconds = 0;
  for (const [, n, unit] of text.matchAll(/(\d+)([smhd])/g)) seconds += Number(n) * units[unit!]!;
  return seconds * 1e9;
}
