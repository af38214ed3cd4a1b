// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { cpus, loadavg } from 'node:os';
import { after, before, test } from 'node:test';
import { accessible, Agent, Browser, until } from './harness.mjs';

const n = 10_000;

// columns are ten thousand nodes as the API returns them.
function columns(job) {
  const of = (values, code) => ({ Values: values, Codes: Array.from({ length: n }, (_, i) => code(i)) });
  const numbers = (f) => Array.from({ length: n }, (_, i) => f(i));
  return {
    ID: numbers((i) => `00000000-0000-0000-0000-${String(i).padStart(12, '0')}`),
    Name: numbers((i) => (i === 7 ? '<img src=x onerror=alert(1)>' : `node-${i}`)),
    Datacenter: of(['dc1', 'dc2'], (i) => i % 2),
    Zone: of(['a', 'b', 'c'], (i) => i % 3),
    NodeClass: of(['', 'large'], (i) => (i % 10 === 0 ? 1 : 0)),
    NodePool: of(['default'], () => 0),
    Status: of(['ready', 'down'], (i) => (i % 200 === 0 ? 1 : 0)),
    Eligibility: of(['eligible', 'ineligible'], (i) => (i % 50 === 1 ? 1 : 0)),
    Draining: numbers((i) => i % 300 === 2),
    Silent: numbers(() => false),
    CPU: numbers(() => 4000), CPUUsed: numbers((i) => (i * 37) % 4000),
    MemoryMB: numbers(() => 8192), MemoryUsed: numbers((i) => (i * 131) % 8192),
    DiskMB: numbers(() => 100_000), DiskUsed: numbers(() => 0),
    Allocations: numbers((i) => i % 17),
    ...(job && { JobCount: numbers((i) => (i % 100 === 3 ? 2 : 0)) }),
  };
}

let agent, browser;
before(async () => {
  agent = await Agent.start();
  browser = await Browser.start();
  // Without a shared worker the page itself sends the requests, and the test can answer them.
  await browser.context.addInitScript(() => delete globalThis.SharedWorker);
  await browser.context.route('**/v1/topology*', (route) => route.fulfill({ json: columns(route.request().url().includes('job=')), headers: { 'X-Reeve-Index': '10' } }));
});
after(async () => {
  await browser?.stop();
  await agent?.stop();
});

test('ten thousand nodes are drawn at once, and again within a frame', async () => {
  const page = await browser.open(`${agent.base}/ui/settings`);
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  await page.evaluate(() => {
    globalThis.clicked = performance.now();
  });
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: /Topology/ }).click();
  const first = await until('the first draw', () => page.evaluate(() => performance.getEntriesByName('topology draw')[0]?.startTime));
  const took = first - (await page.evaluate(() => globalThis.clicked));
  for (const fill of ['cpu', 'allocs', 'memory', 'cpu', 'memory']) await page.getByLabel('Fill').selectOption(fill);
  const draws = await until('more draws', async () => {
    const all = await page.evaluate(() => performance.getEntriesByName('topology draw').map((e) => e.duration));
    return all.length >= 6 && all;
  });
  const middle = draws.slice(1).sort((a, b) => a - b)[Math.floor((draws.length - 1) / 2)];
  // Frames while the pointer moves over the cells.
  const box = await page.getByRole('application').boundingBox();
  await page.evaluate(() => {
    globalThis.frames = [];
    let last = performance.now();
    const next = (t) => {
      globalThis.frames.push(t - last);
      last = t;
      if (globalThis.frames.length < 400) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  for (let i = 0; i < 120; i++) await page.mouse.move(box.x + 20 + ((i * 29) % (box.width - 60)), box.y + 60 + ((i * 17) % (box.height - 90)));
  const frames = (await page.evaluate(() => globalThis.frames.slice(1))).sort((a, b) => a - b);
  const p95 = frames[Math.floor(frames.length * 0.95)];
  console.log(`first draw ${took.toFixed(0)} ms after the click, redraw ${middle.toFixed(1)} ms, p95 frame ${p95.toFixed(1)} ms`);
  // The budgets are 1 s, 25 ms and 33 ms on a quiet machine. Another machine gets twice that, and more if it is busy.
  const slack = 2 * Math.max(1, loadavg()[0] / cpus().length);
  assert.ok(took <= 1_000 * slack, `first draw after ${took} ms`);
  assert.ok(middle <= 25 * slack, `redraw in ${middle} ms`);
  assert.ok(p95 <= 33 * slack, `p95 frame of ${p95} ms`);
  browser.check();
  await page.close();
});

test('a rectangle chooses nodes, whose drain names them; the table is a twin', async () => {
  const page = await browser.open(`${agent.base}/ui/topology`);
  const box = await (await page.getByRole('application').elementHandle()).boundingBox();
  await page.getByText(/ready$/).first().waitFor();
  await page.mouse.move(box.x + 10, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 120, box.y + 110, { steps: 4 });
  await page.mouse.up();
  await page.getByText(/nodes chosen/).waitFor();
  await page.getByRole('grid', { name: 'Chosen nodes' }).waitFor();
  await accessible(page);
  const chosen = await page.getByText(/^\d+ nodes chosen$/).textContent();
  const again = await browser.open(page.url());
  await again.getByText(chosen, { exact: true }).waitFor();
  assert.equal(await again.getByRole('grid', { name: 'Chosen nodes' }).getByRole('gridcell').first().textContent(), await page.getByRole('grid', { name: 'Chosen nodes' }).getByRole('gridcell').first().textContent());
  await again.close();
  await page.getByRole('button', { name: /Drain \d+ nodes/ }).click();
  await page.getByRole('dialog').getByText(/reeve node drain -enable -deadline 1h 00000000 && /).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Choose none' }).click();
  await until('the address has no choice', () => !page.url().includes('nodes='));
  await page.getByRole('application').focus();
  await page.keyboard.press('ArrowRight');
  await page.getByText(/node-\d+: .*memory .* allocation/).waitFor();
  await page.getByRole('button', { name: 'As table' }).click();
  const grid = page.getByRole('grid', { name: 'Nodes' });
  await grid.getByText('<img src=x onerror=alert(1)>').waitFor();
  assert.equal(await grid.getAttribute('aria-rowcount'), String(n + 1));
  assert.ok((await page.locator('.grid-row').count()) < 80);
  await accessible(page);
  browser.check();
  await page.close();
});

test('a job dims the nodes without it, and an address shows the same', async () => {
  const page = await browser.open(`${agent.base}/ui/topology?job=shop&fill=allocs`);
  await page.getByText('200 allocations of shop on 100 nodes').waitFor();
  browser.check();
  await page.close();
});
