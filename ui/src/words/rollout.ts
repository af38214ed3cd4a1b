// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Deployments and restarts in one form.

import type { Deployment, JobRestart, Plan } from '../api/schema';
import { list, plural } from './count';
import { ofDeployment, ofRestart, type Meaning } from './meaning';
import { clock, ms } from './time';
import { groupsToPromote, progress, readyToPromote } from './waiting';

/** A Rollout is a deployment or a restart. */
export interface Rollout {
  job: string;
  namespace: string;
  name: string;
  of: Meaning;
  status: string;
  /** What holds it, or how it ended. */
  text: string;
  done: number;
  total: number;
  changed: number | string | undefined;
  index: number;
  deployment?: Deployment;
  restart?: JobRestart;
  /** The plan that waits for a person, and holds the deployment. */
  plan?: Plan;
}

/** holds says what a deployment waits for; for one that ended, how it ended. */
export function holds(d: Deployment): string {
  if (d.Status !== 'running') return d.StatusDescription ?? '';
  const groups = groupsToPromote(d);
  if (readyToPromote(d)) return `the canaries of ${list(groups)} are healthy, and wait for promotion`;
  const p = progress(d);
  const trouble = (d.Troubles ?? []).find((t) => t?.Message);
  const parts: string[] = [];
  if (p.unhealthy > 0) parts.push(`${plural(p.unhealthy, 'instance')} unhealthy`);
  if (p.placed - p.healthy - p.unhealthy > 0) parts.push(`${plural(p.placed - p.healthy - p.unhealthy, 'instance')} not healthy yet`);
  if (p.total - p.placed > 0 && groups.length === 0) parts.push(`${plural(p.total - p.placed, 'instance')} to come`);
  if (trouble) parts.push(`${trouble.Instance ? `${trouble.Instance}: ` : ''}${trouble.Message}`);
  const by = Math.min(...Object.values(d.TaskGroups ?? {}).map((g) => ms(g?.RequireProgressBy)).filter((t) => t > 0));
  if (Number.isFinite(by)) parts.push(`fails without progress by ${clock(by)}`);
  return parts.join('; ') || (groups.length > 0 ? `waits for the canaries of ${list(groups)}` : (d.StatusDescription ?? ''));
}

/** rolloutOfDeployment is a deployment as a rollout. */
export function rolloutOfDeployment(d: Deployment): Rollout {
  const p = progress(d);
  return {
    job: d.JobID ?? '', namespace: d.Namespace ?? '', name: `${d.JobID} version ${d.JobVersion ?? 0}`, of: readyToPromote(d) ? 'you' : ofDeployment(d.Status), status: d.Status ?? '', text: holds(d),
    done: p.healthy, total: p.total, changed: d.ModifyTime, index: d.ModifyIndex ?? 0, deployment: d,
  };
}

/** heldBy is a rollout whose plan waits for a person. */
export function heldBy(r: Rollout, plans: Plan[]): Rollout {
  const plan = r.deployment?.Status === 'running' ? plans.find((p) => p.Name === 'deploy' && p.JobID === r.job && p.Namespace === r.namespace && p.JobVersion === r.deployment?.JobVersion) : undefined;
  return plan ? { ...r, of: 'you', status: 'waiting', text: plan.Message || r.text, plan } : r;
}

/** rolloutOfRestart is a restart as a rollout. */
export function rolloutOfRestart(r: JobRestart): Rollout {
  const parts = [r.StatusDescription, r.By && `started by ${r.By}`, r.Reason, r.Status === 'running' && ms(r.NextBatch) > 0 && `next batch at ${clock(ms(r.NextBatch))}`, (r.UnhealthyAllocs?.length ?? 0) > 0 && `${plural(r.UnhealthyAllocs!.length, 'allocation')} unhealthy`];
  return {
    job: r.JobID ?? '', namespace: r.Namespace ?? '', name: `${r.JobID} restart`, of: ofRestart(r.Status), status: r.Status ?? '', text: parts.filter(Boolean).join('; '),
    done: r.RestartedAllocs?.length ?? 0, total: 0, changed: r.UpdatedAt, index: r.ModifyIndex ?? 0, restart: r,
  };
}
