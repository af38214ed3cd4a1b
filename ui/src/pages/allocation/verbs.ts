// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Allocation } from '../../api/schema';
import { put } from '../../link/link';
import type { Verb } from '../../parts/verb';
import { command, inNS } from '../../words/command';
import { short } from '../../words/count';

/** allocationVerbs returns what a person may do with an allocation. */
export function allocationVerbs(a: Allocation): Verb[] {
  const id = a.ID ?? '';
  const over = a.ClientStatus === 'complete' || a.ClientStatus === 'failed' || a.ClientStatus === 'lost';
  const blocked = over ? 'The allocation has ended.' : '';
  const tasks = Object.keys(a.TaskStates ?? {}).sort();
  const common = { capability: 'alloc-lifecycle', namespace: a.Namespace, blocked };
  const choice = [{ value: '', label: 'all tasks' }, ...tasks.map((t) => ({ value: t, label: t }))];
  const ns = inNS(a.Namespace);
  return [
    {
      ...common,
      name: 'Restart',
      look: 'danger',
      cli: (g) => command('alloc', 'restart', ...ns, ...(g.values['ended'] === 'true' ? ['-all-tasks'] : []), short(id), g.values['task']),
      ask: {
        consequence: `The chosen tasks of ${a.Name} stop, and start again on the same node with the same directory.`,
        fields: [
          { name: 'task', label: 'Task', kind: 'select', options: choice },
          { name: 'ended', label: 'Also tasks that have ended', kind: 'check' },
        ],
      },
      run: (g) => put(`/v1/client/allocation/${id}/restart`, { TaskName: g.values['task'] ?? '', AllTasks: g.values['ended'] === 'true' }),
    },
    {
      ...common,
      name: 'Signal',
      look: 'danger',
      cli: (g) => command('alloc', 'signal', ...ns, '-s', g.values['signal'] || 'SIGHUP', ...(g.values['task'] ? ['-task', g.values['task']] : []), short(id)),
      ask: {
        consequence: 'The signal goes to the processes of the chosen tasks. What they do with it is theirs: many signals end a process.',
        fields: [
          { name: 'signal', label: 'Signal', kind: 'text', value: 'SIGHUP', required: true, hint: 'Such as SIGHUP, SIGUSR1, SIGTERM or SIGKILL' },
          { name: 'task', label: 'Task', kind: 'select', options: choice },
        ],
      },
      run: (g) => put(`/v1/client/allocation/${id}/signal`, { Signal: g.values['signal'], Task: g.values['task'] ?? '' }),
    },
    {
      ...common,
      blocked: blocked || (a.DesiredStatus !== 'run' ? 'It stops already.' : ''),
      name: 'Stop',
      look: 'danger',
      cli: (g) => command('alloc', 'stop', ...ns, ...(g.values['now'] === 'true' ? ['-no-shutdown-delay'] : []), short(id)),
      ask: {
        consequence: `${a.Name} stops. The job still wants the instance, so another allocation takes its place.`,
        fields: [{ name: 'now', label: 'Skip the shutdown delays', kind: 'check' }],
      },
      run: (g) => put(`/v1/allocation/${id}/stop${g.values['now'] === 'true' ? '?no_shutdown_delay=true' : ''}`),
    },
  ];
}
