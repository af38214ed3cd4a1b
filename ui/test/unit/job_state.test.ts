// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobListStub, JobOverview } from '../../src/api/schema';
import { diffLines } from '../../src/words/diff';
import { jobState, stubOf } from '../../src/words/job_state';
import { obstacles, updates } from '../../src/words/placement';

const job = (more: JobListStub = {}): JobListStub => ({ ID: 'web', Type: 'service', Status: 'running', ...more });
const overview = (wanted: number, statuses: string[], more: JobOverview = {}): JobOverview => ({ GroupCountSum: wanted, Allocs: statuses.map((ClientStatus) => ({ ClientStatus, JobVersion: 1 })), ...more });

test('a job is up only if all its instances are', () => {
  const cases: [string, JobListStub, JobOverview | undefined, string, string][] = [
    ['all run', job(), overview(2, ['running', 'running']), 'ok', 'up'],
    ['all run and may receive traffic', job(), overview(2, ['running', 'running'], { Routable: 2 }), 'ok', 'up'],
    ['one gets no traffic', job(), overview(2, ['running', 'running'], { Routable: 1 }), 'up', '1 instance without traffic'],
    ['one starts', job(), overview(2, ['running', 'pending']), 'go', '1 instance not up yet'],
    ['one has no place', job(), overview(2, ['running']), 'bad', '1 instance missing'],
    ['stopped', job({ Stop: true }), overview(2, ['complete']), 'gone', 'stopped'],
    ['stops', job({ Stop: true }), overview(2, ['running']), 'go', 'stops: 1 instance left'],
    ['a batch is done', job({ Type: 'batch', Status: 'dead' }), overview(3, ['complete', 'complete', 'complete']), 'gone', 'complete'],
    ['a batch failed', job({ Type: 'batch', Status: 'dead' }), overview(1, ['failed']), 'bad', 'failed'],
    ['periodic', job({ Type: 'batch', Periodic: true }), overview(1, []), 'ok', 'starts by its schedule'],
    ['canaries', job(), overview(2, ['running', 'running'], { LatestDeployment: { IsActive: true, RequiresPromotion: true, Status: 'running' } }), 'you', 'waits for you'],
    ['nothing is known', job({ Status: 'pending' }), undefined, 'wait', 'pending'],
    ['the summary has no place for one', job({ JobSummary: { Summary: { web: { Running: 1, Queued: 1 } } } }), undefined, 'bad', '1 instance missing'],
    ['on every node', job({ Type: 'system' }), overview(1, ['running', 'running', 'running']), 'ok', 'up'],
  ];
  for (const [name, j, o, of, word] of cases) {
    const s = jobState(j, o);
    assert.deepEqual([s.of, s.word], [of, word], name);
  }
});

test('a rollout counts only instances of its version', () => {
  const o = overview(2, [], { LatestDeployment: { IsActive: true, Status: 'running', JobVersion: 1 } });
  o.Allocs = [{ ClientStatus: 'running', JobVersion: 1, DeploymentStatus: { Healthy: true } }, { ClientStatus: 'running', JobVersion: 0, DeploymentStatus: { Healthy: true } }];
  assert.equal(jobState(job(), o).rollout?.text, 'version 1: 1 of 2 healthy');
});

test('differences are lines, and values cannot break out of them', () => {
  const lines = diffLines({
    Type: 'Edited',
    Fields: [{ Type: 'None', Name: 'ID', Old: 'web', New: 'web' }, { Type: 'Edited', Name: 'Priority', Old: '50', New: 'a\n+ b', Annotations: null }],
    TaskGroups: [{ Type: 'Edited', Name: 'web', Updates: { create: 2 }, Tasks: [{ Type: 'Edited', Name: 'server', Annotations: ['forces create/destroy update'], Objects: [{ Type: 'Added', Name: 'Env', Fields: [{ Type: 'Added', Name: 'A', New: 'b' }] }] }] }],
  });
  assert.deepEqual(
    lines.map((l) => `${' '.repeat(l.depth)}${l.sign} ${l.text}${l.note && ` (${l.note})`}`),
    ['~ Priority: "50" => "a\\n+ b"', '~ group "web" (2 create)', ' ~ task "server" (forces create/destroy update)', '  + Env', '   + A: "b"'],
  );
});

test('obstacles name the number of nodes, the most frequent first', () => {
  assert.deepEqual(obstacles({ NodesInPool: 13, NodesEvaluated: 13, ConstraintFiltered: { 'a = b': 1, 'gpu = yes': 12 } }), ['12 nodes: gpu = yes', '1 node: a = b']);
  assert.deepEqual(obstacles({ NodesInPool: 0, NodePool: 'gpu' }), ['no node is in pool gpu']);
  assert.equal(updates({ Place: 2, Stop: 1, Ignore: 0 }), '2 start, 1 stop');
});

test('a job of an event says that it is held, as the list does', () => {
  assert.equal(jobState(stubOf({ ID: 'web', Type: 'service', Status: 'running', Held: true, HeldReason: 'uses db' }), undefined).word, 'waits for you: uses db');
});
