// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deployment, Event } from '../../src/api/schema';
import { capacityOf, troubledNodes } from '../../src/words/capacity';
import { eventTime, sayEvent, timesOf, typeWords } from '../../src/words/event';
import { groupsToPromote, loneDeployments, newestOfJob, readyToPromote } from '../../src/words/waiting';

const columns = {
  ID: ['a', 'b', 'c'], Name: ['n-a', 'n-b', 'n-c'], Datacenter: { Values: ['dc2', 'dc1'], Codes: [0, 1, 1] }, Status: { Values: ['ready', 'down'], Codes: [0, 0, 1] }, Silent: [true, false, false],
  CPU: [100, 200, 400], CPUUsed: [50, 20, 40], MemoryMB: [10, 20, 40], MemoryUsed: [1, 2, 4], Allocations: [1, 2, 4],
};

test('capacity adds only nodes that are ready, per datacenter', () => {
  assert.deepEqual(capacityOf(columns).map((c) => [c.datacenter, c.ready, c.nodes, c.cpuUsed, c.cpu, c.memoryUsed, c.memory]), [['dc1', 1, 2, 20, 200, 2, 20], ['dc2', 1, 1, 50, 100, 1, 10]]);
  assert.deepEqual(capacityOf({}), []);
  assert.deepEqual(troubledNodes(columns).map((n) => [n.name, n.why]), [['n-a', 'silent'], ['n-c', 'down']]);
});

const canary = (healthy: number, more: Deployment = {}): Deployment => ({ JobID: 'web', Namespace: 'default', Status: 'running', TaskGroups: { web: { DesiredCanaries: 1, HealthyAllocs: healthy } }, ...more });

test('a deployment waits for a person once its canaries are healthy', () => {
  assert.deepEqual(groupsToPromote(canary(0)), ['web']);
  assert.equal(readyToPromote(canary(0)), false);
  assert.equal(readyToPromote(canary(1)), true);
  assert.equal(readyToPromote(canary(1, { Status: 'failed' })), false);
  assert.equal(loneDeployments([canary(1)], []).length, 1);
  assert.equal(loneDeployments([canary(1)], [{ Name: 'deploy', JobID: 'web', Namespace: 'default' }]).length, 0);
  assert.deepEqual(newestOfJob([canary(1, { ID: 'new' }), canary(1, { ID: 'old' }), canary(1, { ID: 'other', JobID: 'api' })]).map((d) => d.ID), ['new', 'other']);
});

test('events are sentences, also if the object is absent or deleted', () => {
  const cases: [Event, string, string][] = [
    [{ Topic: 'Job', Type: 'JobRegistered', Key: 'web', Payload: { Job: { ID: 'web', Status: 'pending', Version: 3 } } }, 'web', 'registered, pending, version 3'],
    [{ Topic: 'Instance', Type: 'InstanceCrashed', Key: 'x', Payload: { Instance: { Name: 'web-0', JobID: 'web', State: 'CRASHED', CrashReason: 'exit 1' } } }, 'web-0', 'web, crashed, exit 1'],
    [{ Topic: 'Job', Type: 'JobDeregistered', Key: 'web', Deleted: true, Payload: { Job: { ID: 'web' } } }, 'web', 'deregistered, deleted'],
    [{ Topic: 'Weather', Type: 'WeatherGotWorse', Key: '0f1e2d3c-0000-0000-0000-000000000000', Payload: null }, '0f1e2d3c', 'got worse'],
  ];
  for (const [e, name, text] of cases) {
    const s = sayEvent(e);
    assert.deepEqual([s.name, s.text], [name, text]);
  }
  assert.equal(typeWords('Job', 'JobStatusUpdated'), 'status updated');
});

test('the time of an event is that of its object, in seconds or nanoseconds', () => {
  assert.equal(eventTime({ Topic: 'Node', Payload: { Node: { StatusUpdatedAt: 1_795_530_392 } } }), 1_795_530_392_000);
  assert.equal(eventTime({ Topic: 'Deployment', Payload: { Deployment: { ModifyTime: 1_795_530_392_000_000_000 } } }), 1_795_530_392_000);
  assert.equal(eventTime({ Topic: 'Domain', Payload: { Domain: {} } }), 0);
});

test('no event is before those that precede it, whatever time its object tells', () => {
  const job = (SubmitTime: number) => ({ Topic: 'Job', Payload: { Job: { SubmitTime: SubmitTime * 1e9 } } });
  const times = timesOf([
    { event: { ...job(1_790_000_010), Index: 4 }, received: 0 },
    { event: { Topic: 'Domain', Payload: { Domain: {} }, Index: 5 }, received: 0 },
    { event: { ...job(1_790_000_001), Index: 6 }, received: 0 }, // the status of an older job
    { event: { Topic: 'Stack', Payload: { Stack: {} }, Index: 7 }, received: 1_790_000_020_000 },
    { event: { ...job(1_790_000_021), Index: 7 }, received: 1_790_000_020_000 },
  ]);
  assert.deepEqual([...times], [[4, 1_790_000_010_000], [5, 1_790_000_010_000], [6, 1_790_000_010_000], [7, 1_790_000_021_000]]);
});
