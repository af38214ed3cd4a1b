// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
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

test('a job is planned and run from its text, which survives an error', async () => {
  const page = await browser.open(`${agent.base}/ui/jobs`);
  await page.getByText('No job is registered yet').waitFor();
  await accessible(page);
  await page.getByRole('link', { name: /Run a job/ }).click();
  const text = page.getByRole('textbox', { name: /^Job/ });
  const wrong = agent.example('hello-world.hcl').replace('count', 'cuont');
  assert.match(wrong, /cuont/, 'the example has a count');
  await text.fill(wrong);
  await page.getByRole('button', { name: 'Plan' }).click();
  await page.getByRole('alert').getByText(/job:\d+:\d+: .*"cuont"; did you mean "count"\?/).waitFor();
  assert.equal(await text.inputValue(), wrong);
  await text.fill(agent.example('hello-world.hcl'));
  await page.getByRole('button', { name: 'Plan' }).click();
  await page.getByText('group "hello"').waitFor();
  await accessible(page);
  await page.getByRole('button', { name: 'Run' }).click();
  await until('the job is registered with its text', async () => (await agent.ask('GET', '/v1/job/hello-world/submission')).Source === agent.example('hello-world.hcl'));
  await until('the page of the job is open', () => page.url().endsWith('/ui/job/hello-world'));
  browser.check();
  await page.close();
});

test('rows follow their jobs, children fold, and several jobs stop at once', async () => {
  const page = await browser.open(`${agent.base}/ui/jobs`);
  await page.getByRole('row', { name: /hello-world.*3 of 3/ }).waitFor();
  await agent.run(agent.example('periodic.hcl'));
  const row = page.getByRole('row', { name: /periodic.*starts by its schedule/ });
  await row.waitFor();
  await agent.ask('PUT', '/v1/job/periodic/periodic/force', {});
  await row.getByRole('button', { name: /1 run/ }).click();
  await page.getByRole('row', { name: /periodic\/periodic-/ }).waitFor();
  await accessible(page);
  await page.getByRole('row', { name: /hello-world/ }).getByRole('checkbox').check();
  await row.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Stop 2 jobs' }).click();
  await page.getByText('reeve job stop hello-world periodic').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop 2 jobs' }).click();
  await page.getByRole('row', { name: /hello-world stopped/ }).waitFor();
  browser.check();
  await page.close();
});

test('the traffic of a row follows the readiness of its instances', async () => {
  const page = await browser.open(`${agent.base}/ui/jobs?filter=health`);
  const busy = `${agent.dir}/busy`;
  await agent.run(agent.example('health.hcl').replaceAll('../alloc/data/busy', busy));
  const row = page.getByRole('row', { name: /health/ });
  const cells = async () => (await row.getByRole('gridcell').allTextContents()).slice(1, 4).join(' | ');
  await until('the instance gets traffic', async () => (await cells()) === 'up | 1 of 1 | 1');
  writeFileSync(busy, '');
  await until('it is up, and gets none', async () => (await cells()) === '1 instance without traffic | 1 of 1 | 0');
  rmSync(busy);
  await until('it gets traffic again', async () => (await cells()) === 'up | 1 of 1 | 1');
  browser.check();
  await page.close();
});

test('a token without the right to register may plan, and is told what it lacks', async () => {
  const page = await browser.context.newPage();
  await page.addInitScript(() => {
    const Real = globalThis.SharedWorker;
    // The worker's answer about the login is replaced: what the servers refuse is tested with them.
    globalThis.SharedWorker = function (...a) {
      const w = new Real(...a);
      let take;
      Object.defineProperty(w.port, 'onmessage', { set: (f) => (take = f), get: () => take });
      w.port.addEventListener('message', (e) => {
        const m = e.data;
        if (m.is === 'login') m.login.rights = { Management: false, Cluster: [], Namespaces: { default: ['list-jobs', 'read-job', 'plan-job'] } };
        take({ data: m });
      });
      return w;
    };
  });
  await page.goto(`${agent.base}/ui/jobs/run`);
  await page.getByText('Your token lacks the capability submit-job in namespace default.').first().waitFor();
  await page.getByRole('textbox', { name: /^Job/ }).fill(agent.example('hello-world.hcl'));
  await page.getByRole('button', { name: 'Plan' }).click();
  await page.getByRole('button', { name: 'Run' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Run' }).getAttribute('aria-disabled'), 'true');
  browser.check();
  await page.close();
});
