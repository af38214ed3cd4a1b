// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { accessible, Agent, Browser, until } from './harness.mjs';

let agent, browser;
const data = mkdtempSync(join(tmpdir(), 'reeve-access-'));
before(async () => {
  agent = await Agent.start({ flags: ['-server', '-client', '-bootstrap', '-data-dir', data] });
  browser = await Browser.start();
});
after(async () => {
  await browser?.stop();
  await agent?.stop();
  rmSync(data, { recursive: true, force: true });
});

test('a policy is stored, a token with it is made and shows its secret once, and both are deleted', async () => {
  const page = await browser.open(`${agent.base}/ui/access/policies`);
  await page.getByText('No policy yet').waitFor();
  await page.getByRole('button', { name: 'New policy' }).click();
  let dialog = page.getByRole('dialog', { name: 'New policy' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('readers');
  await dialog.getByRole('textbox', { name: 'Rules' }).fill('namespace "default" { policy = "raed" }');
  await dialog.getByRole('button', { name: 'New policy', exact: true }).click();
  await dialog.getByRole('alert').getByText(/raed/).waitFor(); // and nothing changed
  assert.deepEqual(await agent.ask('GET', '/v1/acl/policies'), []);
  await dialog.getByRole('textbox', { name: 'Rules' }).fill('namespace "default" { policy = "read" }');
  await dialog.getByRole('button', { name: 'Try again', exact: true }).click();
  await page.getByRole('row', { name: /readers/ }).waitFor();
  await accessible(page);

  await page.getByRole('link', { name: 'Tokens' }).click();
  await page.getByRole('button', { name: 'New token' }).click();
  dialog = page.getByRole('dialog', { name: 'New token' });
  await dialog.getByRole('textbox', { name: /^Name/ }).fill('ana');
  await dialog.getByRole('textbox', { name: 'Policies' }).fill('readers');
  await dialog.getByText('reeve acl token create -name ana -policy readers').waitFor();
  await dialog.getByRole('button', { name: 'New token', exact: true }).click();
  const shown = page.getByRole('status').filter({ hasText: 'The secret of ana is shown once' });
  const secret = (await shown.locator('code').textContent()).trim();
  assert.equal((await agent.ask('GET', '/v1/acl/token/self', undefined, secret)).Name, 'ana');
  await page.getByRole('button', { name: 'I have stored it' }).click();
  assert.ok(!(await page.content()).includes(secret), 'the secret is still in the page');
  const row = page.getByRole('row', { name: /ana.*client.*readers/ });
  await row.waitFor();
  await accessible(page);

  // A token of another person appears by itself.
  await agent.ask('PUT', '/v1/acl/token', { Name: 'bob', Type: 'client', Policies: ['readers'] });
  await page.getByRole('row', { name: /bob/ }).waitFor();

  await row.click();
  await page.getByRole('button', { name: 'Delete token' }).click();
  dialog = page.getByRole('dialog', { name: 'Delete token' });
  await dialog.getByText('loses all rights at once').waitFor();
  await dialog.getByRole('button', { name: 'Delete token', exact: true }).click();
  await row.waitFor({ state: 'detached' });
  await assert.rejects(agent.ask('GET', '/v1/acl/token/self', undefined, secret), /40[13]/);
  assert.deepEqual(browser.faults.filter((f) => !/ 400 /.test(f) && !/status of 400/.test(f)), []);
  await page.close();
});

test('the audit shows who was refused', async () => {
  const { SecretID } = await agent.ask('PUT', '/v1/acl/token', { Name: 'eve', Type: 'client', Policies: ['readers'] });
  await assert.rejects(agent.ask('PUT', '/v1/namespace', { Name: 'owned' }, SecretID), /403/);
  const page = await browser.open(`${agent.base}/ui/access/audit`);
  await page.getByLabel('Only refused requests').check();
  await page.getByRole('row', { name: /eve.*PUT \/v1\/namespace.*403/ }).waitFor();
  await accessible(page);
  browser.check();
  await page.close();
});
