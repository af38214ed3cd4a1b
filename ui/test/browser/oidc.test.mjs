// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, Browser } from './harness.mjs';
import { Provider } from './idp.mjs';

let agent, browser, provider;
before(async () => {
  agent = await Agent.start({ flags: ['-server', '-client', '-bootstrap', '-data-dir', `/tmp/reeve-ui-oidc-${process.pid}`] });
  provider = await Provider.start();
  browser = await Browser.start({ ignoreHTTPSErrors: true }); // the certificate of the provider
  await agent.ask('PUT', '/v1/acl/policy/readers', { Name: 'readers', Rules: 'namespace "default" { policy = "read" }' });
  await agent.ask('PUT', '/v1/acl/auth-method', provider.method('sso', `${agent.base}/ui/oidc/callback`));
  await agent.ask('PUT', '/v1/acl/binding-rule', { AuthMethod: 'sso', Selector: 'value.user == "ana"', BindType: 'policy', BindName: 'readers' });
});
after(async () => {
  await browser?.stop();
  provider?.stop();
  await agent?.stop();
});

const begin = async (page) => {
  await page.goto(`${agent.base}/ui/login`);
  await page.getByRole('button', { name: 'Log in with sso' }).click();
};

test('a login at an identity provider survives the redirect and a reload, and stores no token', async () => {
  const page = await browser.open(`${agent.base}/ui/login`);
  const sent = [];
  page.on('request', (r) => {
    if (r.url().startsWith(`${provider.url}/authorize`)) sent.push(r.url());
  });
  await begin(page);
  await page.waitForURL(`${agent.base}/ui/`);
  assert.equal(sent.length, 1);
  await page.goto(`${agent.base}/ui/settings`);
  await page.getByText('web UI of ana').waitFor();
  await page.reload();
  await page.getByText('web UI of ana').waitFor();
  const stored = await page.evaluate(async () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, await indexedDB.databases(), await caches.keys()]));
  for (const word of ['reeve-', 'code', 'nonce', 'oidc']) assert.ok(!stored.includes(word), `${word} is in ${stored}`);
  browser.check();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByText('none is needed from this machine').waitFor();
  await page.close();
});

test('an answer of the provider works once, and only in the tab that asked', async () => {
  const page = await browser.open(`${agent.base}/ui/login`);
  const asked = [];
  page.on('request', (r) => {
    if (r.url().includes('/ui/oidc/callback')) asked.push(r.url());
  });
  await begin(page);
  await page.waitForURL(`${agent.base}/ui/`);
  await page.goto(asked[0]);
  await page.getByRole('alert').getByText('was not begun in this tab').waitFor();
  const other = await browser.open(asked[0]);
  await other.getByRole('alert').getByText('was not begun in this tab').waitFor();
  browser.check();
  await other.close();
  await page.close();
});

test('a refusal of the provider is text, and the page says how to go on', async () => {
  const page = await browser.open(`${agent.base}/ui/login`);
  provider.declines = true;
  await begin(page);
  const alert = page.getByRole('alert');
  await alert.getByText('The user declined <b>this</b> login.').waitFor();
  assert.equal(await alert.locator('b', { hasText: 'this' }).count(), 0);
  provider.declines = false;
  await page.getByRole('button', { name: 'Log in with sso' }).click();
  await page.waitForURL(`${agent.base}/ui/`);
  browser.check();
  await page.close();
});

test('a user without rights is told so', async () => {
  const page = await browser.open(`${agent.base}/ui/login`);
  provider.user = { sub: 'eve' };
  await begin(page);
  await page.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').innerText(), /none of its binding rules gives you a role/);
  assert.match(page.url(), /\/ui\/(login|oidc)/);
  provider.user = { sub: 'ana' };
  browser.check();
  await page.close();
});

test('a provider that answers no more is named', async () => {
  const page = await browser.open(`${agent.base}/ui/login`);
  provider.away = true;
  await begin(page);
  await page.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').innerText(), /identity provider/);
  provider.away = false;
  browser.check();
  await page.close();
});
