// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { PlanJobResponse } from '../api/schema';

/** sourceFormat guesses the format of a job's text, for those who read it later. */
export function sourceFormat(source: string): string {
  const s = source.trimStart();
  if (s.startsWith('{')) return 'json';
  return /^(---|[\w-]+:(\s|$))/m.test(s) && !/^\s*(job|variable|locals)\s*("|\{)/m.test(s) ? 'yaml' : 'hcl2';
}

/** stops says which instances a registration stops; empty if it stops none. */
export function stops(plan: PlanJobResponse): string {
  const parts: string[] = [];
  for (const [group, u] of Object.entries(plan.Annotations?.DesiredTGUpdates ?? {})) {
    const replaced = (u?.DestructiveUpdate ?? 0) + (u?.Migrate ?? 0);
    if (u?.Stop) parts.push(`${u.Stop} of ${group} ${u.Stop === 1 ? 'stops' : 'stop'}`);
    if (replaced) parts.push(`${replaced} of ${group} ${replaced === 1 ? 'is' : 'are'} replaced, step by step`);
  }
  const others = plan.Annotations?.PreemptedAllocs?.length ?? 0;
  if (others) parts.push(`${others} of other jobs ${others === 1 ? 'stops' : 'stop'} to make room`);
  return parts.length > 0 ? `Instances end: ${parts.join('; ')}.` : '';
}
