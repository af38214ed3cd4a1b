// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { DeregisterJobResponse, JobListStub } from '../../api/schema';
import { del } from '../../link/link';
import type { Verb } from '../../parts/verb';
import type { Answer } from '../../worker/protocol';
import { command, inNS } from '../../words/command';
import { list, plural } from '../../words/count';

/** stopVerb stops jobs of one namespace or of several. Their definitions stay for some hours. */
export function stopVerb(jobs: JobListStub[]): Verb {
  const live = jobs.filter((j) => !j.Stop);
  const namespace = live[0]?.Namespace;
  const same = live.every((j) => j.Namespace === namespace);
  const ids = live.map((j) => j.ID ?? '');
  const names = same ? ids : live.map((j) => `${j.ID} in ${j.Namespace}`);
  return {
    name: jobs.length > 1 ? `Stop ${plural(live.length, 'job')}` : 'Stop',
    capability: 'deregister-job',
    namespace,
    look: 'danger',
    blocked: live.length === 0 ? 'It is stopped already.' : undefined,
    cli: () => (same ? command('job', 'stop', ...inNS(namespace), ...ids) : live.map((j) => command('job', 'stop', ...inNS(j.Namespace), j.ID)).join('; ')),
    ask: { consequence: `Every instance of ${live.length === 1 ? 'job ' : `${live.length} jobs stops: `}${list(names, 12)}${live.length === 1 ? ' stops' : ''}. The definition stays for some hours: "reeve job run" or "reeve job revert" starts it again.` },
    run: async () => {
      // One after another: the first refusal ends it, and its sentence says which job it was about.
      let last: Answer = { ok: true, status: 200, body: undefined, index: 0, next: '', warnings: '' };
      for (const j of live) {
        last = await del<DeregisterJobResponse>(`/v1/job/${encodeURIComponent(j.ID ?? '')}?namespace=${encodeURIComponent(j.Namespace ?? 'default')}`);
        if (!last.ok) {
          if (live.length > 1 && last.error) last.error = { ...last.error, message: `Job ${j.ID}: ${last.error.message}` };
          return last;
        }
      }
      return last;
    },
  };
}
