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

const card = (page, name) => page.locator('section.card', { has: page.getByRole('heading', { name, exact: true }) });

test('a cluster without jobs explains how to run the first one', async () => {
  const page = await browser.open(`${agent.base}/ui/`);
  await page.getByRole('heading', { name: 'Run the first job' }).waitFor();
  await page.getByText('reeve job run examples/web.hcl').waitFor();
  await page.getByText('Nothing waits for a decision.').waitFor();
  await page.getByText('No problems.').waitFor();
  await card(page, 'Reserved capacity').getByRole('row', { name: /dc1 1/ }).waitFor();
  await accessible(page);
  browser.check();
  await page.close();
});

test('what waits and what goes wrong appears by itself, and a canary is promoted', async () => {
  const page = await browser.open(`${agent.base}/ui/`);
  await agent.run(agent.example('blocked.hcl'));
  await card(page, 'Problems').getByText(/1 instance without a place: 1 node: .*gpu/).waitFor();
  await card(page, 'Last changes').getByRole('link', { name: 'blocked' }).first().waitFor();
  await agent.run(agent.example('canary.hcl'));
  await until('the first version is up', async () => (await agent.ask('GET', '/v1/job/canary/deployment')).Status === 'successful');
  await agent.run(agent.example('canary.hcl'), 'version = "2"');
  await card(page, 'Waiting for you').getByRole('button', { name: /Promote/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Promote' });
  await dialog.getByText('replace its old instances').waitFor();
  await accessible(page);
  await dialog.getByRole('button', { name: 'Promote', exact: true }).click();
  await page.getByText('Nothing waits for a decision.').waitFor();
  await until('the deployment is promoted', async () => (await agent.ask('GET', '/v1/job/canary/deployment')).TaskGroups.web.Promoted);
  browser.check();
  await page.close();
});

test('rollouts are listed, and one is paused with a reason and resumed', async () => {
  const page = await browser.open(`${agent.base}/ui/rollouts`);
  const row = page.getByRole('row', { name: /blocked version 0 running/ });
  await row.waitFor();
  await page.getByRole('row', { name: /canary version 1/ }).waitFor();
  await accessible(page);
  await row.getByRole('link').click();
  await page.getByRole('button', { name: /Pause/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Pause' });
  await dialog.getByLabel('Reason (optional)').fill('tested');
  await dialog.getByText(/reeve deployment pause -reason tested [0-9a-f]{8}/).waitFor();
  await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByRole('button', { name: /Resume/ }).waitFor();
  await accessible(page);
  await page.keyboard.press('c');
  await page.getByRole('button', { name: /Pause/ }).waitFor();
  browser.check();
  await page.close();
});
