// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Compares pages with the pictures in golden/, in both themes. The data is that of golden/cluster.json.gz, and the
// clock stands still.
//
//   UPDATE=1   replaces the pictures with what the pages show now: look at each before you commit it
//   RECORD=1   also records the data again, from a running demo

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Demo } from '../../tools/demo.mjs';
import { binary, Browser, until } from './harness.mjs';
import { Recorder, Replay } from './replay.mjs';

const here = (path) => new URL(path, import.meta.url).pathname;
const golden = here('golden/');
const failed = here('../../../bin/visual/');
const dataFile = `${golden}cluster.json.gz`;
const update = Boolean(process.env.UPDATE ?? process.env.RECORD);
const tolerance = 0.003; // part of the pixels that may differ
const viewport = { width: 960, height: 640 };

/** Each page: its address, and the text without which it is not complete. */
const pagesOf = ({ allocation }) => [
  ['overview', '', /canary: waits for continue/],
  ['job', 'job/checkout', /gets traffic at/],
  ['instances', 'instances?sort=-crashes', /crashed: /],
  ['allocation', `allocation/${allocation}`, /Runs as process/],
  ['topology', 'topology', /ready/],
  ['stacks', 'stacks', /exposed/],
];

async function settled(page, complete, name) {
  await page.locator('main').getByText(complete).filter({ visible: true }).first().waitFor();
  await until(`${name} is complete`, async () => (await page.locator('[aria-busy=true]').count()) === 0);
  await page.evaluate(() => document.fonts.ready);
}

/** shoot takes pictures until two in a row are the same. */
async function shoot(page) {
  let last;
  return until('the page rests', async () => {
    const shot = await page.screenshot({ animations: 'disabled', caret: 'hide' });
    const same = last?.equals(shot);
    last = shot;
    await page.waitForTimeout(300);
    return same ? shot : undefined;
  }, 30_000);
}

/** differing returns the part of the pixels that differ, compared in the browser. */
function differing(blank, a, b) {
  return blank.evaluate(
    async ([a, b]) => {
      const pixels = async (text) => {
        const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
        const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
      };
      const [x, y] = [await pixels(a), await pixels(b)];
      if (x.width !== y.width || x.height !== y.height) return 1;
      let n = 0;
      for (let i = 0; i < x.data.length; i += 4) {
        if ([0, 1, 2].some((k) => Math.abs(x.data[i + k] - y.data[i + k]) > 8)) n++;
      }
      return n / (x.data.length / 4);
    },
    [a.toString('base64'), b.toString('base64')],
  );
}

/** neutral removes what belongs to the machine of the recording. */
function neutral(text) {
  return text
    .replaceAll(/\/tmp\/reeve-pictures-\w+/g, '/var/lib/reeve')
    .replaceAll(/("kernel\.version":)"[^"]*"/g, '$1"6.12.0"')
    .replaceAll(/("reeve\.binary":)"[^"]*"/g, '$1"/usr/bin/reeve"')
    .replaceAll(/\d+\.\d+\.\d+-dev[\w.-]*/g, '1.0.0');
}

/** recordData asks a running demo all that the pages ask. */
async function recordData() {
  const demo = await Demo.start(binary, { nodes: 24 });
  const browser = await Browser.start({ viewport, timezoneId: 'UTC' });
  try {
    const allocation = await demo.complete(0);
    const visit = async (base) => {
      for (const [name, path, complete] of pagesOf({ allocation })) {
        const page = await browser.open(`${base}/ui/${path}`);
        await settled(page, complete, name);
        await page.waitForTimeout(3_000); // also what a page asks for later
        await page.close();
      }
    };
    const recorder = await Recorder.start(demo.api);
    await visit(recorder.base);
    recorder.stop();
    // One page may have seen a change that was after the answers to another one. What it asks then is recorded, too.
    for (let missing = true; missing; ) {
      const replay = await Replay.start(recorder.answers);
      await visit(replay.base);
      replay.stop();
      missing = replay.unknown.size > 0;
      for (const key of replay.unknown) {
        const answer = await fetch(demo.api + key.slice(key.indexOf(' ') + 1), { headers: { Accept: 'application/json' } });
        recorder.answers[key] = { status: answer.status, headers: { 'content-type': answer.headers.get('content-type') ?? '' }, body: await answer.text() };
      }
    }
    const answers = Object.entries(recorder.answers).map(([key, answer]) => [key, { ...answer, body: neutral(answer.body) }]);
    return { now: Date.now(), allocation, answers: Object.fromEntries(answers.sort(([a], [b]) => (a < b ? -1 : 1))) };
  } finally {
    await browser.stop();
    await demo.stop();
  }
}

let browser, replay, data, skip;
before(async () => {
  mkdirSync(golden, { recursive: true });
  if (process.env.RECORD) writeFileSync(dataFile, gzipSync(JSON.stringify(await recordData()), { level: 9 }));
  data = JSON.parse(gunzipSync(readFileSync(dataFile)).toString());
  replay = await Replay.start(data.answers);
  browser = await Browser.start({ viewport, timezoneId: 'UTC' });
  const major = browser.chromium.version().split('.')[0];
  if (update) writeFileSync(`${golden}chromium`, `${major}\n`);
  const drawn = readFileSync(`${golden}chromium`, 'utf8').trim();
  if (drawn !== major) skip = `the pictures are of Chromium ${drawn}, and this is ${major}: UPDATE=1 draws them again`;
  rmSync(failed, { recursive: true, force: true });
});
after(async () => {
  await browser?.stop();
  replay?.stop();
});

for (const theme of ['light', 'dark']) {
  for (const name of pagesOf({}).map(([name]) => name)) {
    test(`${name}, ${theme}`, async (t) => {
      if (skip) return t.skip(skip);
      const [, path, complete] = pagesOf(data).find(([n]) => n === name);
      const page = await browser.context.newPage();
      await page.clock.setFixedTime(data.now);
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await page.goto(`${replay.base}/ui/${path}`);
      await settled(page, complete, name);
      const shot = await shoot(page);
      await page.close();
      browser.check();
      const file = `${golden}${name}-${theme}.png`;
      if (update) return writeFileSync(file, shot);
      assert.ok(existsSync(file), `${file} does not exist: UPDATE=1 draws it`);
      const blank = await browser.context.newPage();
      const part = await differing(blank, readFileSync(file), shot);
      await blank.close();
      if (part > tolerance) {
        mkdirSync(failed, { recursive: true });
        writeFileSync(`${failed}${name}-${theme}.png`, shot);
      }
      assert.ok(part <= tolerance, `${(part * 100).toFixed(2)} % of the pixels differ from golden/${name}-${theme}.png; bin/visual/ has what the page shows. If that is right: UPDATE=1 node --test test/browser/visual.test.mjs`);
      return undefined;
    });
  }
}

test('the pages ask nothing that was not recorded', (t) => {
  if (skip) return t.skip(skip);
  assert.deepEqual([...replay.unknown], [], 'RECORD=1 records the data again');
  return undefined;
});
