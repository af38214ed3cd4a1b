// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The verbs on a deployment of a job.

import type { Deployment, DeploymentResponse } from '../../api/schema';
import { put } from '../../link/link';
import type { Verb } from '../../parts/verb';
import { command, inNS } from '../../words/command';
import { list, short } from '../../words/count';
import type { JobRef } from './of';

/** canaryGroups are the groups whose canaries wait for promotion. */
export const canaryGroups = (d: Deployment): string[] =>
  Object.entries(d.TaskGroups ?? {})
    .filter(([, s]) => s && (s.DesiredCanaries ?? 0) > 0 && !s.Promoted && !s.AutoPromote)
    .map(([name]) => name);

/** deploymentVerbs returns what a person may do with a deployment that has not ended. */
export function deploymentVerbs(job: JobRef, d: Deployment): Verb[] {
  if (d.Status !== 'running' && d.Status !== 'paused') return [];
  const id = d.ID ?? '';
  const query = `?namespace=${encodeURIComponent(job.namespace)}`;
  const verb = (name: string, word: string, capability: string, body: object, more: Partial<Verb> = {}, route = word): Verb => ({
    name,
    capability,
    namespace: job.namespace,
    cli: (g) => command('deployment', word, ...inNS(job.namespace), ...(g.reason ? ['-reason', g.reason] : []), short(id)),
    run: (g) => put<DeploymentResponse>(`/v1/deployment/${route}/${encodeURIComponent(id)}${query}`, { DeploymentID: id, ...body, ...(g.reason && { Reason: g.reason }) }),
    ...more,
  });
  const reverts = Object.values(d.TaskGroups ?? {}).some((g) => g?.AutoRevert);
  const groups = canaryGroups(d);
  return [
    ...(groups.length > 0
      ? [verb('Promote', 'promote', 'promote-deployment', { All: true }, { ask: { consequence: `The canaries of ${list(groups)} replace the old instances, which stop one after the other.` } })]
      : []),
    d.Status === 'paused'
      ? verb('Resume', 'resume', 'pause-deployment', { Pause: false }, {}, 'pause')
      : verb('Pause', 'pause', 'pause-deployment', { Pause: true }, { ask: { consequence: `The rollout of version ${d.JobVersion} starts no further instance until somebody resumes it.`, reason: 'optional' } }),
    verb(reverts ? 'Fail and revert' : 'Fail', 'fail', 'fail-deployment', {}, {
      look: 'danger',
      ask: {
        consequence: `The rollout of version ${d.JobVersion} ends as failed. ${reverts ? 'The job reverts to its last stable version: instances of the new one stop.' : 'Running instances continue to run.'}`,
      },
    }),
  ];
}
