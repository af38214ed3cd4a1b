// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The logs of a job: all instances in one stream.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, Browser, until } from './harness.mjs';

const job = `
job "chorus" {
  group "voice" {
    count = 5
    task "sing" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "echo '<b>verse</b> of' $NOMAD_ALLOC_INDEX; echo cough of $NOMAD_ALLOC_INDEX >&2; sleep 1000"]
      }
      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}`;

let agent, browser;
before(async () => {
  agent = await Agent.start();
  browser = await Browser.start();
});
after(async () => {
  await browser?.stop();
  await agent?.stop();
});

test('all instances are in one stream, new ones join, and a line leads to its file', async () => {
  await agent.run(job);
  const page = await browser.open(`${agent.base}/ui/job/chorus/logs`);
  const log = page.getByLabel('Log', { exact: true });
  for (const n of [0, 1, 2, 3, 4]) {
    await log.getByText(`<b>verse</b> of ${n}`).waitFor({ timeout: 60_000 });
    await log.getByText(`cough of ${n}`).waitFor();
  }
  await log.getByText('voice-3').first().waitFor();

  await agent.ask('PUT', '/v1/job/chorus/scale', { Target: { Group: 'voice' }, Count: 6 });
  await log.getByText('<b>verse</b> of 5').waitFor({ timeout: 60_000 });

  await page.getByLabel('Output').selectOption('stderr');
  await log.getByText('cough of 5').waitFor();
  await until('only stderr', async () => (await log.getByText('verse').count()) === 0);

  await log.getByText('cough of 4').click();
  await page.getByRole('button', { name: 'Link to this line' }).click();
  await page.waitForURL(/\/ui\/allocation\/.*at=sing\.stderr\.0/);
  await page.getByText('cough of 4').first().waitFor();
  browser.check();
  await page.close();
});

test('a job without a log, and one that does not exist, say so', async () => {
  await agent.run(job.replace('"chorus"', '"silent"').replace('count = 5', 'count = 0'));
  const page = await browser.open(`${agent.base}/ui/job/silent/logs`);
  await page.getByText('0 lines').waitFor();
  await page.goto(`${agent.base}/ui/job/none/logs`);
  await page.getByText(/not found|no job/i).first().waitFor();
  assert.equal(await page.locator('[aria-busy=true]').count(), 0);
  await page.close();
});

test('more logs at once than a browser can follow are refused with words, until one is closed', async () => {
  const pages = [];
  for (let n = 0; n < 3; n++) {
    const page = await browser.open(`${agent.base}/ui/job/chorus/logs`);
    await page.getByLabel('Log', { exact: true }).getByText('<b>verse</b> of 0').waitFor();
    pages.push(page);
  }
  const fourth = await browser.open(`${agent.base}/ui/job/chorus/logs`);
  await fourth.getByRole('alert').getByText('A browser allows few connections').waitFor();
  await fourth.goto(`${agent.base}/ui/jobs`); // other pages do not wait for a connection
  await fourth.getByRole('link', { name: 'chorus' }).first().waitFor();
  await fourth.goto(`${agent.base}/ui/job/chorus/logs`);
  await fourth.getByRole('alert').waitFor();
  await pages.pop().close();
  await until('the log is shown', async () => {
    const again = fourth.getByRole('button', { name: 'Try again' });
    if (await again.isVisible()) await again.click();
    return (await fourth.getByLabel('Log', { exact: true }).getByText('<b>verse</b> of 0').count()) > 0;
  });
  browser.check();
  for (const page of [...pages, fourth]) await page.close();
});
