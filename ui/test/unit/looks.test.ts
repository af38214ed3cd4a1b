// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../src/api/schema';
import { linesOf, nameOf, said } from '../../src/pages/stacks/said';
import { inRuns, sayEvent } from '../../src/words/event';
import { jobState } from '../../src/words/job_state';
import { obstacles } from '../../src/words/placement';
import { heldBy, rolloutOfDeployment } from '../../src/words/rollout';

const step = (key: string, share: number): { event: Event } => ({ event: { Topic: 'Shift', Type: 'ShiftStep', Key: key, Payload: { Shift: { Unit: 'inventory', Status: 'running', Share: share } } } });

test('equal changes of one object in a row are one line, with the newest state', () => {
  const runs = inRuns([step('a', 0.1), step('a', 0.2), step('b', 0.5), step('a', 0.3)]);
  assert.deepEqual(runs.map((r) => [r.event.Key, r.times, r.said.text]), [['a', 2, 'step, 20 % of the traffic'], ['b', 1, 'step, 50 % of the traffic'], ['a', 1, 'step, 30 % of the traffic']]);
  assert.equal(runs[0]!.said.name, 'inventory');
});

test('an allocation does not say its state twice', () => {
  const e: Event = { Topic: 'Allocation', Type: 'AllocationUpdated', Payload: { Allocation: { Name: 'web.app[0]', ClientStatus: 'running', DesiredStatus: 'run', ClientDescription: 'Running', NodeName: 'n1' } } };
  assert.equal(sayEvent(e).text, 'running, on n1');
});

test('a stack is called by its unit and its version', () => {
  assert.equal(nameOf({ Unit: 'inventory' }, 'inventory--1-2-0--v2g5mf0e'), 'inventory 1.2.0');
  assert.equal(nameOf({ Unit: 'a--b' }, 'a--b--1-0-0-rc-1--abcd1234'), 'a--b 1.0.0-rc-1');
  assert.equal(nameOf({ Unit: 'inventory' }, 'other'), 'other');
  assert.deepEqual(linesOf({ Shown: 'ready', Share: 0.4, Hold: { By: 'ana' } }), ['ready, 40 % of traffic', 'held by ana']);
  assert.equal(said({ Shown: 'ready', Share: 0.4, Hold: { By: 'ana' } }), 'ready, 40 % of traffic, held by ana');
});

test('nodes that a constraint excludes are counted once', () => {
  const all = { NodesInPool: 3, NodesEvaluated: 3 };
  assert.deepEqual(obstacles({ ...all, ConstraintFiltered: { 'missing drivers: x': 2 }, ClassFiltered: { big: 2 }, DimensionExhausted: { memory: 1 } }), ['2 nodes: missing drivers: x', '1 node: not enough memory']);
  assert.deepEqual(obstacles({ ...all, ClassFiltered: { big: 2 } }), ['2 nodes of class big are excluded by a constraint']);
});

test('a job and a rollout that a plan holds wait for a person', () => {
  assert.deepEqual([jobState({ Held: true, HeldReason: 'plan deploy: canary' }, undefined)].map((s) => [s.of, s.word]), [['you', 'waits for you: plan deploy: canary']]);
  const r = rolloutOfDeployment({ ID: 'd', JobID: 'web', Namespace: 'default', JobVersion: 1, Status: 'running' });
  const plan = { Name: 'deploy', JobID: 'web', Namespace: 'default', JobVersion: 1, Message: 'phase app: canary' };
  assert.deepEqual([heldBy(r, [plan])].map((x) => [x.of, x.status, x.text]), [['you', 'waiting', 'phase app: canary']]);
  assert.equal(heldBy(r, [{ ...plan, JobVersion: 2 }]), r);
});
