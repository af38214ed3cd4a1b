// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Pages stay usable at size. 8,000 jobs, 100,000 instances and 10,000 nodes are made up by fake.mjs, and change a
// thousand times per second; the plan of 2,000 steps and the log of 1 GB are those of the real binary.

import { Fake } from './fake.mjs';
import { Agent, Browser, figure, finish, frames, heap, quantile, serve, until } from './bench.mjs';

const agent = await Agent.start();
const fake = await Fake.start({ agent: agent.api, instances: 100_000, jobs: 8_000, nodes: 10_000 });
const served = await serve(fake.base);
const browser = await Browser.start();

/** timed returns how long an action took. */
async function timed(act) {
  const begun = performance.now();
  await act();
  return performance.now() - begun;
}

/** scroll goes from the top to the bottom of a grid for a time, and returns the 95th percentile of its frames. */
async function scroll(page, box = '.grid-rows') {
  const end = await frames(page);
  await page.evaluate(async (box) => {
    const el = document.querySelector(box);
    const begun = performance.now();
    for (let k = 0; performance.now() - begun < 5_000; k++) {
      el.scrollTop = (k * 340) % (el.scrollHeight - el.clientHeight);
      await new Promise((r) => requestAnimationFrame(r));
    }
  }, box);
  return quantile((await end()).frames, 0.95);
}

/** list opens a list, and measures its first rows, all rows, scrolling, a filter, and the heap. */
async function list({ name, path, all, filter, found, heapLimit = 150 }) {
  const page = await browser.context.newPage();
  figure(`${name}: first rows`, await timed(async () => {
    await page.goto(`${served.base}/ui/${path}`);
    await page.locator('.grid-row').first().waitFor();
  }), 2_000);
  figure(`${name}: all rows that are loaded`, await timed(() => page.getByText(all).waitFor()), 10_000);
  figure(`${name}: p95 frame while scrolling`, await scroll(page), 33.4);
  const h = await heap(browser, page);
  figure(`${name}: heap of tab and worker`, h.total, heapLimit, 'MB');
  await page.getByRole('combobox', { name: /^Filter/ }).or(page.getByRole('searchbox', { name: /^Filter/ })).fill(filter);
  figure(`${name}: filtered`, await timed(() => page.getByRole('row', { name: found }).first().waitFor()), 1_000);
  await page.close();
}

async function plan() {
  await until('the node is ready', async () => (await agent.ask('GET', '/v1/nodes')).some((n) => n.Status === 'ready'));
  await agent.run(`
job "wide" {
  plan "deploy" {
    phase "g" { strategy = "serial-canary" }
  }
  group "g" {
    count = 2000
    task "t" {
      driver = "mock"
      config { run_for = "8760h" }
      resources {
        cpu    = 1
        memory = 16
      }
    }
  }
}`);
  const page = await browser.context.newPage();
  figure('plan of 2,000 steps: first rows', await timed(async () => {
    await page.goto(`${agent.base}/ui/job/wide`);
    await page.getByRole('treeitem', { name: /^g-0:/ }).waitFor();
  }), 2_000);
  figure('plan of 2,000 steps: p95 frame while scrolling', await scroll(page, '[role=tree]'), 33.4);
  await page.getByRole('tree').evaluate((el) => el.scrollTo(0, el.scrollHeight));
  figure('plan of 2,000 steps: last step', await timed(() => page.getByRole('treeitem', { name: /^g-1999:/ }).waitFor()), 1_000);
  figure('plan of 2,000 steps: rows in the document', await page.locator('[role=treeitem]').count(), 79, 'rows');
  figure('plan of 2,000 steps: heap of tab and worker', (await heap(browser, page)).total, 150, 'MB');
  await page.close();
  await agent.ask('DELETE', '/v1/job/wide?purge=true');
}

async function log() {
  await agent.run(`
job "gigabyte" {
  type = "batch"
  group "g" {
    ephemeral_disk { size = 2000 }
    task "t" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "seq -f 'line %012.0f of a long log, padded to a hundred bytes ...............................................' 10737418; sleep 3600"]
      }
      logs {
        max_files     = 1
        max_file_size = 1500
      }
      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}`);
  const alloc = await until('the job has an allocation', async () => (await agent.ask('GET', '/v1/job/gigabyte/allocations'))?.[0]?.ID);
  const file = 'alloc/logs/t.stdout.0';
  const size = await until('a log of 1 GB is written', async () => {
    const { Size } = await agent.ask('GET', `/v1/client/fs/stat/${alloc}?path=${file}`);
    return Size >= 1e9 && Size;
  }, 240_000);
  console.log(`     a log of ${size} bytes`);
  const page = await browser.context.newPage();
  const opened = async (name, address) => {
    figure(name, await timed(async () => {
      await page.goto(`${agent.base}/ui/${address}`);
      await page.getByText(/line 0\d{11}/).first().waitFor();
    }), 2_000);
  };
  await opened('log of 1 GB: its end', `allocation/${alloc}/logs`);
  await opened('log of 1 GB: its middle', `allocation/${alloc}/logs?at=t.stdout.0:${Math.floor(size / 2)}`);
  await opened('log of 1 GB: the middle as a file', `allocation/${alloc}/files?path=${file}&offset=${Math.floor(size / 2)}`);
  await opened('log of 1 GB: the end as a file', `allocation/${alloc}/files?path=${file}&offset=${size - 1_000}`);
  figure('log of 1 GB: heap of tab and worker', (await heap(browser, page)).total, 150, 'MB');
  await page.close();
}

let code = 1;
try {
  await list({ name: '8,000 jobs', path: 'jobs', all: '8,000 jobs', filter: 'job-07777', found: /job-07777/ });
  await list({ name: '100,000 instances', path: 'instances', all: /and more than can be shown/, filter: 'job-00777 web-42', found: /web-42.*job-00777/ });
  await list({ name: '10,000 nodes', path: 'nodes', all: '10,000 nodes', filter: 'node-7777', found: /node-7777/ });
  await plan();
  await log();
  browser.check();
  code = finish();
} finally {
  await browser.stop();
  served.stop();
  fake.stop();
  await agent.stop();
}
process.exit(code);
