// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event, Phase, Plan, Step } from '../../src/api/schema';
import { followSteps, unqueued } from '../../src/pages/job/plan_steps';

const step = (n: number, more: Step = {}): Step => ({ ID: `s${n}`, Name: `web-${n}:[server]`, Status: 'PENDING', Interrupted: false, Group: 'web', Index: n, JobVersion: 1, ...more });
const phase = (steps: Step[], more: Phase = {}): Phase => ({ ID: 'p', Name: 'web', Strategy: 'serial', Group: 'web', Status: 'IN_PROGRESS', Interrupted: false, Completed: 0, Total: steps.length, Steps: steps, ...more });
const plan = (phases: Phase[], more: Plan = {}): Plan => ({ ID: 'd', Name: 'deploy', JobID: 'shop', JobVersion: 1, Strategy: 'serial', Status: 'IN_PROGRESS', Interrupted: false, Run: 'r', Completed: 0, Total: 3, Phases: phases, ...more });
const event = (key: string, Step: object, Type = 'StepChanged', more: Event = {}): Event => ({ Topic: 'Step', Type, Key: `shop/deploy${key}`, Payload: { Step }, ...more });
const stateOf = (s: Step, more: object = {}) => ({ ID: s.ID, Status: s.Status, Interrupted: s.Interrupted, Group: s.Group, Index: s.Index, JobVersion: s.JobVersion, ...more });
const planState = { Status: 'IN_PROGRESS', Interrupted: false, Run: 'r', JobVersion: 1, Completed: 1, Total: 3 };
const phaseState = { Status: 'IN_PROGRESS', Interrupted: false, Group: 'web', Completed: 1, Total: 3 };

test('the plan after the events of its steps is what a fresh read returns', () => {
  const before = plan([phase([step(0, { Status: 'STARTED', Allocation: 'a0', Message: 'is not healthy yet' }), step(1, { After: ['web-0:[server]'] }), step(2)])]);
  const failed = ['web-1:[server]: no room'];
  const after = plan([phase([step(0, { Status: 'COMPLETE', Allocation: 'a0', Since: '2026-01-01T00:00:00Z' }), step(1, { Status: 'ERROR', After: ['web-0:[server]'], Errors: ['no room'] }), step(2)], { Completed: 1, Errors: failed })], {
    Completed: 1, Errors: ['the plan has an error of its own', ...failed],
  });
  const events = [
    event('', { ...planState, Errors: ['the plan has an error of its own'] }),
    event('/web', phaseState),
    event('/web/web-0:[server]', stateOf(step(0, { Status: 'COMPLETE' }), { Allocation: 'a0', Since: '2026-01-01T00:00:00Z' })),
    event('/web/web-1:[server]', stateOf(step(1, { Status: 'ERROR' }), { Errors: ['no room'] })),
  ];
  assert.deepEqual(followSteps(before, events), after);
  // And back: what a state lacks is not kept.
  const back = [event('', { ...planState, Completed: 0 }), event('/web', { ...phaseState, Completed: 0 }), event('/web/web-0:[server]', stateOf(step(0, { Status: 'STARTED' }), { Allocation: 'a0', Message: 'is not healthy yet' })), event('/web/web-1:[server]', stateOf(step(1)))];
  assert.deepEqual(followSteps(after, back), before);
});

test('steps that share a name are told apart by their place', () => {
  const before = plan([phase([step(0, { ID: 's', Allocation: 'a' }), step(0, { ID: 's', Allocation: 'b' })])]);
  const after = followSteps(before, [event('/web/web-0:[server]@b', stateOf(step(0, { ID: 's', Status: 'COMPLETE' }), { Allocation: 'b' }))]);
  assert.deepEqual(after?.Phases?.[0]?.Steps?.map((s) => s?.Status), ['PENDING', 'COMPLETE']);
});

test('events that do not tell all have the plan read again', () => {
  const before = plan([phase([step(0), step(1)])]);
  const all = [event('', { ...planState, Completed: 0 }, 'StepSnapshot'), event('/web', { ...phaseState, Completed: 0, Total: 2 }, 'StepSnapshot'), event('/web/web-0:[server]', stateOf(step(0)), 'StepSnapshot')];
  const cases: [string, Event[], boolean][] = [
    ['nothing', [], true],
    ['a new step', [event('/web/web-2:[server]', stateOf(step(2)), 'StepCreated')], false],
    ['a step that is no more', [event('/web/web-1:[server]', stateOf(step(1)), 'StepRemoved', { Deleted: true })], false],
    ['an unknown step', [event('/web/web-7:[server]', stateOf(step(7)))], false],
    ['a decision of which only the event is known', [event('/web/web-0:[server]', stateOf(step(0, { Status: 'COMPLETE' }), { Forced: true }))], false],
    ['another version of the job', [event('', { ...planState, JobVersion: 2 })], false],
    ['another run', [event('', { ...planState, Run: 's' })], false],
    ['all steps, and one that was there is missing', all, false],
    ['all steps', [...all, event('/web/web-1:[server]', stateOf(step(1)), 'StepSnapshot')], true],
  ];
  for (const [name, events, told] of cases) assert.equal(followSteps(before, events) !== undefined, told, name);
});

test('messages about the order are omitted', () => {
  const p = unqueued(plan([phase([step(0, { Message: 'waits for room' }), step(1, { Message: 'comes after web-0:[server]' })], { Message: 'comes after phase db' })]));
  assert.deepEqual(p.Phases?.[0]?.Steps?.map((s) => s?.Message), ['waits for room', undefined]);
  assert.equal(p.Phases?.[0]?.Message, undefined);
});
