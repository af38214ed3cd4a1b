// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, Agent, Browser, until } from './harness.mjs';

let agent, browser;
before(async () => {
  agent = await Agent.start();
  browser = await Browser.start();
  // A busy machine needs longer than the example's deadlines.
  await agent.run(agent.example('plans.hcl').replace('"4s"', '"60s"').replace('"8s"', '"120s"'));
  await agent.run(agent.example('blocked.hcl'));
  await agent.run('# <img src=x onerror="globalThis.bad=1"> \u202e\njob "odd" {\n  type = "batch"\n  meta { x = "<script>globalThis.bad=1</script>" }\n  group "g" {\n    count = 0\n    task "t" {\n      driver = "raw_exec"\n      config { command = "/bin/true" }\n    }\n  }\n}\n');
});
after(async () => {
  await browser?.stop();
  await agent?.stop();
});

test('by the keyboard alone a canary is found, read and continued', async () => {
  const page = await browser.open(`${agent.base}/ui/settings`);
  await page.getByText('Live, index').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /Search jobs/ }).and(page.locator(':focus')).waitFor();
  await page.keyboard.type('shop');
  await page.getByRole('option', { name: /shop.*job/, selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /Version 0 of web is ready to start/ }).waitFor();
  await page.getByText('Service, version 0 rolls out').waitFor();
  // The tree says why: the arrows and the first letters of a name lead to the step.
  await page.keyboard.press('j');
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
  await until('the tree has the focus', async () => (await focused()).includes('store'));
  await page.keyboard.type('web-1');
  await until('typing finds the step', async () => /^web-1/.test((await focused()).trim()));
  assert.match(await focused(), /canary: waits for continue/);
  await page.keyboard.press('ArrowLeft');
  await until('the phase is its parent', async () => /^web /.test((await focused()).trim()));
  await page.keyboard.press('ArrowLeft');
  await page.getByRole('treeitem', { name: /web serial-canary/, expanded: false }).waitFor();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('c');
  await page.getByRole('heading', { name: /web-0 of version 0 is up and healthy/ }).waitFor({ timeout: 30_000 });
  await page.getByText('reeve plan continue shop deploy web').first().waitFor();
  await accessible(page);
  await page.keyboard.press('c');
  await page.getByText('5 of 5 instances get traffic').first().waitFor({ timeout: 30_000 });
  await page.getByText(': continue deploy web').first().waitFor();
  browser.check();
  await page.close();
});

test('a job without a place says why, and leads to the explanation', async () => {
  const page = await browser.open(`${agent.base}/ui/job/blocked`);
  await page.getByText('no node can take it').first().waitFor();
  await page.getByRole('link', { name: 'Explain train' }).click();
  await page.getByText('None of 1 node can take another instance.').waitFor();
  await page.getByRole('button', { name: 'Ask again' }).click();
  await accessible(page);
  browser.check();
  await page.close();
});

test('a verb asks, scales the job, and versions show the change with who reverts it', async () => {
  const page = await browser.open(`${agent.base}/ui/job/blocked`);
  await page.getByRole('button', { name: 'Scale…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Scale' });
  await dialog.getByLabel('Count').fill('2');
  await dialog.getByText('reeve job scale -detach blocked 2').waitFor();
  await dialog.getByRole('button', { name: 'Scale', exact: true }).click();
  await page.getByText('0 of 2 instances get traffic').first().waitFor();
  await page.getByRole('navigation', { name: 'Job' }).getByRole('link', { name: 'Versions 2' }).click();
  await page.getByRole('list', { name: 'Changes of version 1' }).getByText('Count').waitFor();
  await page.getByRole('button', { name: 'Revert to 0…' }).last().waitFor();
  await accessible(page);
  browser.check();
  await page.close();
});

test('the text of a job stays text, and JSON is its second view', async () => {
  const page = await browser.open(`${agent.base}/ui/job/odd/definition`);
  await page.getByText('<img src=x onerror').waitFor();
  await page.getByRole('button', { name: 'JSON' }).click();
  await page.getByText('<script>globalThis.bad=1</script>').waitFor();
  assert.match(page.url(), /view=json/);
  assert.equal(await page.evaluate(() => globalThis.bad), undefined);
  await accessible(page);
  await page.goto(`${agent.base}/ui/job/odd/history`);
  await page.getByText('job-register: complete').first().waitFor();
  await accessible(page);
  browser.check();
  await page.close();
});

test('a purge wants the name, and the purged job stays visible, struck through', async () => {
  const page = await browser.open(`${agent.base}/ui/job/odd`);
  await page.getByText('This job has no instance now.').waitFor();
  await page.getByRole('button', { name: 'Purge…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Purge' });
  const purge = dialog.getByRole('button', { name: 'Purge', exact: true });
  assert.equal(await purge.getAttribute('aria-disabled'), 'true');
  await dialog.getByLabel('Type odd to confirm').fill('odd');
  await purge.click();
  await page.getByText('This job was purged at').waitFor();
  assert.ok((await page.locator('s').count()) > 0);
  await accessible(page);
  await page.goto(`${agent.base}/ui/job/odd`);
  await page.getByText('has no such job, or it was purged').waitFor();
  await page.setViewportSize({ width: 320, height: 700 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 320), 'reflows at 320 px');
  await page.goto(`${agent.base}/ui/job/shop`);
  await page.getByText('Other plans').waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 320), 'the job page reflows at 320 px');
  browser.check();
  await page.close();
});
