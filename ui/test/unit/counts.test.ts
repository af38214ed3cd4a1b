// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fake, json, line, until } from './fake_api';

const { connect, health } = await import('../../src/link/link');
const { Counts } = await import('../../src/pages/jobs/counts');

before(() => connect());
after(() => fake.leave({ persisted: false }));

/** answer answers the oldest read of a path. */
async function answer(path: string, body: unknown, index: number): Promise<void> {
  await until(`${path} is read`, () => fake.paths.some((p) => p.startsWith(path)));
  const at = fake.paths.findIndex((p) => p.startsWith(path));
  fake.paths.splice(at, 1);
  fake.lists.splice(at, 1)[0]!(json(body, { 'X-Reeve-Index': String(index) }));
}

test('a job that changes while its counts are read for the first time is read again', async () => {
  const counts = new Counts();
  const end = counts.start();
  await answer('/v1/instances', [], 4);
  await until('the stream is open', () => fake.events !== undefined && health.value.state === 'live');
  counts.show(['default web']);
  await until('the counts are read', () => fake.paths.some((p) => p.startsWith('/v1/jobs/statuses')));
  line({ Index: 9, Events: [{ Topic: 'Instance', Type: 'InstanceChanged', Key: 'a', Namespace: 'default', FilterKeys: ['web'], Index: 9, Payload: { Instance: { Allocation: 'a', JobID: 'web', Namespace: 'default', State: 'CRASHED' } } }] });
  await until('the crash has arrived', () => counts.crashed('default web') === 1);
  assert.equal(counts.crashed('default other'), 0);
  await answer('/v1/jobs/statuses', [{ ID: 'web', Namespace: 'default', GroupCountSum: 1 }], 8);
  await answer('/v1/jobs/statuses', [{ ID: 'web', Namespace: 'default', GroupCountSum: 2 }], 9);
  await until('the later counts are known', () => counts.known.get('default web')?.GroupCountSum === 2);
  const version = counts.version.value;
  await answer('/v1/instances?namespace=default&job=web&state=CRASHED', [], 9);
  await until('the crash is gone, and the page is told', () => counts.crashed('default web') === 0 && counts.version.value > version);
  end();
});
