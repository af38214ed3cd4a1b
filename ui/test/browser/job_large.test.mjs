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

test('a plan of 2,000 steps has few rows in the document, and every step is reached by the keyboard', async () => {
  await agent.run(`
job "wide" {
  plan "deploy" {
    phase "g" {
      strategy = "serial-canary"
    }
  }
  group "g" {
    count = 2000
    task "t" {
      driver = "raw_exec"
      config { command = "/bin/true" }
      resources {
        cpu    = 1
        memory = 16
      }
    }
  }
}`);
  const page = await browser.open(`${agent.base}/ui/job/wide`);
  await page.getByRole('tree', { name: 'Plan deploy' }).waitFor();
  await page.getByRole('treeitem', { name: /^g-0:/ }).waitFor();
  const rows = () => page.locator('[role=treeitem]').count();
  assert.ok((await rows()) < 80, `${await rows()} rows`);
  await page.keyboard.press('j');
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
  await until('the phase has the focus', async () => /^g serial-canary/.test(await focused()));
  await page.keyboard.press('End');
  await until('the last step has the focus', async () => (await focused()).startsWith('g-1999:'));
  assert.ok((await rows()) < 80, `${await rows()} rows`);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-setsize')), '2000');
  await page.keyboard.press('Home');
  await until('the first row has the focus', async () => /^g serial-canary/.test(await focused()));
  await page.getByRole('tree').evaluate((el) => el.scrollTo(0, 30_000));
  await page.getByRole('treeitem', { name: /^g-880:/ }).waitFor();
  assert.ok((await rows()) < 80, `${await rows()} rows`);
  await page.keyboard.press('ArrowLeft');
  await until('a closed phase has no steps', async () => (await rows()) === 1);
  await accessible(page);
  browser.check();
  await page.close();
});

test('the tree follows the events of its steps, and equals a fresh read', async () => {
  const page = await browser.context.newPage();
  // Without a shared worker the requests are those of the page, and can be counted.
  await page.addInitScript(() => delete globalThis.SharedWorker);
  const reads = [];
  page.on('request', (r) => r.url().includes('/plan/deploy') && reads.push(r.url()));
  await page.goto(`${agent.base}/ui/job/rolls?plan=deploy`);
  await page.getByText('Live, index').waitFor();
  await agent.run(`
job "rolls" {
  plan "deploy" {
    phase "g" {
      strategy = "serial"
      stagger  = "400ms"
    }
  }
  group "g" {
    count = 16
    update {
      min_healthy_time = "0s"
      health_check     = "task_states"
    }
    task "t" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["1000"]
      }
      resources {
        cpu    = 1
        memory = 16
      }
    }
  }
}`);
  const shown = () => page.locator('[role=treeitem][aria-level="2"]').evaluateAll((all) => all.map((r) => `${r.querySelector('.n').textContent.trim().split(' ')[0]} ${r.querySelector('.s').textContent.trim()}`));
  let equal = 0;
  await until('the plan is complete, and the tree shows it', async () => {
    const fresh = await agent.ask('GET', '/v1/job/rolls/plan/deploy');
    const want = fresh.Phases[0].Steps.map((s) => `${s.Name.split(' ')[0]} ${s.Status}`);
    const got = await shown();
    if (got.join() === want.join()) equal++;
    return fresh.Status === 'COMPLETE' && got.join() === want.join();
  });
  assert.ok(equal > 1, 'the tree was true while the plan went on');
  assert.ok(reads.length <= 6, `the plan was read ${reads.length} times for 16 steps`);
  browser.check();
  await page.close();
});

test('a plan is interrupted with a reason, asks who did it, and goes on', async () => {
  await agent.run(agent.example('plans.hcl'));
  const page = await browser.open(`${agent.base}/ui/job/shop`);
  await page.getByRole('heading', { name: /Version 0 of web is ready to start/ }).waitFor();
  await page.keyboard.press('i');
  const dialog = page.getByRole('dialog', { name: 'Interrupt' });
  await dialog.getByLabel('Reason (optional)').fill('<b>lunch</b>');
  await dialog.getByRole('button', { name: 'Interrupt', exact: true }).click();
  await page.getByRole('heading', { name: 'Plan deploy is interrupted. Continue?' }).waitFor();
  await page.getByText('By an operator: <b>lunch</b>.').waitFor();
  await accessible(page);
  await page.keyboard.press('c');
  await page.getByRole('heading', { name: /Version 0 of web is ready to start/ }).waitFor();
  browser.check();
  await page.close();
});
