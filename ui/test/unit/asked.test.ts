// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fake, json, line, until } from './fake_api';

const { connect, del, get, health, put } = await import('../../src/link/link');
const { asked } = await import('../../src/parts/asked');
const { run } = await import('../../src/parts/verb');
const { watch } = await import('../../src/store/watch');

let end: () => void;
before(async () => {
  await connect();
  end = watch({ topics: ['Thing'], events: () => {}, reset: () => {} });
  await until('the stream is open', () => fake.events !== undefined && health.value.state === 'live');
});
after(() => {
  end();
  fake.leave({ persisted: false });
});

const nothing = { reason: '', values: {} };
const verb = (name: string) => ({ name, capability: '', cli: () => name, run: () => (name === 'Remove' ? del('/v1/thing') : put('/v1/thing')) });
const sleep = (ms: number) => new Promise((r) => setTimeout(r, ms));

/** answer answers the request that waits for an answer. */
async function answer(of: Response): Promise<void> {
  await until('the request is sent', () => fake.lists.length > 0);
  fake.lists.shift()!(of);
}

test('a verb is asked until the event of its change arrives', async () => {
  const answered = run(verb('Continue'), nothing);
  assert.ok(asked.value.has('Continue'));
  await answer(json({}, { 'X-Reeve-Index': '9' }));
  assert.ok((await answered).ok);
  line({ Index: 8, Events: [{ Topic: 'Thing', Key: 'a', Index: 8 }] });
  await sleep(1_700);
  assert.ok(asked.value.has('Continue'), 'an earlier event is not of the change');
  line({ Index: 9, Events: [{ Topic: 'Thing', Key: 'a', Index: 9 }] });
  await until('the button is usable again', () => !asked.value.has('Continue'));
});

test('a read that contains the change ends it, too', async () => {
  const answered = run(verb('Remove'), nothing);
  await answer(json({}, { 'X-Reeve-Index': '12' }));
  await answered;
  await sleep(800);
  assert.ok(asked.value.has('Remove'));
  const read = get('/v1/things');
  await answer(json([], { 'X-Reeve-Index': '12' }));
  await read;
  await until('the button is usable again', () => !asked.value.has('Remove'));
});

test('a verb that failed is usable at once', async () => {
  const answered = run(verb('Stop'), nothing);
  await answer(new Response(JSON.stringify({ code: 'conflict', message: 'no' }), { status: 409 }));
  assert.equal((await answered).ok, false);
  assert.equal(asked.value.has('Stop'), false);
});
