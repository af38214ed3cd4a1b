// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The verbs on deployments, restarts and waiting plans.

import type { Deployment, DeploymentResponse, JobRestart, Plan, PlanResponse } from '../api/schema';
import { ask, del, put } from '../link/link';
import { command, inNS } from '../words/command';
import { short } from '../words/count';
import { groupsToPromote, readyToPromote } from '../words/waiting';
import type { Given, Verb } from './verb';

const withReason = (g: Given) => (g.reason ? ['-reason', g.reason] : []);
const inNamespace = (ns: string | undefined) => `namespace=${encodeURIComponent(ns || 'default')}`;

/** promoteVerb promotes the canaries of a deployment. */
export function promoteVerb(d: Deployment): Verb {
  const groups = groupsToPromote(d);
  return {
    name: 'Promote', key: 'c', capability: 'promote-deployment', namespace: d.Namespace, look: 'primary',
    blocked: readyToPromote(d) ? undefined : 'Not every canary is healthy yet.',
    cli: () => command('deployment', 'promote', ...inNS(d.Namespace), short(d.ID)),
    ask: { consequence: `The canaries of ${groups.join(', ')} of job ${d.JobID} replace its old instances, which stop.` },
    run: () => put<DeploymentResponse>(`/v1/deployment/promote/${encodeURIComponent(d.ID ?? '')}?${inNamespace(d.Namespace)}`, { DeploymentID: d.ID, All: true }),
  };
}

/** deploymentVerbs returns what a person may do with a deployment; none once it has ended. */
export function deploymentVerbs(d: Deployment): Verb[] {
  if (d.Status !== 'running' && d.Status !== 'paused' && d.Status !== 'blocked' && d.Status !== 'pending') return [];
  const id = encodeURIComponent(d.ID ?? '');
  const base = { namespace: d.Namespace };
  const pause = (on: boolean): Verb => ({
    ...base, name: on ? 'Pause' : 'Resume', key: on ? 'i' : 'c', capability: 'pause-deployment', look: on ? undefined : 'primary',
    cli: (g) => command('deployment', on ? 'pause' : 'resume', ...inNS(d.Namespace), ...withReason(g), short(d.ID)),
    ask: on ? { consequence: `The rollout of job ${d.JobID} stops where it is. Running instances continue.`, reason: 'optional' } : undefined,
    run: (g) => put<DeploymentResponse>(`/v1/deployment/pause/${id}?${inNamespace(d.Namespace)}`, { DeploymentID: d.ID, Pause: on, Reason: g.reason }),
  });
  const reverts = Object.values(d.TaskGroups ?? {}).some((g) => g?.AutoRevert);
  const fail: Verb = {
    ...base, name: 'Fail', capability: 'fail-deployment', look: 'danger',
    cli: () => command('deployment', 'fail', ...inNS(d.Namespace), short(d.ID)),
    ask: { consequence: `The rollout of version ${d.JobVersion} of job ${d.JobID} ends as failed. ${reverts ? 'The job reverts to its last stable version.' : 'Running instances continue to run.'}` },
    run: () => put<DeploymentResponse>(`/v1/deployment/fail/${id}?${inNamespace(d.Namespace)}`, { DeploymentID: d.ID }),
  };
  return [...(groupsToPromote(d).length > 0 ? [promoteVerb(d)] : []), ...(d.Status === 'paused' ? [pause(false)] : d.Status === 'running' ? [pause(true)] : []), fail];
}

/** restartVerbs returns what a person may do with a restart; none once it has ended. */
export function restartVerbs(r: JobRestart): Verb[] {
  if (r.Status !== 'running' && r.Status !== 'paused') return [];
  const path = `/v1/job/${encodeURIComponent(r.JobID ?? '')}/restart/${encodeURIComponent(r.ID ?? '')}`;
  const base = { capability: 'restart-job', namespace: r.Namespace };
  const paused = r.Status === 'paused';
  const word = paused ? 'resume' : 'pause';
  const query = (g: Given) => `?${inNamespace(r.Namespace)}${g.reason ? `&reason=${encodeURIComponent(g.reason)}` : ''}`;
  return [
    {
      ...base, name: paused ? 'Resume' : 'Pause', key: paused ? 'c' : 'i', look: paused ? 'primary' : undefined,
      cli: (g) => command('job', 'restart', ...inNS(r.Namespace), `-${word}`, short(r.ID), ...withReason(g)),
      ask: paused ? undefined : { consequence: `No further instance of job ${r.JobID} restarts until someone resumes it.`, reason: 'optional' },
      run: (g) => ask<JobRestart>({ method: 'PUT', path: `${path}/${word}${query(g)}`, body: {} }),
    },
    {
      ...base, name: 'Cancel the restart', look: 'danger',
      cli: (g) => command('job', 'restart', ...inNS(r.Namespace), '-cancel', short(r.ID), ...withReason(g)),
      ask: { consequence: `The instances of job ${r.JobID} that have not restarted stay as they are.`, reason: 'optional' },
      run: (g) => del<JobRestart>(`${path}${query(g)}`),
    },
  ];
}

/** continueVerb continues a plan that waits for a person. */
export function continueVerb(p: Plan): Verb {
  const job = p.JobID ?? '';
  const name = p.Name ?? '';
  return {
    name: 'Continue', capability: 'operate-plan', namespace: p.Namespace, look: 'primary',
    cli: (g) => command('plan', 'continue', ...inNS(p.Namespace), ...withReason(g), job, name),
    run: (g) =>
      ask<PlanResponse>({ method: 'PUT', path: `/v1/job/${encodeURIComponent(job)}/plan/${encodeURIComponent(name)}/continue?${inNamespace(p.Namespace)}${g.reason ? `&reason=${encodeURIComponent(g.reason)}` : ''}`, body: {} }),
  };
}
