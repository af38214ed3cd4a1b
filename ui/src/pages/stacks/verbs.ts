// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The verbs on stacks and shifts.

import type { Shift, StackStatus } from '../../api/schema';
import { put } from '../../link/link';
import type { Given, Verb } from '../../parts/verb';
import { command, inNS } from '../../words/command';

const reasonFlag = (g: Given) => (g.reason ? ['-reason', g.reason] : []);

/** stackVerbs returns what a person may do with a stack in its state. */
export function stackVerbs(s: StackStatus): Verb[] {
  const query = `?namespace=${encodeURIComponent(s.Namespace ?? 'default')}`;
  const verb = (word: string, name: string, consequence: string, more: Partial<Verb> = {}): Verb => ({
    name,
    capability: 'lifecycle-stack',
    namespace: s.Namespace,
    cli: (g) => command('stack', word, ...inNS(s.Namespace), ...reasonFlag(g), s.Name),
    ask: { consequence, reason: 'optional' },
    run: (g) => put(`/v1/stack/${encodeURIComponent(s.Name ?? '')}/${word}${query}`, { Reason: g.reason }),
    ...more,
  });
  const hold = s.Hold ? verb('unhold', 'End the hold', `${s.Name} is kept only as long as its policy says.`) : verb('hold', 'Hold', `${s.Name} is kept, whatever its policy says, until someone ends the hold.`);
  switch (s.Status) {
    case 'garbage':
      return [verb('rescue', 'Rescue', `${s.Name} is ready again, and stays as long as its policy says.`, { look: 'primary' })];
    case 'terminated':
      return [];
    case 'ready':
    case 'deprecated':
      return [
        hold,
        verb('extend', 'Extend', `${s.Name} gets more time before it is judged again.`),
        verb('expire', 'Expire', `The time of ${s.Name} ends: the next sweep makes it garbage, unless something uses it or its policy keeps it.`),
        stop(s),
      ];
  }
  return [hold, stop(s)];
}

function stop(s: StackStatus): Verb {
  return {
    name: 'Stop',
    capability: 'lifecycle-stack',
    namespace: s.Namespace,
    look: 'danger',
    cli: (g) => command('stack', 'stop', ...inNS(s.Namespace), ...reasonFlag(g), s.Name),
    ask: { consequence: `${s.Name} becomes garbage even if something uses it, and is removed after its grace. Until then it can be rescued.${(s.Callers ?? []).length > 0 ? ` ${s.Callers!.join(', ')} uses it.` : ''}`, reason: 'required' },
    run: (g) => put(`/v1/stack/${encodeURIComponent(s.Name ?? '')}/stop?namespace=${encodeURIComponent(s.Namespace ?? 'default')}`, { Reason: g.reason }),
  };
}

/** shiftTo begins a shift of the unit's traffic to a ready stack. */
export function shiftTo(s: StackStatus): Verb {
  return {
    name: 'Shift traffic here',
    capability: 'shift-stack',
    namespace: s.Namespace,
    blocked: s.Status !== 'ready' ? 'Only a ready stack takes traffic.' : s.Target ? 'It has the traffic.' : '',
    cli: () => command('stack', 'shift', ...inNS(s.Namespace), '-to', s.Name, s.Unit),
    ask: { consequence: `The traffic of ${s.Unit} moves to ${s.Name}, as the shift of its file says. It can be paused and reversed.` },
    run: () => put(`/v1/unit/${encodeURIComponent(s.Unit ?? '')}/shift?namespace=${encodeURIComponent(s.Namespace ?? 'default')}`, { To: s.Name }),
  };
}

/** shiftVerbs returns what a person may do with a running shift. */
export function shiftVerbs(h: Shift): Verb[] {
  const verb = (word: string, name: string, more: Partial<Verb> = {}): Verb => ({
    name,
    capability: 'shift-stack',
    namespace: h.Namespace,
    cli: (g) => command('stack', 'shift', ...inNS(h.Namespace), ...reasonFlag(g), h.Unit, word),
    run: (g) => put(`/v1/shift/${encodeURIComponent(h.ID ?? '')}/${word}?namespace=${encodeURIComponent(h.Namespace ?? 'default')}`, { Reason: g.reason }),
    ...more,
  });
  const running = h.Held ? verb('resume', 'Resume', { look: 'primary' }) : verb('pause', 'Pause');
  return [
    running,
    verb('finish', 'Finish', { ask: { consequence: `All traffic of ${h.Unit} goes to ${h.To} at once.` } }),
    verb('reverse', 'Reverse', { look: 'danger', ask: { consequence: `The traffic of ${h.Unit} goes back to ${h.From}.`, reason: 'optional' } }),
  ];
}

/** isRunning reports whether a shift still moves traffic or is held. */
export const isRunning = (h: Shift): boolean => !h.EndedAt || h.EndedAt.startsWith('0001-');
