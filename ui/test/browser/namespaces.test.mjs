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

test('a namespace is made, limited, changed and deleted', async () => {
  const page = await browser.open(`${agent.base}/ui/namespaces`);
  await page.getByRole('row', { name: /default/ }).waitFor();
  await page.getByRole('button', { name: 'New namespace' }).click();
  const dialog = page.getByRole('dialog', { name: 'New namespace' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('dev');
  await dialog.getByRole('textbox', { name: 'Description' }).fill('for trials');
  await dialog.getByText("reeve namespace apply -description 'for trials' dev").waitFor();
  await dialog.getByRole('button', { name: 'New namespace', exact: true }).click();
  const row = page.getByRole('row', { name: /dev.*for trials/ });
  await row.waitFor();
  // What others do is shown as it happens.
  await agent.ask('PUT', '/v1/quota', { Name: 'small', Limits: [{ Region: 'global', RegionLimit: { Allocations: 4 } }] });
  await agent.ask('PUT', '/v1/namespace', { Name: 'dev', Description: 'for trials', Quota: 'small' });
  await page.getByRole('row', { name: /dev.*small.*for trials/ }).waitFor();
  await page.getByRole('row', { name: /small.*allocations.*0.*4/ }).waitFor();
  await accessible(page);
  await row.getByRole('link', { name: 'dev' }).click();
  await page.getByRole('heading', { name: 'Namespace dev' }).waitFor();
  await page.getByRole('button', { name: 'Delete namespace' }).click();
  const sure = page.getByRole('dialog', { name: 'Delete namespace' });
  const act = sure.getByRole('button', { name: 'Delete namespace', exact: true });
  assert.ok(await act.isDisabled(), 'the name is not typed yet');
  await sure.getByRole('textbox').fill('dev');
  await act.click();
  await row.waitFor({ state: 'detached' });
  assert.deepEqual((await agent.ask('GET', '/v1/namespaces')).map((n) => n.Name), ['default']);
  browser.check();
  await page.close();
});

test('the namespace default cannot be deleted, and the button says so', async () => {
  const page = await browser.open(`${agent.base}/ui/namespaces?name=default`);
  const button = page.getByRole('button', { name: 'Delete namespace' });
  await button.waitFor();
  assert.equal(await button.getAttribute('aria-disabled'), 'true');
  assert.match(await page.locator(`[id="${await button.getAttribute('aria-describedby')}"]`).textContent(), /cannot be deleted/);
  browser.check();
  await page.close();
});
