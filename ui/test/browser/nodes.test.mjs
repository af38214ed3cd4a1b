// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, Agent, Browser, until } from './harness.mjs';

let agent, browser, id;
before(async () => {
  agent = await Agent.start();
  browser = await Browser.start();
  id = await until('the node is ready', async () => (await agent.ask('GET', '/v1/nodes')).find((n) => n.Status === 'ready')?.ID);
  await agent.run(agent.example('hello-world.hcl'));
});
after(async () => {
  await browser?.stop();
  await agent?.stop();
});

test('nodes are listed with their use, and follow a change of eligibility', async () => {
  const page = await browser.open(`${agent.base}/ui/nodes`);
  const row = page.getByRole('grid', { name: 'Nodes' }).getByRole('row', { name: /ready/ });
  await row.getByRole('img', { name: /memory/ }).waitFor();
  await accessible(page);
  await agent.ask('PUT', `/v1/node/${id}/eligibility`, { Eligibility: 'ineligible' });
  await row.getByText('ready, ineligible').last().waitFor();
  await agent.ask('PUT', `/v1/node/${id}/eligibility`, { Eligibility: 'eligible' });
  await page.getByRole('combobox', { name: 'Filter nodes' }).fill('Status == "down"');
  await page.getByText('No node matches').waitFor();
  browser.check();
  await page.close();
});

test('a node shows its use and instances, and explains a job', async () => {
  const page = await browser.open(`${agent.base}/ui/node/${id.slice(0, 8)}`);
  await page.waitForURL(`**/ui/node/${id}`);
  await page.getByRole('heading', { name: 'Use of the machine' }).waitFor();
  await page.getByText('Node registered').waitFor();
  await accessible(page);
  const tabs = page.getByRole('navigation', { name: 'Views of the node' });
  await tabs.getByRole('link', { name: 'Instances' }).click();
  await page.getByRole('row', { name: /hello-0/ }).waitFor();
  await tabs.getByRole('link', { name: 'Images' }).click();
  await page.getByText('The node has no image').waitFor();
  await tabs.getByRole('link', { name: 'Explain' }).click();
  await page.getByLabel('Job').fill('hello-world');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByRole('heading', { name: 'Group world' }).waitFor();
  await accessible(page);
  await tabs.getByRole('link', { name: 'Attributes' }).click();
  await page.getByRole('cell', { name: 'attr.kernel.name' }).waitFor();
  browser.check();
  await page.close();
});

test('a node without an address is asked for nothing', async () => {
  const sim = '77777777-0000-0000-0000-000000000000';
  await agent.ask('PUT', `/v1/node/${sim}/register`, { Node: { ID: sim, SecretID: sim, Name: 'sim-1', Datacenter: 'dc1' } });
  const page = await browser.open(`${agent.base}/ui/node/${sim}`);
  await page.getByText('none: simulated nodes have none').waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Use of the machine' }).count(), 0);
  await page.getByRole('link', { name: 'Images' }).click();
  await page.getByText('could be asked for images').waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  browser.check();
  await page.close();
});

test('a drain asks, begins, shows what waits, and is stopped', async () => {
  const page = await browser.open(`${agent.base}/ui/node/${id}`);
  await page.getByRole('button', { name: 'Drain' }).click();
  const dialog = page.getByRole('dialog', { name: 'Drain' });
  await dialog.getByText(/and their jobs place them elsewhere/).waitFor();
  await dialog.getByRole('textbox', { name: 'Deadline' }).fill('soon');
  await dialog.getByRole('button', { name: 'Drain', exact: true }).click();
  await dialog.getByText('is not a duration').waitFor();
  await dialog.getByRole('textbox', { name: 'Deadline' }).fill('30m');
  await dialog.getByRole('textbox', { name: 'Reason (optional)' }).fill('new kernel');
  await dialog.getByText(`reeve node drain -enable -deadline 30m -m 'new kernel' ${id.slice(0, 8)}`).waitFor();
  await dialog.getByRole('button', { name: 'Try again' }).click();
  const drain = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Drain', exact: true }) });
  await drain.getByText('new kernel').waitFor();
  await drain.getByText(/still here/).waitFor();
  await drain.getByRole('link').first().waitFor();
  await accessible(page);
  await page.getByRole('button', { name: 'Stop drain' }).click();
  await page.getByRole('dialog', { name: 'Stop drain' }).getByRole('button', { name: 'Stop drain' }).click();
  await page.getByRole('heading', { name: 'Last drain' }).waitFor();
  browser.check();
  await page.close();
});
