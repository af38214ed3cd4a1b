// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Takes the pictures of docs/pictures: pages of the web UI that show a running demo, and a recording of the command
// line. `make pictures` builds the binary first. With UI_DIST, the pages are those of internal/ui/dist.

import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { Demo, until } from './demo.mjs';
import { record } from './recording.mjs';

const out = new URL('../../docs/pictures/', import.meta.url).pathname;
const binary = process.env.REEVE ?? new URL('../../bin/reeve', import.meta.url).pathname;
const budget = 1_500_000;

/** Each page: its address, the texts without which it is not complete, and the themes in which it is shown. */
const pagesOf = ({ allocation }) => [
  ['overview', '', [/canary: waits for continue/, /step, [1-9]\d* % of the traffic/], ['light', 'dark']],
  ['jobs', 'jobs', /starts by its schedule/, ['light']],
  ['job', 'job/checkout', /gets traffic at/, ['light', 'dark']],
  ['explain', 'job/forecast/explain', /Any of this would give it a place/, ['light']],
  ['instances', 'instances?sort=-crashes', /crashed: /, ['light']],
  ['allocation', `allocation/${allocation}`, /Runs as process/, ['light']],
  ['logs', `allocation/${allocation}/logs`, /POST \/orders/, ['light', 'dark']],
  ['nodes', 'nodes', /sim-a-1/, ['light']],
  ['topology', 'topology', /ready/, ['light', 'dark']],
  ['rollouts', 'rollouts', /watch the memory/, ['light']],
  ['stacks', 'stacks', /exposed/, ['light', 'dark']],
  ['events', 'events', /^[\d,]+ events$/, ['light']],
  ['routes', 'services/routes', /checkout.localhost/, ['light']],
  ['variables', 'variables', /shop\/currency/, ['light']],
  ['namespaces', 'namespaces', /staging/, ['light']],
  ['cluster', 'cluster', /leader/, ['light']],
];

/** take photographs a page when nothing loads any more. WebP keeps sharp text small. */
async function take(context, address, name, complete) {
  const page = await context.newPage();
  await page.goto(address);
  for (const text of [complete].flat()) await page.locator('main').getByText(text).filter({ visible: true }).first().waitFor();
  await until(`${name} is complete`, async () => (await page.locator('[aria-busy=true]').count()) === 0);
  await page.evaluate(() => document.fonts.ready.then(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))));
  const cdp = await context.newCDPSession(page);
  const { data } = await cdp.send('Page.captureScreenshot', { format: 'webp', quality: 70 });
  writeFileSync(`${out}${name}.webp`, Buffer.from(data, 'base64'));
  await page.close();
}

async function pages() {
  const demo = await Demo.start(binary);
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  try {
    const allocation = await demo.complete();
    for (const theme of ['light', 'dark']) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: theme, reducedMotion: 'reduce', timezoneId: 'UTC' });
      for (const [name, path, complete, themes] of pagesOf({ allocation })) {
        if (!themes.includes(theme)) continue;
        await take(context, `${demo.base}/ui/${path}`, theme === 'dark' ? `${name}-dark` : name, complete);
      }
      await context.close();
    }
  } finally {
    await browser.close();
    await demo.stop();
  }
}

mkdirSync(out, { recursive: true });
await pages();
await record(binary, `${out}session.svg`);
const size = readdirSync(out).reduce((n, f) => n + statSync(out + f).size, 0);
console.log(`docs/pictures: ${Math.round(size / 1024)} KiB of ${Math.round(budget / 1024)} KiB`);
if (size > budget) {
  console.error('the pictures are larger than their budget: take fewer, or lower their quality');
  process.exit(1);
}
