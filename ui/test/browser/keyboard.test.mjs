// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The walk of an operator without a mouse, and the names that a screen reader says on the way.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, Browser, until } from './harness.mjs';

let agent, browser;
before(async () => {
  agent = await Agent.start();
  browser = await Browser.start();
  // A busy machine needs longer than the example's deadlines; its web writes a log here.
  await agent.run(
    agent
      .example('plans.hcl')
      .replace('"4s"', '"60s"')
      .replace('"8s"', '"120s"')
      .replace('cat $NOMAD_ALLOC_DIR/data/ledger && exec sleep', 'cat $NOMAD_ALLOC_DIR/data/ledger; echo the store is open; exec sleep'),
  );
});
after(async () => {
  await browser?.stop();
  await agent?.stop();
});

/** focused is the text, or else the value, of what has the focus. */
const focused = (page) => page.evaluate(() => document.activeElement?.textContent || document.activeElement?.value || '');

/** tabTo presses Tab until what has the focus says so: a person without a mouse must get there. */
async function tabTo(page, what, limit = 60) {
  for (let i = 0; i < limit; i++) {
    if (what.test(await focused(page))) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${limit} times Tab do not reach ${what}; the focus is on ${JSON.stringify((await focused(page)).slice(0, 80))}`);
}

test('by the keyboard alone: find a job, read why it is stuck, continue its canary, read a log, run a command', async () => {
  const page = await browser.open(`${agent.base}/ui/`);
  await page.getByText('Live, index').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /Search jobs/ }).and(page.locator(':focus')).waitFor();
  await page.keyboard.type('shop');
  await page.getByRole('option', { name: /shop.*job/, selected: true }).waitFor();
  await page.keyboard.press('Enter');

  // Why it is stuck: the tree of its plan says so.
  await page.getByRole('heading', { name: /Version 0 of web is ready to start/ }).waitFor();
  await page.keyboard.press('j');
  await until('the tree has the focus', async () => (await focused(page)).includes('store'));
  await page.keyboard.type('web-1');
  await until('typing finds the step', async () => /^web-1/.test((await focused(page)).trim()));
  assert.match(await focused(page), /canary: waits for continue/);
  await page.keyboard.press('ArrowLeft');

  await page.keyboard.press('c');
  await page.getByRole('heading', { name: /web-0 of version 0 is up and healthy/ }).waitFor();
  await page.keyboard.press('c');
  await page.getByText('5 of 5 instances get traffic').first().waitFor();

  // A log: the job's tab has those of its instances.
  await page.keyboard.press('l');
  await page.waitForURL('**/ui/job/shop/logs*');
  await page.getByRole('region', { name: 'Log' }).getByText('made for instance 0').waitFor();

  // A command: from the list of instances to one of them.
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.getByRole('row', { name: /store-0/ }).waitFor();
  await page.keyboard.press('/');
  await page.getByRole('combobox', { name: 'Filter instances' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.type('store-1');
  await page.getByText('1 instance of 5').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await until('the row has the focus', async () => /store-/.test(await focused(page)));
  await page.keyboard.press('Enter');
  await page.waitForURL('**/ui/allocation/*');
  await page.getByRole('navigation', { name: 'Views of the allocation' }).waitFor();
  await page.keyboard.press('x');
  await page.getByRole('textbox', { name: 'Command' }).waitFor();
  await tabTo(page, /^\/bin\/sh$/);
  await page.keyboard.press('Enter');
  await page.locator('.xterm-helper-textarea:focus').waitFor({ state: 'attached' });
  await page.keyboard.type('echo $((6*7))-answers\n');
  await page.locator('.xterm-rows').getByText('42-answers').waitFor();
  await page.keyboard.press('Shift+Escape');
  await until('the terminal is left', async () => /End session/.test(await focused(page)));
  await page.keyboard.press('Enter');
  await page.getByText('You ended the session.').waitFor();
  browser.check();
  await page.close();
});

/** spoken is the accessibility tree as lines "role: name", in the order of a screen reader. */
async function spoken(page) {
  const cdp = await page.context().newCDPSession(page);
  const { nodes } = await cdp.send('Accessibility.getFullAXTree');
  const byID = new Map(nodes.map((n) => [n.nodeId, n]));
  const lines = [];
  const visit = (n) => {
    const role = n.role?.value;
    if (!n.ignored && role !== 'InlineTextBox') lines.push({ role, name: (n.name?.value ?? '').trim() });
    for (const id of n.childIds ?? []) if (byID.has(id)) visit(byID.get(id));
  };
  visit(nodes[0]);
  await cdp.detach();
  return lines;
}

test('a screen reader hears a name for every control of the job page, and its state once', async () => {
  const page = await browser.open(`${agent.base}/ui/job/shop?plan=deploy`);
  await page.getByRole('tree', { name: 'Plan deploy' }).waitFor();
  const lines = await spoken(page);
  if (process.env.AX) console.log(lines.map((l) => `${l.role}: ${l.name}`).join('\n'));
  const controls = ['button', 'link', 'textbox', 'combobox', 'checkbox', 'tab', 'treeitem', 'tree', 'img', 'image', 'navigation', 'region'];
  assert.deepEqual(lines.filter((l) => controls.includes(l.role) && l.name === ''), []);
  const has = (role, name) => assert.ok(lines.some((l) => l.role === role && (typeof name === 'string' ? l.name === name : name.test(l.name))), `${role} ${name}\n${lines.filter((l) => l.role === role).map((l) => l.name).join('\n')}`);
  has('navigation', 'Sections');
  has('navigation', 'Breadcrumb');
  has('navigation', 'Job');
  has('heading', /^shop/);
  has('button', /^Restart/);
  has('link', /^store-0, version 0: running/);
  has('treeitem', /^store serial.*COMPLETE 4\/4$/);
  has('treeitem', /^web serial-canary.*COMPLETE 3\/3$/);
  browser.check();
  await page.close();
});
