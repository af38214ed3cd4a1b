// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

test('who may not read nodes sees volumes with the short ids of their nodes', async () => {
  const data = mkdtempSync(join(tmpdir(), 'reeve-volumes-'));
  const guarded = await Agent.start({ flags: ['-server', '-client', '-bootstrap', '-data-dir', data] }); // it serves callers of this machine without a token
  try {
    await until('the node is ready', async () => (await guarded.ask('GET', '/v1/nodes')).some((n) => n.Status === 'ready'));
    await guarded.ask('PUT', '/v1/volume/host/create?namespace=default', { Volume: { Name: 'data', Namespace: 'default', PluginID: 'mkdir', RequestedCapabilities: [{ AccessMode: 'single-node-writer', AttachmentMode: 'file-system' }] } });
    const [volume] = await guarded.ask('GET', '/v1/volumes?type=host&namespace=*');
    await guarded.ask('PUT', '/v1/acl/policy/volumes', { Name: 'volumes', Rules: 'namespace "default" { capabilities = ["host-volume-read"] }' });
    const { SecretID: secret } = await guarded.ask('PUT', '/v1/acl/token', { Name: 'eve', Type: 'client', Policies: ['volumes'] });
    const page = await browser.open(`${guarded.base}/ui/login`);
    await page.getByLabel('Token').fill(secret);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.waitForURL(`${guarded.base}/ui/`);
    await page.goto(`${guarded.base}/ui/volumes`);
    await page.getByRole('row', { name: /data/ }).getByRole('link', { name: volume.NodeID.slice(0, 8), exact: true }).click();
    await page.getByText('node:read').first().waitFor();
    assert.deepEqual(browser.faults.filter((f) => !/403/.test(f)), []);
    await page.close();
  } finally {
    await guarded.stop();
    rmSync(data, { recursive: true, force: true });
  }
});
