// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Measures the budgets of the web UI: what loads cold on the real binary, and what stays fast with ten thousand rows
// and a thousand changes per second of a cluster that fake.mjs makes up. A miss ends with exit code 1.
//
//   MINUTES  how long the heap is measured; default 10

import { Fake } from './fake.mjs';
import { Agent, Browser, figure, finish, frames, heap, median, quantile, serve, until } from './bench.mjs';

const minutes = Number(process.env.MINUTES ?? 10);
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

const agent = await Agent.start();
const fake = await Fake.start({ agent: agent.api });
const served = await serve(fake.base);
let browser;

/** cold opens an address without a cache or a worker, and returns when it was painted and when something was shown, in ms. */
async function cold(address, selector) {
  const context = await browser.chromium.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  try {
    const page = await context.newPage();
    await page.addInitScript((selector) => {
      const look = () => {
        if (document.querySelector(selector)) globalThis.shownAt = performance.now();
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, selector);
    await page.goto(address);
    const shown = await until(`${selector} is shown`, () => page.evaluate(() => globalThis.shownAt));
    const painted = await page.evaluate(() => performance.getEntriesByName('first-paint')[0]?.startTime ?? Infinity);
    return { painted, shown };
  } finally {
    await context.close();
  }
}

async function coldPages() {
  await until('the node is ready', async () => (await agent.ask('GET', '/v1/nodes')).some((n) => n.Status === 'ready'));
  await agent.run(agent.example('hello-world.hcl'));
  const runs = [];
  for (let i = 0; i < 5; i++) runs.push(await cold(`${agent.base}/ui/job/hello-world`, '[role=treeitem], .strip a, .ev li'));
  figure('first paint, cold, median of 5', median(runs.map((r) => r.painted)), 300);
  figure('job page usable, cold, median of 5', median(runs.map((r) => r.shown)), 1_000);
}

/** responses presses keys, and returns how long each took until the frame after it was painted. */
async function responses(page, keys) {
  await page.evaluate(() => {
    globalThis.responses = [];
    addEventListener('keydown', (e) => requestAnimationFrame(() => setTimeout(() => globalThis.responses.push(performance.now() - e.timeStamp))), { capture: true });
  });
  for (const k of keys) {
    const had = await page.evaluate(() => globalThis.responses.length);
    await page.keyboard.press(k);
    await page.waitForFunction((n) => globalThis.responses.length > n, had);
  }
  return page.evaluate(() => globalThis.responses);
}

async function rows() {
  const page = await browser.open(`${served.base}/ui/instances`);
  await page.getByText('10,000 instances').waitFor();
  const keys = [...Array(40).fill('j'), ...Array(10).fill('k'), 'End', 'Home', ...Array(8).fill('PageDown')];
  figure('key press to response with 10,000 rows, p95 of 60', quantile(await responses(page, keys), 0.95), 100);
  const from = fake.sent;
  const end = await frames(page);
  const scrolled = await page.evaluate(async () => {
    const box = document.querySelector('.grid-rows');
    let most = 0;
    const begun = performance.now();
    for (let y = 0; performance.now() - begun < 15_000; y += 170) {
      box.scrollTop = y % (box.scrollHeight - box.clientHeight);
      most = Math.max(most, document.querySelectorAll('.grid-row').length);
      await new Promise((r) => requestAnimationFrame(r));
    }
    return most;
  });
  const m = await end();
  console.log(`     ${((fake.sent - from) / 15).toFixed(0)} changes/s of a made-up stream, ${m.frames.length} frames, p50 ${median(m.frames).toFixed(1)} ms`);
  figure('10,000 rows, 1,000 changes/s, scrolling: p95 frame', quantile(m.frames, 0.95), 33.4);
  figure('10,000 rows, 1,000 changes/s, scrolling: longest task', Math.max(0, ...m.tasks), 150);
  figure('10,000 rows: rows in the document', scrolled, 79, 'rows');
  await page.close();
}

async function topology() {
  const page = await browser.open(`${served.base}/ui/settings`);
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  const click = () => page.evaluate(() => (globalThis.clicked = performance.now()));
  await click();
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: /Topology/ }).click();
  const first = await until('the first draw', () => page.evaluate(() => performance.getEntriesByName('topology draw').map((e) => e.startTime + e.duration - globalThis.clicked)[0]));
  figure('topology of 10,000 nodes: first draw after the click', first, 1_000);
  for (let i = 0; i < 4; i++) for (const fill of ['cpu', 'allocs', 'memory']) await page.getByLabel('Fill').selectOption(fill);
  const draws = await page.evaluate(() => performance.getEntriesByName('topology draw').map((e) => e.duration));
  figure('topology of 10,000 nodes: redraw, median', median(draws.slice(1)), 25);
  const box = await page.getByRole('application').boundingBox();
  const end = await frames(page);
  for (let i = 0; i < 200; i++) await page.mouse.move(box.x + 20 + ((i * 29) % (box.width - 60)), box.y + 60 + ((i * 17) % (box.height - 90)));
  figure('topology of 10,000 nodes: p95 frame under the pointer', quantile((await end()).frames, 0.95), 33.4);
  await page.close();
}

async function stacks() {
  const drawn = async (count) => {
    fake.n.stacks = count;
    const page = await browser.open(`${served.base}/ui/settings`);
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    await page.evaluate(() => {
      globalThis.clicked = performance.now();
      const look = () => (document.querySelector('.graph svg a') ? (globalThis.drawn = performance.now()) : requestAnimationFrame(look));
      look();
    });
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: /Stacks/ }).click();
    const ms = await until('the graph is drawn', () => page.evaluate(() => globalThis.drawn && globalThis.drawn - globalThis.clicked));
    const boxes = await page.locator('.graph svg a').count();
    await page.close();
    return { ms, boxes };
  };
  const runs = [];
  for (let i = 0; i < 5; i++) runs.push(await drawn(200));
  figure('stack graph of 200 boxes after the click, median of 5', median(runs.map((r) => r.ms)), 500);
  if (runs[0].boxes !== 200) throw new Error(`${runs[0].boxes} boxes of 200`);
  figure('stack graph of 300 stacks: boxes, one per unit', (await drawn(300)).boxes, 80, 'box');
}

async function memory() {
  const page = await browser.open(`${served.base}/ui/instances`);
  await page.getByText('10,000 instances').waitFor();
  const from = { sent: fake.sent, at: Date.now() };
  const samples = [];
  const every = Math.max(10_000, (minutes * 60_000) / 40);
  while (Date.now() - from.at < minutes * 60_000) {
    await sleep(Math.min(every, from.at + minutes * 60_000 - Date.now()));
    const h = await heap(browser, page);
    const at = (Date.now() - from.at) / 60_000;
    samples.push({ at, ...h });
    console.log(`     ${at.toFixed(1)} min: tab ${h.tab.toFixed(1)} MB, worker ${h.worker.toFixed(1)} MB, ${((fake.sent - from.sent) / ((Date.now() - from.at) / 1000)).toFixed(0)} changes/s`);
  }
  figure(`heap of tab and worker, 1,000 changes/s, ${minutes} min: most`, Math.max(...samples.map((s) => s.total)), 150, 'MB');
  // Flat: after 5 minutes, or half of a shorter run, the least of the last quarter is not above the most of the first one by 3 MB.
  const flat = samples.filter((s) => s.at >= Math.min(5, minutes / 2));
  const part = Math.max(1, Math.floor(flat.length / 4));
  figure('heap growth after its first 5 min', Math.min(...flat.slice(-part).map((s) => s.total)) - Math.max(...flat.slice(0, part).map((s) => s.total)), 3, 'MB');
  await page.close();
}

let code = 1;
try {
  browser = await Browser.start();
  for (const lane of [coldPages, rows, topology, stacks, memory]) await lane();
  browser.check();
  code = finish();
} finally {
  await browser?.stop();
  served.stop();
  fake.stop();
  await agent.stop();
}
process.exit(code);
