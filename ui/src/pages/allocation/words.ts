// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Allocation, TaskState } from '../../api/schema';
import type { Meaning } from '../../words/meaning';
import { list } from '../../words/count';

/** saidOf is the state of an allocation in one sentence. */
export function saidOf(a: Allocation): string {
  const stopping = a.DesiredStatus && a.DesiredStatus !== 'run';
  const why = a.DesiredDescription ? `: ${a.DesiredDescription}` : '';
  switch (a.ClientStatus) {
    case 'running':
      return stopping ? `Its tasks are stopping${why}.` : waiting(a) || 'Its tasks run.';
    case 'pending':
      return stopping ? `It is stopped before it started${why}.` : waiting(a) || `It waits for its node${a.ClientDescription ? `: ${a.ClientDescription}` : ''}.`;
    case 'complete':
      return stopping ? `It has stopped${why}.` : 'Its tasks have ended.';
    case 'failed':
      return `It failed: ${a.ClientDescription || list(failed(a)) || 'no reason is known'}.`;
    case 'lost':
      return `Its node is lost${why}.`;
    case 'unknown':
      return 'Its node is silent: whether its tasks run is not known.';
  }
  return a.ClientDescription ?? '';
}

const entries = (a: Allocation) => Object.entries(a.TaskStates ?? {}).filter((e): e is [string, TaskState] => e[1] !== null);
const failed = (a: Allocation) => entries(a).filter(([, t]) => t.Failed).map(([name]) => `task ${name}`);

function waiting(a: Allocation): string {
  const all = entries(a).filter(([, t]) => t.State === 'pending');
  if (all.length === 0) return '';
  const [name, t] = all[0]!;
  const last = t.Events?.at(-1);
  return `Task ${name} does not run: ${t.Waiting || last?.DisplayMessage || 'it is being set up'}.`;
}

/** ofTask is the meaning of a task's state. */
export function ofTask(t: TaskState): Meaning {
  if (t.State === 'running') return 'ok';
  if (t.State === 'dead') return t.Failed ? 'bad' : 'gone';
  return t.Restarts ? 'late' : 'go';
}

/** wordOfTask is a task's state in one or two words. */
export function wordOfTask(t: TaskState): string {
  if (t.State === 'dead') return t.Failed ? 'failed' : 'ended';
  if (t.State === 'pending') return t.Restarts ? 'starts again' : 'pending';
  return t.State ?? '';
}

const bad = new Set(['Driver Failure', 'Failed Validation', 'Setup Failure', 'Not Restarting', 'Killed by OOM', 'Failed Artifact Download', 'Sibling Task Failed', 'Template Failed', 'Alloc Unhealthy']);

/** ofTaskEvent is the meaning of an event of a task. */
export function ofTaskEvent(type: string | undefined, exitCode: number | undefined, fails: boolean | undefined): Meaning {
  if (fails || bad.has(type ?? '') || (type === 'Terminated' && exitCode)) return 'bad';
  if (type === 'Restarting' || type === 'Restart Signaled') return 'late';
  if (type === 'Started') return 'ok';
  if (type === 'Killed' || type === 'Killing' || type === 'Terminated') return 'gone';
  return 'wait';
}
