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

test('the cluster shows its server, and a rotated key', async () => {
  await agent.ask('PUT', '/v1/var/app', { Path: 'app', Namespace: 'default', Items: { a: '1' } });
  const page = await browser.open(`${agent.base}/ui/cluster`);
  const { config } = await agent.ask('GET', '/v1/agent/self');
  await page.getByRole('row', { name: new RegExp(`leader.*${config.Version.Version}`) }).waitFor();
  const keys = page.locator('section.card', { hasText: 'Keys of variables' });
  await keys.getByRole('cell', { name: 'active' }).waitFor();
  await accessible(page);
  const [before] = await agent.ask('GET', '/v1/operator/keyring/keys');
  await page.getByRole('button', { name: 'Rotate the key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rotate the key' });
  await dialog.getByText('reeve keyring rotate -full').waitFor();
  await dialog.getByRole('button', { name: 'Rotate the key', exact: true }).click();
  await until('another key is active', async () => {
    const key = (await agent.ask('GET', '/v1/operator/keyring/keys')).find((k) => k.State === 'active');
    return key && key.KeyID !== before.KeyID && (await keys.getByText(key.KeyID.slice(0, 8)).count()) === 1;
  });
  browser.check();
  await page.close();
});

test('the only server can neither leave nor be removed, and the buttons say why', async () => {
  const page = await browser.open(`${agent.base}/ui/cluster`);
  for (const name of ['Leave', 'Remove']) {
    const button = page.getByRole('button', { name });
    await button.waitFor();
    assert.equal(await button.getAttribute('aria-disabled'), 'true', name);
    assert.match(await page.locator(`[id="${await button.getAttribute('aria-describedby')}"]`).textContent(), /transfer leadership first/);
  }
  browser.check();
  await page.close();
});

test('what the scheduler may do follows another operator', async () => {
  const page = await browser.open(`${agent.base}/ui/cluster`);
  await page.getByText('binpack').waitFor();
  const { SchedulerConfig } = await agent.ask('GET', '/v1/operator/scheduler/configuration');
  await agent.ask('PUT', '/v1/operator/scheduler/configuration', { ...SchedulerConfig, SchedulerAlgorithm: 'spread' });
  await page.getByText('spread').waitFor();
  browser.check();
  await page.close();
});
