// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fake, json, line, send, until, type Row } from './fake_api';

const { connect } = await import('../../src/link/link');
const { Table } = await import('../../src/store/table');
const { watch } = await import('../../src/store/watch');

before(() => connect());
after(() => fake.leave({ persisted: false }));

const things = () =>
  new Table<Row>({
    path: '/v1/things',
    topics: ['Thing'],
    key: (r) => r.ID,
    take: (e) => ({ key: e.Key!, row: e.Deleted ? null : (e.Payload!.Thing as Row) }),
  });
const shown = (t: InstanceType<typeof Table<Row>>) => [...t.rows.values()].map((r) => `${r.ID}${r.N}`).sort().join(' ');

test('events that come while the list is read are applied after it, once', async () => {
  fake.lists = [];
  const t = things();
  const end = t.start();
  const seen: number[] = [];
  const endSeen = watch({ topics: ['Thing'], events: (_, index) => seen.push(index), reset: () => {} });
  await until('the list is asked for', () => fake.lists.length === 1);
  await until('the stream is open', () => fake.events !== undefined);
  send(3, 'a', 0); // older than the list
  send(5, 'b', 2);
  send(6, 'c', 3, { Deleted: true });
  await until('the events have arrived', () => seen.includes(6));
  fake.lists[0]!(json([{ ID: 'a', N: 1 }, { ID: 'c', N: 1 }], { 'X-Reeve-Index': '4' }));
  await until('the list and the later events are shown', () => shown(t) === 'a1 b2');
  send(7, 'a', 9);
  await until('a later event is applied', () => shown(t) === 'a9 b2');
  endSeen();
  end();
});

test('the rows of a group are read again after its events, page by page; later events stay', async () => {
  fake.lists = [];
  const t = new Table<Row>({
    path: '/v1/things', topics: ['Thing'], key: (r) => r.ID,
    take: (e) => ({ key: e.Key!, row: e.Payload!.Thing as Row }),
    keep: (before, r) => ({ ...r, N: before.N }),
    groups: { topics: ['Thing', 'Other'], of: (e) => e.FilterKeys![0]!, ofRow: (r) => r.ID[0]!, path: (g) => `/v1/things?of=${g}` },
  });
  const end = t.start();
  await until('the list is asked for', () => fake.lists.length === 1);
  fake.lists[0]!(json([{ ID: 'ax', N: 1 }, { ID: 'ay', N: 1 }, { ID: 'bx', N: 1 }], { 'X-Reeve-Index': '8' }));
  await until('the list is shown', () => shown(t) === 'ax1 ay1 bx1');
  send(9, 'ax', 5, { FilterKeys: ['a'] });
  await until('the group is asked for', () => fake.lists.length === 2);
  assert.match(fake.paths.at(-1)!, /of=a&per_page/);
  assert.equal(shown(t), 'ax1 ay1 bx1', 'the event does not tell N');
  fake.lists[1]!(json([{ ID: 'ax', N: 5 }], { 'X-Reeve-Index': '9', 'X-Nomad-NextToken': 'az' }));
  await until('its next page is asked for', () => fake.lists.length === 3);
  assert.match(fake.paths.at(-1)!, /next_token=az$/);
  send(10, 'aw', 7, { FilterKeys: ['a'] });
  await until('an event is applied at once', () => t.rows.has('aw'));
  fake.lists[2]!(json([{ ID: 'az', N: 6 }]));
  await until('the group is replaced, with the later event', () => shown(t) === 'aw7 ax5 az6 bx1');
  await until('it is asked for again', () => fake.lists.length === 4);
  fake.lists[3]!(json([{ ID: 'aw', N: 8 }], { 'X-Reeve-Index': '10' }));
  await until('the newest rows are shown', () => shown(t) === 'aw8 bx1');
  end();
});

test('a filtered list is read again after each event that may change its rows', async () => {
  fake.lists = [];
  const t = new Table<Row>({
    path: '/v1/things?filter=N', topics: ['Thing'], key: (r) => r.ID, take: () => assert.fail('the filter decides'), reread: true,
    groups: { topics: ['Thing', 'Other'], of: () => assert.fail('the list is read as a whole'), ofRow: (r) => r.ID, path: (g) => g },
  });
  const end = t.start();
  await until('the list is asked for', () => fake.lists.length === 1);
  fake.lists[0]!(json([{ ID: 'a', N: 1 }], { 'X-Reeve-Index': '12' }));
  await until('the list is shown', () => shown(t) === 'a1');
  line({ Index: 13, Events: [{ Topic: 'Other', Key: 'x', Index: 13 }] });
  await until('the list is asked for again', () => fake.lists.length === 2);
  fake.lists[1]!(json([], { 'X-Reeve-Index': '13' }));
  await until('the row is gone', () => t.rows.size === 0);
  end();
});

test('a list whose read failed is read again when the servers answer', async () => {
  fake.lists = [];
  const t = things();
  const end = t.start();
  await until('the list is asked for', () => fake.lists.length === 1);
  fake.lists[0]!(json([{ ID: 'a', N: 1 }], { 'X-Reeve-Index': '20' }));
  await until('the list is shown', () => shown(t) === 'a1');
  const reading = t.read();
  await until('it is asked for again', () => fake.lists.length === 2);
  fake.lists[1]!(new Response('no leader', { status: 503 }));
  await reading;
  assert.equal(t.error.value?.status, 503);
  send(21, 'b', 2); // tells that the servers answer
  await until('it is asked for once more', () => fake.lists.length === 3);
  // The stream stays open, so that the end of a short failure is told by nothing.
  fake.lists[2]!(new Response('no leader', { status: 503 }));
  await until('it is asked for without another event', () => fake.lists.length === 4);
  fake.lists[3]!(json([{ ID: 'a', N: 1 }, { ID: 'b', N: 2 }], { 'X-Reeve-Index': '21' }));
  await until('the list is shown without an error', () => shown(t) === 'a1 b2' && t.error.value === undefined);
  end();
});

test('after a reset, a batch of before it is not applied', async () => {
  fake.lists = [];
  const t = things();
  const end = t.start();
  await until('the list is asked for', () => fake.lists.length === 1);
  fake.lists[0]!(json([{ ID: 'a', N: 1 }], { 'X-Reeve-Index': '30' }));
  await until('the list is shown', () => shown(t) === 'a1');
  // The tab is hidden: a batch waits for 200 ms, and the reset overtakes it.
  let waits = 0;
  const real = globalThis.setTimeout;
  globalThis.setTimeout = ((f: () => void, ms?: number) => real(f, ms, (waits += ms === 200 ? 1 : 0))) as unknown as typeof setTimeout;
  send(90, 'a', 9);
  const seen: number[] = [];
  const endSeen = watch({ topics: ['Thing'], events: (_, index) => seen.push(index), reset: () => seen.push(0) });
  await until('the batch waits', () => waits === 1);
  globalThis.setTimeout = real;
  line({ Index: 40, Missed: { From: 31, To: 40 } });
  await until('the list is asked for again', () => fake.lists.length === 2);
  fake.lists[1]!(json([{ ID: 'a', N: 2 }], { 'X-Reeve-Index': '40' }));
  await until('the new list is shown', () => shown(t) === 'a2');
  send(41, 'b', 3);
  await until('a later event is applied', () => seen.includes(41));
  assert.equal(shown(t), 'a2 b3');
  endSeen();
  end();
});
