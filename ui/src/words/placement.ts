// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Why instances find no place, as sentences with the number of nodes.

import type { DesiredUpdates, PlacementMetrics } from '../api/schema';
import { plural } from './count';

const counted = (of: Record<string, number> | null | undefined): [string, number][] => Object.entries(of ?? {}).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));

/** obstacles lists why a group finds no place: each reason with the nodes that it excludes. */
export function obstacles(m: PlacementMetrics | null | undefined): string[] {
  if (!m) return [];
  const out: string[] = [];
  const pool = m.NodePool ? ` in pool ${m.NodePool}` : '';
  if ((m.NodesInPool ?? 0) === 0) out.push(`no node is${pool || ' ready'}`);
  else if ((m.NodesEvaluated ?? 0) === 0) out.push(`none of ${plural(m.NodesInPool!, 'node')}${pool} is ready in the job's datacenters`);
  for (const [what, n] of counted(m.ConstraintFiltered)) out.push(`${plural(n, 'node')}: ${what}`);
  // The classes count nodes that the constraints above exclude: they tell more only without these.
  if (counted(m.ConstraintFiltered).length === 0) for (const [what, n] of counted(m.ClassFiltered)) out.push(`${plural(n, 'node')} of class ${what} ${n === 1 ? 'is' : 'are'} excluded by a constraint`);
  for (const [what, n] of counted(m.DimensionExhausted)) out.push(`${plural(n, 'node')}: not enough ${what}`);
  for (const what of m.QuotaExhausted ?? []) out.push(`the quota is used up: ${what}`);
  return out.length > 0 ? out : ['no reason is recorded'];
}

const words: [keyof DesiredUpdates, string][] = [
  ['Place', 'start'], ['Canary', 'start as canaries'], ['InPlaceUpdate', 'change in place'], ['DestructiveUpdate', 'are replaced'], ['Migrate', 'move'], ['Stop', 'stop'], ['Preemptions', 'of others are preempted'],
  ['RescheduleNow', 'are rescheduled now'], ['RescheduleLater', 'are rescheduled later'], ['Reconnect', 'reconnect'], ['Disconnect', 'are disconnected'], ['Ignore', 'stay'],
];

/** updates says what happens to the instances of a group: "2 start, 1 stops". */
export function updates(u: DesiredUpdates | null | undefined): string {
  return words
    .filter(([k]) => (u?.[k] ?? 0) > 0)
    .map(([k, what]) => `${u![k]} ${what}`)
    .join(', ');
}
