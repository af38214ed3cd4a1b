// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The verbs on nodes.

import type { Node, NodeListStub } from '../api/schema';
import { put } from '../link/link';
import type { Answer } from '../worker/protocol';
import { command } from '../words/command';
import { list, plural, short } from '../words/count';
import { nanoseconds } from '../words/node';
import type { Given, Verb } from './verb';

/** What the verbs need to know of a node. */
export interface NodeName {
  id: string;
  name: string;
  draining: boolean;
  eligible: boolean;
  down: boolean;
  /** Number of its allocations; undefined if it is not known. */
  allocations?: number | undefined;
}

/** nameOf is a node as its verbs see it. */
export const nameOf = (n: NodeListStub | Node, allocations?: number): NodeName => ({
  id: n.ID ?? '', name: n.Name ?? '', draining: n.Drain ?? false, eligible: n.SchedulingEligibility === 'eligible', down: n.Status === 'down', allocations,
});

const path = (id: string, what: string) => `/v1/node/${encodeURIComponent(id)}/${what}`;

/** refused is the answer to a verb whose fields are wrong. */
const refused = (message: string): Answer => ({ ok: false, status: 400, body: undefined, index: 0, next: '', warnings: '', error: { status: 400, code: 'invalid', message, detail: [] } });

const drainArgs = (g: Given) => ['-enable', '-deadline', g.values['deadline'] || '1h', ...(g.values['system'] === 'true' ? ['-ignore-system'] : []), ...(g.reason ? ['-m', g.reason] : [])];

/** drainVerb moves the allocations of nodes elsewhere. */
export function drainVerb(nodes: NodeName[]): Verb {
  const names = nodes.map((n) => n.name);
  const count = nodes.reduce((n, x) => n + (x.allocations ?? 0), 0);
  const known = nodes.every((n) => n.allocations !== undefined);
  return {
    name: nodes.length === 1 ? 'Drain' : `Drain ${plural(nodes.length, 'node')}`,
    look: 'danger',
    capability: 'node:write',
    blocked: nodes.length === 0 ? 'No node is chosen.' : '',
    cli: (g) => nodes.slice(0, 20).map((n) => command('node', 'drain', ...drainArgs(g), short(n.id))).join(' && ') + (nodes.length > 20 ? ' && ...' : ''),
    ask: {
      consequence: `${known ? plural(count, 'allocation') : 'The allocations'} of ${list(names)} stop, and their jobs place them elsewhere. Nothing new is placed on the ${nodes.length === 1 ? 'node' : 'nodes'}. What is left at the deadline stops at once.`,
      reason: 'optional',
      fields: [
        { name: 'deadline', label: 'Deadline', kind: 'text', value: '1h', required: true, hint: 'Such as 30m or 1h30m; 0s waits without limit' },
        { name: 'system', label: 'Keep allocations of system jobs', kind: 'check' },
      ],
    },
    run: async (g) => {
      const deadline = nanoseconds(g.values['deadline'] ?? '');
      if (deadline === undefined) return refused(`deadline "${g.values['deadline']}" is not a duration: write it as 30m or 1h30m`);
      const body = { DrainSpec: { Deadline: deadline, IgnoreSystemJobs: g.values['system'] === 'true' }, ...(g.reason && { Meta: { message: g.reason } }) };
      let answer = refused('no node is chosen');
      for (const n of nodes) {
        answer = await put(path(n.id, 'drain'), body);
        if (!answer.ok) return answer;
      }
      return answer;
    },
  };
}

/** nodeVerbs returns what a person may do with a node. */
export function nodeVerbs(n: NodeName): Verb[] {
  const common = { capability: 'node:write' };
  const eligibility = (to: 'eligible' | 'ineligible'): Verb => ({
    ...common,
    name: to === 'eligible' ? 'Make eligible' : 'Make ineligible',
    blocked: n.draining ? 'A draining node is ineligible: stop the drain first.' : '',
    cli: () => command('node', 'eligibility', to === 'eligible' ? '-enable' : '-disable', short(n.id)),
    run: () => put(path(n.id, 'eligibility'), { Eligibility: to }),
  });
  const stop: Verb = {
    ...common,
    name: 'Stop drain',
    cli: (g) => command('node', 'drain', '-disable', ...(g.values['keep'] === 'true' ? ['-keep-ineligible'] : []), short(n.id)),
    ask: { consequence: 'What has not left the node stays. Allocations that have moved do not come back.', fields: [{ name: 'keep', label: 'Keep the node ineligible', kind: 'check' }] },
    run: (g) => put(path(n.id, 'drain'), { DrainSpec: null, MarkEligible: g.values['keep'] !== 'true' }),
  };
  const purge: Verb = {
    ...common,
    name: 'Purge',
    look: 'danger',
    cli: () => command('node', 'purge', '-yes', short(n.id)),
    ask: {
      consequence: `The servers forget ${n.name}. Its allocations become lost, and are replaced. An agent that still runs registers again.`,
      type: n.name,
    },
    run: () => put(path(n.id, 'purge')),
  };
  return [n.draining ? stop : drainVerb([n]), eligibility(n.eligible ? 'ineligible' : 'eligible'), purge];
}
