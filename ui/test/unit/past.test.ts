// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fake, line, until } from './fake_api';

const { connect } = await import('../../src/link/link');
const { followPast } = await import('../../src/pages/job/past');

before(() => connect());
after(() => fake.leave({ persisted: false }));

const registered = (version: number) => ({ Topic: 'Job', Type: 'JobRegistered', Key: 'shop', Namespace: 'default', Index: version, Payload: { Job: { Version: version, SubmitTime: version } } });
const batch = (version: number) => ({ Index: version, Events: [registered(version)] });
const last = () => fake.past.at(-1)!;

/** follow follows the past of a job; shown has the versions of its lines, the oldest first. */
function follow() {
  let lines: string[] = [];
  const end = followPast({ id: 'shop', namespace: 'default' }, 5, 20_000, (p) => (lines = p.lines.map((l) => l.text.replace(/\D+/g, '')).reverse()));
  return { end, shown: () => lines.join(' ') };
}

test('no event is missed between the replay and the first that the page receives', async () => {
  let open = () => {};
  fake.after = 8;
  fake.may = new Promise((resolve) => (open = resolve));
  const { end, shown } = follow();
  await until('the past is asked for', () => fake.past.length === 1);
  line(batch(4), last().stream);
  line(batch(5), last().stream);
  await until('it is shown', () => shown() === '4 5');
  // Until the page's stream opens, two things happen.
  open();
  await until('the past is asked for again', () => fake.past.length === 2);
  for (const n of [4, 5, 7, 8]) line(batch(n), last().stream);
  await until('they are shown', () => shown() === '4 5 7 8');
  line(batch(8));
  line(batch(9));
  await until('each is shown once', () => shown() === '4 5 7 8 9');
  end();
});

test('after another history, no event is missed before the stream is open again', async () => {
  fake.past = [];
  const { end, shown } = follow();
  await until('the past is asked for', () => fake.past.length === 1);
  line(batch(9), last().stream);
  await until('it is shown', () => shown() === '9');
  fake.after = 20;
  fake.refuse = 1;
  fake.events!.close();
  await until('the past is asked for again', () => fake.past.length === 2);
  assert.equal(last().from, 1);
  assert.equal(shown(), '', 'what was shown did not happen');
  line({ Index: 12, Missed: { From: 1, To: 12 } }, last().stream);
  line(batch(15), last().stream);
  await until('what happened since the restore is shown', () => shown() === '15');
  line(batch(20), last().stream);
  line(batch(21));
  await until('the page goes on', () => shown() === '15 20 21');
  end();
});
