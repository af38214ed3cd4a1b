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

test('a volume names its node, with a link to it', async () => {
  const page = await browser.open(`${agent.base}/ui/volumes`);
  await page.getByText('No host volume that you may see').waitFor();
  const [node] = await until('the node is ready', async () => {
    const all = await agent.ask('GET', '/v1/nodes');
    return all.some((n) => n.Status === 'ready') && all;
  });
  await agent.ask('PUT', '/v1/volume/host/create?namespace=default', { Volume: { Name: 'data', Namespace: 'default', PluginID: 'mkdir', RequestedCapabilities: [{ AccessMode: 'single-node-writer', AttachmentMode: 'file-system' }] } });
  const row = page.getByRole('row', { name: /data/ });
  await row.getByRole('link', { name: node.Name, exact: true }).waitFor();
  await accessible(page);
  const filter = page.getByRole('combobox', { name: 'Filter volumes' });
  await filter.fill('no such node');
  await page.getByText('Nothing matches').waitFor();
  await filter.fill(node.Name);
  await row.getByRole('link', { name: node.Name, exact: true }).click();
  await until('the page of the node is open', () => page.url().endsWith(`/ui/node/${node.ID}`));
  assert.deepEqual(browser.faults, []);
  await page.close();
});
