// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Deployment, Plan } from '../api/schema';

/** groupsToPromote lists groups of a deployment whose canaries wait for a person. */
export function groupsToPromote(d: Deployment): string[] {
  if (d.Status !== 'running' && d.Status !== 'paused') return [];
  return Object.entries(d.TaskGroups ?? {})
    .filter(([, g]) => g && (g.DesiredCanaries ?? 0) > 0 && !g.Promoted && !g.AutoPromote)
    .map(([name]) => name)
    .sort();
}

/** readyToPromote reports whether every canary that waits for a person is healthy: before, the servers reject the promotion. */
export function readyToPromote(d: Deployment): boolean {
  const groups = groupsToPromote(d);
  return groups.length > 0 && groups.every((g) => (d.TaskGroups?.[g]?.HealthyAllocs ?? 0) >= (d.TaskGroups?.[g]?.DesiredCanaries ?? 0));
}

/** progress says how far a deployment is. */
export function progress(d: Deployment): { healthy: number; placed: number; unhealthy: number; total: number } {
  const sum = { healthy: 0, placed: 0, unhealthy: 0, total: 0 };
  for (const g of Object.values(d.TaskGroups ?? {})) {
    sum.healthy += g?.HealthyAllocs ?? 0;
    sum.placed += g?.PlacedAllocs ?? 0;
    sum.unhealthy += g?.UnhealthyAllocs ?? 0;
    sum.total += Math.max(g?.DesiredTotal ?? 0, g?.DesiredCanaries ?? 0);
  }
  return sum;
}

/** loneDeployments lists deployments that wait for a person and that no waiting plan stands for. */
export function loneDeployments(deployments: Deployment[], plans: Plan[]): Deployment[] {
  const shown = new Set(plans.filter((p) => p.Name === 'deploy').map((p) => `${p.Namespace} ${p.JobID}`));
  return deployments.filter((d) => (readyToPromote(d) || d.Status === 'paused') && !shown.has(`${d.Namespace} ${d.JobID}`));
}

/** newestOfJob leaves the newest deployment of each job; the list begins with the newest. */
export function newestOfJob(deployments: Deployment[]): Deployment[] {
  const seen = new Set<string>();
  return deployments.filter((d) => {
    const k = `${d.Namespace} ${d.JobID}`;
    return !seen.has(k) && seen.add(k);
  });
}
