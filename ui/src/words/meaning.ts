// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// What a state means for a person. Shape, colour and word follow from the meaning, so that equal things look equal
// on every page.

import type { Allocation, AllocationListStub, Instance, Node, NodeListStub } from '../api/schema';

/**
 * ok: complete, or up with traffic. up: up without traffic. go: working. you: a person must decide. wait: pending.
 * late: delayed or deprecated. bad: failed, crashed or lost. gone: stopped or garbage.
 */
export type Meaning = 'ok' | 'up' | 'go' | 'you' | 'wait' | 'late' | 'bad' | 'gone';

const steps: Record<string, Meaning> = {
  COMPLETE: 'ok', WAITING: 'you', PREPARED: 'go', STARTING: 'go', STARTED: 'go', IN_PROGRESS: 'go', PENDING: 'wait', DELAYED: 'late', ERROR: 'bad',
};

/** ofStep is the meaning of the status of a plan, phase or step. */
export const ofStep = (status: string | undefined): Meaning => steps[status ?? ''] ?? 'wait';

export function ofInstance(i: Pick<Instance, 'State' | 'Routable' | 'Paused' | 'PlacementError' | 'NextAttempt' | 'Until'>): Meaning {
  if (i.Paused) return 'gone';
  switch (i.State) {
    case 'RUNNING':
      return i.Routable ? 'ok' : 'up';
    case 'CLAIMED':
      return 'go';
    case 'CRASHED':
      return 'bad';
    case 'UNCLAIMED':
      return i.PlacementError ? 'bad' : isSet(i.Until) || isSet(i.NextAttempt) ? 'late' : 'go';
  }
  return 'wait';
}

const isSet = (t: string | undefined) => t !== undefined && !t.startsWith('0001-');

export function ofAllocation(a: Pick<Allocation | AllocationListStub, 'ClientStatus' | 'DesiredStatus'>): Meaning {
  switch (a.ClientStatus) {
    case 'running':
      return a.DesiredStatus === 'run' ? 'ok' : 'go';
    case 'pending':
      return a.DesiredStatus === 'run' ? 'go' : 'gone';
    case 'failed':
    case 'lost':
      return 'bad';
    case 'unknown':
      return 'late';
    case 'complete':
      return a.DesiredStatus === 'run' ? 'ok' : 'gone';
  }
  return 'wait';
}

export function ofNode(n: Pick<Node | NodeListStub, 'Status' | 'Drain' | 'SchedulingEligibility'>): Meaning {
  if (n.Status === 'down') return 'bad';
  if (n.Status === 'disconnected') return 'late';
  if (n.Drain) return 'go';
  if (n.Status === 'initializing') return 'wait';
  return n.SchedulingEligibility === 'ineligible' ? 'up' : 'ok';
}

const deployments: Record<string, Meaning> = {
  pending: 'wait', running: 'go', paused: 'you', blocked: 'late', successful: 'ok', failed: 'bad', cancelled: 'gone', unblocking: 'go',
};
export const ofDeployment = (status: string | undefined): Meaning => deployments[status ?? ''] ?? 'wait';

const restarts: Record<string, Meaning> = { running: 'go', paused: 'you', complete: 'ok', cancelled: 'gone', failed: 'bad' };
export const ofRestart = (status: string | undefined): Meaning => restarts[status ?? ''] ?? 'wait';

const evaluations: Record<string, Meaning> = { pending: 'go', complete: 'ok', failed: 'bad', blocked: 'late', canceled: 'gone' };
export const ofEvaluation = (status: string | undefined): Meaning => evaluations[status ?? ''] ?? 'wait';

const stacks: Record<string, Meaning> = {
  pending: 'wait', deploying: 'go', warming: 'go', ready: 'ok', deprecated: 'late', garbage: 'gone', terminated: 'gone', failed: 'bad',
};
export const ofStack = (status: string | undefined): Meaning => stacks[status ?? ''] ?? 'wait';

/** worst returns the meaning that a person should see first. */
export function worst(all: Meaning[]): Meaning {
  const order: Meaning[] = ['you', 'bad', 'late', 'go', 'up', 'wait', 'ok', 'gone'];
  return order.find((m) => all.includes(m)) ?? 'gone';
}

/** The colour and shape of a meaning are never its only sign: this is its word. */
export const wordOf: Record<Meaning, string> = {
  ok: 'complete', up: 'up, no traffic', go: 'in progress', you: 'waits for you', wait: 'pending', late: 'delayed', bad: 'failed', gone: 'stopped',
};
