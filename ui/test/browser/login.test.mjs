// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, Browser, until } from './harness.mjs';

let agent, browser, secret;
before(async () => {
  // The founder of a cluster. Its port serves callers of this machine without TLS.
  agent = await Agent.start({ flags: ['-server', '-client', '-bootstrap', '-data-dir', `/tmp/reeve-ui-${process.pid}`] });
  browser = await Browser.start();
  await agent.ask('PUT', '/v1/acl/policy/readers', { Name: 'readers', Rules: 'namespace "default" { policy = "read" }\nnode { policy = "read" }' });
  ({ SecretID: secret } = await agent.ask('PUT', '/v1/acl/token', { Name: 'ana', Type: 'client', Policies: ['readers'] }));
});
after(async () => {
  await browser?.stop();
  await agent?.stop();
});

async function logIn(page, token) {
  await page.goto(`${agent.base}/ui/login`);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
}

test('a login survives the reload of the only tab, and leaves the token nowhere', async () => {
  const page = await browser.open(`${agent.base}/ui/`);
  await logIn(page, secret);
  await page.waitForURL(`${agent.base}/ui/`);
  await page.goto(`${agent.base}/ui/settings`);
  await page.getByText('web UI of ana').waitFor();
  await page.reload();
  await page.getByText('web UI of ana').waitFor();
  const stored = await page.evaluate(async () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, await indexedDB.databases(), await caches.keys()]));
  assert.ok(!stored.includes('reeve-user'), stored);
  assert.ok(!(await page.content()).includes(secret));
  browser.check();
  await page.close();
});

test('another tab has the login, and a logout ends it in both', async () => {
  const first = await browser.open(`${agent.base}/ui/settings`);
  await first.getByText('web UI of ana').waitFor();
  const second = await browser.open(`${agent.base}/ui/settings`);
  await second.getByText('web UI of ana').waitFor();
  await second.getByRole('button', { name: 'Log out' }).click();
  for (const page of [first, second]) await page.getByText('none is needed from this machine').waitFor();
  browser.check();
  await first.close();
  await second.close();
});

test('what a token may not do is disabled, and names the capability', async () => {
  await agent.run(agent.example('hello-world.hcl'));
  const page = await browser.open(`${agent.base}/ui/`);
  await logIn(page, secret);
  await page.waitForURL(`${agent.base}/ui/`);
  await page.goto(`${agent.base}/ui/variables`);
  const button = page.getByRole('button', { name: 'New variable…' });
  await button.waitFor();
  assert.equal(await button.getAttribute('aria-disabled'), 'true');
  assert.match(await button.getAttribute('title'), /lacks the capability variables:write in namespace default/);
  await button.click({ force: true });
  assert.equal(await page.getByRole('dialog').count(), 0);
  await page.goto(`${agent.base}/ui/cluster`);
  await page.getByText('operator:read').first().waitFor();
  await page.goto(`${agent.base}/ui/instances`);
  await page.getByRole('row', { name: /hello-0.*running/ }).waitFor();
  browser.check();
  await page.close();
});

test('a deleted token ends the session, which the page says', async () => {
  const { SecretID, AccessorID } = await agent.ask('PUT', '/v1/acl/token', { Name: 'ben', Type: 'client', Policies: ['readers'] });
  const page = await browser.open(`${agent.base}/ui/`);
  await logIn(page, SecretID);
  await page.waitForURL(`${agent.base}/ui/`);
  await page.goto(`${agent.base}/ui/settings`);
  await page.getByText('web UI of ben').waitFor();
  await agent.ask('DELETE', `/v1/acl/token/${AccessorID}`);
  await until('the page says so', async () => {
    await page.goto(`${agent.base}/ui/settings`);
    await page.getByText('none is needed from this machine').waitFor({ timeout: 5_000 });
    return true;
  });
  browser.check();
  await page.close();
});

test('a wrong token is refused in place', async () => {
  const page = await browser.open(`${agent.base}/ui/login`);
  await logIn(page, 'guess');
  await page.getByRole('alert').waitFor();
  assert.match(page.url(), /\/ui\/login/);
  browser.check();
  await page.close();
});

test('a code in the address is traded once, and leaves the address', async () => {
  const { Code } = await agent.ask('PUT', '/v1/ui/code', {}, secret);
  const page = await browser.open(`${agent.base}/ui/settings#code=${Code}`);
  await page.getByText('web UI of ana').waitFor();
  assert.ok(!page.url().includes(Code), page.url());
  browser.check();
  await page.close();
});

test('variables are revealed by intent, changed with their index, and deleted by name', async () => {
  const page = await browser.open(`${agent.base}/ui/settings`);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByText('none is needed from this machine').waitFor();
  await page.goto(`${agent.base}/ui/variables`);
  await page.getByRole('button', { name: 'New variable…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Path' }).fill('app/db');
  await dialog.getByRole('textbox', { name: 'Items' }).fill('no equals sign');
  await dialog.getByRole('button', { name: 'New variable', exact: true }).click();
  await dialog.getByText('Line 1 has no key').waitFor();
  await dialog.getByRole('textbox', { name: 'Items' }).fill('password=hunter2');
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('link', { name: 'app/db' }).click();
  await page.getByText('hidden', { exact: true }).waitFor();
  assert.ok(!(await page.content()).includes('hunter2'));
  await page.getByRole('button', { name: 'Reveal the values' }).click();
  await page.getByText('hunter2').waitFor();
  await page.getByRole('button', { name: 'Change…' }).click();
  await dialog.getByRole('textbox', { name: 'Items' }).fill('password=correct horse');
  await dialog.getByRole('button', { name: 'Change', exact: true }).click();
  await until('the servers have the new value', async () => (await agent.ask('GET', '/v1/var/app/db')).Items.password === 'correct horse');
  // The page has seen the change, and hides the values again: a deletion before would be refused as stale.
  await page.getByText('hidden', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await dialog.getByRole('textbox', { name: /^Type app/ }).fill('app/db');
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('No variable has this path').waitFor();
  browser.check();
  await page.close();
});
