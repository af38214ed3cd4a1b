// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The verbs on one instance of a job.

import type { Instance, InstanceResponse, KillInstanceResponse } from '../api/schema';
import { ask, del } from '../link/link';
import { command, inNS } from '../words/command';
import type { Given, Verb } from './verb';

/** instanceVerbs returns what a person may do with an instance. Replacing, killing and pausing stop its tasks. */
export function instanceVerbs(i: Instance): Verb[] {
  const { JobID = '', Name = '', Namespace } = i;
  const path = `/v1/job/${encodeURIComponent(JobID)}/instance/${encodeURIComponent(Name)}`;
  const query = (g: Given) => `?namespace=${encodeURIComponent(Namespace ?? 'default')}${g.reason ? `&reason=${encodeURIComponent(g.reason)}` : ''}`;
  const verb = (name: string, word: string, consequence: string, key?: string): Verb => ({
    name,
    key,
    capability: 'alloc-lifecycle',
    namespace: Namespace,
    cli: (g: Given) => command('instance', word, ...inNS(Namespace), ...(g.reason ? ['-reason', g.reason] : []), JobID, Name),
    ask: consequence ? { consequence, reason: 'optional' } : undefined,
    look: consequence ? 'danger' : undefined,
    run: (g) => ask<InstanceResponse>({ method: 'PUT', path: `${path}/${word}${query(g)}`, body: {} }),
  });
  const verbs = [
    verb('Restart', 'restart', `The tasks of ${Name} of job ${JobID} stop, and start again on the same node with the same directory.`),
    verb('Replace', 'replace', `${Name} of job ${JobID} stops. A new allocation takes its place on any node, with a clean directory.`),
    {
      ...verb('Kill', 'kill', `${Name} of job ${JobID} stops. The job still wants it, so another allocation replaces it.`),
      run: (g: Given) => del<KillInstanceResponse>(`${path}${query(g)}`),
    },
  ];
  return i.Paused ? [verb('Resume', 'resume', ''), ...verbs] : [...verbs, verb('Pause', 'pause', `The tasks of ${Name} of job ${JobID} stop, and stay stopped until someone resumes it.`)];
}
