// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { jobFile } from '../truth/changes.mjs';
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

test('without jobs the page names the command that runs one', async () => {
  const page = await browser.open(`${agent.base}/ui/instances`);
  await page.getByText('reeve job run examples/web.hcl').waitFor();
  await accessible(page);
  browser.check();
  await page.close();
});

test('rows follow the instances, and equal those of the API', async () => {
  const page = await browser.open(`${agent.base}/ui/instances`);
  await page.getByText('No job runs here yet').waitFor();
  await agent.run(agent.example('hello-world.hcl'));
  await page.getByRole('row', { name: /world-1.*running, traffic/ }).waitFor();
  await until('every row equals the API', async () => {
    const rows = await page.locator('.grid-row').evaluateAll((all) => all.map((r) => `${r.children[0].querySelector('a, span').textContent} ${r.children[2].textContent}`));
    const api = await agent.ask('GET', '/v1/instances?namespace=*');
    assert.deepEqual(rows.sort(), api.map((i) => `${i.Name} ${i.State.toLowerCase()}${i.Routable ? ', traffic' : ', no traffic'}`).sort());
    return true;
  });
  await accessible(page);
  browser.check();
  await page.close();
});

test('an instance is replaced by the keyboard, after its consequence is read', async () => {
  const page = await browser.open(`${agent.base}/ui/instances?filter=hello-0`);
  const row = page.getByRole('row', { name: /hello-0/ });
  await row.waitFor();
  const before = await row.getByRole('link').first().getAttribute('href');
  await page.keyboard.press('j');
  await page.keyboard.press('.');
  await page.getByRole('option', { name: /Replace/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Replace' });
  await dialog.getByText('A new allocation takes its place').waitFor();
  await dialog.getByLabel('Reason (optional)').fill('moved by a test');
  await dialog.getByText("reeve instance replace -reason 'moved by a test' hello-world hello-0").waitFor();
  await dialog.getByRole('button', { name: 'Replace', exact: true }).click();
  await until('another allocation holds the instance', async () => {
    const links = await page.getByRole('row', { name: /hello-0.*running/ }).getByRole('link').evaluateAll((all) => all.map((a) => a.getAttribute('href')));
    return links.length > 0 && !links.includes(before);
  });
  browser.check();
  await page.close();
});

test('an instance and its canary are two rows, also when neither has a place', async () => {
  await agent.run(jobFile('wide', 'default', { count: 2, version: 1, cpu: 20, behaviour: 0 }));
  await until('both run', async () => (await agent.ask('GET', '/v1/instances?job=wide')).filter((i) => i.State === 'RUNNING').length === 2);
  const [node] = await agent.ask('GET', '/v1/nodes');
  await agent.ask('PUT', `/v1/node/${node.ID}/eligibility`, { Eligibility: 'ineligible' });
  const lists = [await browser.open(`${agent.base}/ui/instances?filter=wide`), await browser.open(`${agent.base}/ui/job/wide/instances`)];
  await agent.ask('DELETE', '/v1/job/wide/instance/web-0');
  await agent.run(jobFile('wide', 'default', { count: 2, version: 2, cpu: 20, behaviour: 0, held: true }));
  for (const page of lists) {
    await page.getByRole('row', { name: /web-0 canary.*no place: waits for room/ }).waitFor();
    await page.getByRole('row', { name: /web-0 wide.*no place: waits for room/ }).waitFor();
    await page.getByRole('row', { name: /web-1 wide.*running/ }).waitFor();
    await page.close();
  }
  const page = await browser.open(`${agent.base}/ui/job/wide`);
  await page.getByRole('link', { name: /^web-0, canary, version 1: no place/ }).waitFor();
  await page.getByRole('link', { name: /^web-0, version 1: no place/ }).waitFor();
  await page.close();
  await agent.ask('PUT', `/v1/node/${node.ID}/eligibility`, { Eligibility: 'eligible' });
  await agent.ask('DELETE', '/v1/job/wide?purge=true');
  browser.check();
});

test('words and expressions filter, and an invalid expression says where it is wrong', async () => {
  const page = await browser.open(`${agent.base}/ui/instances?filter=world-`);
  await page.getByText('2 instances of').waitFor();
  const input = page.getByRole('combobox', { name: 'Filter instances' });
  await input.fill('Group == "hello"');
  await page.getByText('1 instance', { exact: true }).waitFor();
  assert.match(page.url(), /filter=Group/);
  await input.fill('Group ==');
  await page.getByRole('alert').waitFor();
  browser.check();
  await page.close();
});

test('an agent that is away is told, and the page goes on when it is back', async () => {
  const own = await Agent.start({ flags: ['-dev', '-data-dir', `${agent.dir}/kept`] });
  try {
    const page = await browser.open(`${own.base}/ui/instances`);
    await page.getByText('Live, index').waitFor();
    await own.kill();
    await page.getByRole('alert').getByText('No server since').waitFor();
    own.start();
    await page.getByText('Live, index').waitFor();
    await until('the node is ready again', async () => (await own.ask('GET', '/v1/nodes')).some((n) => n.Status === 'ready'));
    await own.run(own.example('hello-world.hcl'));
    await page.getByRole('row', { name: /hello-0.*running/ }).waitFor();
    browser.check();
    await page.close();
  } finally {
    await own.stop();
  }
});

test('the code of a page that did not load is loaded when a server gives it', async () => {
  const page = await browser.open('about:blank');
  const refused = [];
  await page.route('**/ui/assets/instances.js', async (route) => {
    if (refused.push(route.request().url()) > 2) return route.continue();
    await route.abort('connectionrefused');
  });
  await page.goto(`${agent.base}/ui/instances`);
  await page.getByRole('alert').getByText('No server answers.').waitFor();
  await page.getByRole('heading', { name: 'Instances' }).waitFor();
  assert.equal(refused.length, 3);
  await page.close();
});
