// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, Agent, Browser, until } from './harness.mjs';

let agent, browser;
before(async () => {
  agent = await Agent.start();
  browser = await Browser.start();
});
after(async () => {
  await browser?.stop();
  await agent?.stop();
});

test('events appear as they happen, and one opens as JSON by a link to its index', async () => {
  const page = await browser.open(`${agent.base}/ui/events?topic=Job`);
  await page.getByText('Live, index').waitFor();
  await agent.run(agent.example('blocked.hcl').replace('job "blocked"', 'job "late"'));
  const row = page.getByRole('row', { name: /Job late registered/ });
  await row.waitFor();
  await accessible(page);
  await row.getByRole('button').click();
  await page.getByText('"Type": "JobRegistered"').waitFor();
  await accessible(page);
  const link = page.getByRole('link', { name: /Link to index/ });
  const address = await link.getAttribute('href');
  assert.match(address, /index=\d+&event=\d+\.\d+/);
  await link.click();
  await page.getByText('"Type": "JobRegistered"').waitFor();
  await page.getByRole('row', { name: /Evaluation late/ }).first().waitFor();
  browser.check();
  await page.close();
});

test('a frozen page does not change, and catches up when it goes on', async () => {
  const page = await browser.open(`${agent.base}/ui/events?topic=Job`);
  await page.getByRole('row', { name: /Job late registered/ }).waitFor();
  await page.getByRole('button', { name: /Freeze/ }).click();
  await agent.run(agent.example('blocked.hcl').replace('job "blocked"', 'job "frozen"'));
  const index = (await agent.ask('GET', '/v1/job/frozen')).ModifyIndex;
  await until('the browser has received the event', async () => Number((await page.locator('.live .num').textContent()).replaceAll(',', '')) >= index);
  assert.equal(await page.getByRole('row', { name: /Job frozen/ }).count(), 0);
  await page.getByRole('button', { name: /Go on/ }).click();
  await page.getByRole('row', { name: /Job frozen/ }).first().waitFor();
  browser.check();
  await page.close();
});

test('an evaluation says why instances have no place, and is unblocked', async () => {
  const page = await browser.open(`${agent.base}/ui/evaluations?status=blocked`);
  const row = page.getByRole('row', { name: /late blocked 1 instance of train without a place: 1 node/ });
  await row.waitFor();
  await accessible(page);
  await row.getByRole('link').first().click();
  await page.getByRole('heading', { name: 'train: 1 instance' }).waitFor();
  await page.getByText('Related').waitFor();
  await accessible(page);
  const before = await agent.ask('GET', '/v1/evaluations?job=late');
  await page.getByRole('button', { name: 'Unblock' }).click();
  await until('the servers have tried again', async () => (await agent.ask('GET', '/v1/evaluations?job=late')).length > before.length || (await agent.ask('GET', '/v1/evaluations?job=late')).some((e) => e.ModifyIndex > Math.max(...before.map((b) => b.ModifyIndex))));
  browser.check();
  await page.close();
});

test('an evaluation that does not exist is told, and hostile ids stay text', async () => {
  const id = '"><img src=x onerror=alert(1)>/../../v1/jobs';
  const page = await browser.open(`${agent.base}/ui/evaluations?evaluation=${encodeURIComponent(id)}`);
  await page.getByRole('alert').waitFor();
  assert.equal(await page.locator('main img').count(), 0);
  browser.check();
  await page.close();
});
