// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The sentence at the top of a job's page.

import type { Instance, Job, Plan } from '../api/schema';
import { plural } from './count';
import type { Meaning } from './meaning';
import { clock, ms } from './time';

/** What the sentence is made of. */
export interface JobFacts {
  job: Job;
  plans: Plan[];
  instances: Pick<Instance, 'State' | 'Routable' | 'JobVersion'>[];
  /** Who registered the version, if it is known. */
  by?: string;
  now: number;
}

/** moment is a time in a sentence. "4 min ago" would be wrong a minute later on a page that stays open. */
export function moment(t: number, now: number): string {
  const text = clock(t, now);
  return `${text.includes(' ') ? 'on' : 'at'} ${text}`;
}

const kinds: Record<string, string> = { service: 'Service', batch: 'Batch', system: 'System', sysbatch: 'System batch' };

/** wantedOf is the number of instances that the job's groups ask for; 0 for a job that starts none itself. */
export function wantedOf(job: Job): number {
  if (job.Stop || job.Periodic || (job.ParameterizedJob && !job.Dispatched)) return 0;
  return (job.TaskGroups ?? []).reduce((n, g) => n + (g?.Count ?? 0), 0);
}

/** rollout is the plan that brings the newest version, unless it is complete. */
export const rollout = (plans: Plan[]): Plan | undefined => plans.find((p) => p.Name === 'deploy' && p.Status !== 'COMPLETE' && (p.Total ?? 0) > 0);

/** jobSentence says what a job is, what it is doing, who caused it, and how many of its instances get traffic. */
export function jobSentence({ job, plans, instances, by, now }: JobFacts): string {
  const kind = kinds[job.Type ?? ''] ?? job.Type ?? 'Job';
  const version = job.Version ?? 0;
  const since = ms(job.SubmitTime);
  const whom = `${by ? `, by ${by}` : ''}${since ? `, ${moment(since, now)}` : ''}`;
  const running = instances.filter((i) => i.State === 'RUNNING').length;
  if (job.Stop) return `${kind}, stopped${whom}. ${running ? `${plural(running, 'instance')} still ${running === 1 ? 'runs' : 'run'}.` : 'No instance runs.'}`;
  if (job.Held && !rollout(plans)) return `${kind}, version ${version} is held${job.HeldReason ? `: ${job.HeldReason}` : ''}.`;
  if (job.Periodic && !job.ParentID) {
    const specs = [...(job.Periodic.Specs ?? []), job.Periodic.Spec].filter(Boolean).join(', ');
    return `${kind}, version ${version} starts a child job on the schedule ${specs}${job.Periodic.Enabled === false ? ', which is disabled' : ''}. Registered${whom.replace(/^,/, '')}.`;
  }
  if (job.ParameterizedJob && !job.Dispatched) return `${kind}, version ${version} starts a child job at each dispatch. Registered${whom.replace(/^,/, '')}.`;
  const wanted = Math.max(wantedOf(job), job.Type === 'system' || job.Type === 'sysbatch' ? instances.length : 0);
  const traffic = instances.filter((i) => i.State === 'RUNNING' && i.Routable).length;
  const serves = job.Type === 'service' || job.Type === 'system';
  const tail = serves ? `${traffic} of ${wanted} instances ${traffic === 1 ? 'gets' : 'get'} traffic.` : `${running} of ${wanted} instances ${running === 1 ? 'runs' : 'run'}.`;
  if (job.Status === 'dead') return `${kind}, version ${version}, registered${whom.replace(/^,/, '')}, has ended. ${job.StatusDescription ? `${job.StatusDescription}.` : ''}`.trim();
  if (rollout(plans) && rollout(plans)?.Status !== 'ERROR') {
    const older = instances.map((i) => i.JobVersion ?? 0).filter((v) => v < version);
    const over = older.length > 0 ? ` over version ${Math.max(...older)}` : '';
    return `${kind}, version ${version} rolls out${over}${whom}. ${tail}`;
  }
  if (rollout(plans)) return `${kind}, the rollout of version ${version} failed; it was registered${whom.replace(/^,/, '')}. ${tail}`;
  return `${kind}, version ${version}, registered${whom.replace(/^,/, '')}. ${tail}`;
}

/** ofJobStatus is the meaning of a job's status in a list. */
export const ofJobStatus = (status: string | undefined, stop: boolean | undefined): Meaning => (stop ? 'gone' : status === 'running' ? 'ok' : status === 'dead' ? 'gone' : 'wait');

/** Plans that the servers derive for every job. */
const own = new Set(['deploy', 'warming', 'shift', 'recovery', 'decommission', 'uninstall', 'restart', 'drain', 'update']);

/** isCustom reports whether the job file declares the plan, so that people start and stop it. */
export const isCustom = (p: Plan): boolean => !own.has(p.Name ?? '');

/** notStarted reports whether a custom plan waits for its first start. That is no question to anybody. */
export const notStarted = (p: Plan): boolean => isCustom(p) && !p.Run && p.Status === 'WAITING';
