// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// What the benches share: rows of figures with budgets, and measuring in the page.

import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { cpus, loadavg } from 'node:os';
import { Agent, Browser, until } from '../browser/harness.mjs';

const figures = [];

/** figure prints a measured value beside its budget. */
export function figure(name, value, budget, unit = 'ms') {
  const ok = value <= budget;
  figures.push({ name, value, budget, unit, ok });
  console.log(`${ok ? 'ok  ' : 'MISS'} ${name.padEnd(58)} ${value.toFixed(1).padStart(9)} ${unit.padEnd(4)} of ${budget} ${unit}`);
}

/** finish prints the table, and returns the exit code. */
export function finish() {
  const missed = figures.filter((f) => !f.ok);
  console.log(`\n| figure | measured | budget |\n|---|---|---|\n${figures.map((f) => `| ${f.name} | ${f.value.toFixed(1)} ${f.unit}${f.ok ? '' : ' (missed)'} | ${f.budget} ${f.unit} |`).join('\n')}\n`);
  console.log(`${cpus().length} processors, load ${loadavg().map((l) => l.toFixed(1)).join(' ')}: other work on the machine is in the figures`);
  console.log(missed.length === 0 ? `pass: ${figures.length} figures within their budgets` : `fail: ${missed.length} of ${figures.length} figures miss their budgets`);
  return missed.length === 0 && figures.length > 0 ? 0 : 1;
}

export const quantile = (values, q) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? NaN;
export const median = (values) => quantile(values, 0.5);

const freePort = () =>
  new Promise((resolve) => {
    const s = createServer().listen(0, '127.0.0.1', () => {
      const { port } = s.address();
      s.close(() => resolve(port));
    });
  });

/** serve serves the built files with the headers of the agent, and the API of another address. */
export async function serve(api) {
  const port = await freePort();
  const process_ = spawn(process.execPath, [new URL('../../tools/dev.mjs', import.meta.url).pathname, String(port), api], { stdio: 'ignore' });
  const base = `http://127.0.0.1:${port}`;
  await until('the files are served', async () => (await fetch(`${base}/ui/`)).ok);
  return { base, stop: () => process_.kill() };
}

/** frames records the time between frames and long tasks until the result is called. */
export async function frames(page) {
  await page.evaluate(() => {
    const g = (globalThis.measured = { frames: [], tasks: [], on: true });
    new PerformanceObserver((l) => g.on && g.tasks.push(...l.getEntries().map((e) => e.duration))).observe({ type: 'longtask' });
    let last;
    const next = (t) => {
      if (last !== undefined) g.frames.push(t - last);
      last = t;
      if (g.on) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  return () => page.evaluate(() => ((globalThis.measured.on = false), globalThis.measured));
}

/** heap is the used heap of a tab and of the shared worker after garbage was collected, in MB. */
export async function heap(browser, page) {
  const own = await page.context().newCDPSession(page);
  const used = async (send) => {
    await send('HeapProfiler.collectGarbage');
    return (await send('Runtime.getHeapUsage')).usedSize / 1e6;
  };
  const tab = await used((m) => own.send(m));
  const { JSHeapUsedSize: all } = Object.fromEntries((await own.send('Performance.enable'), await own.send('Performance.getMetrics')).metrics.map((m) => [m.name, m.value]));
  await own.detach();
  const cdp = await browser.chromium.newBrowserCDPSession();
  const { targetInfos } = await cdp.send('Target.getTargets');
  let worker = 0;
  for (const t of targetInfos.filter((x) => x.type === 'shared_worker')) {
    const { sessionId } = await cdp.send('Target.attachToTarget', { targetId: t.targetId, flatten: false });
    let next = 1;
    const waits = new Map();
    const take = (e) => {
      if (e.sessionId !== sessionId) return;
      const m = JSON.parse(e.message);
      waits.get(m.id)?.(m.result);
    };
    cdp.on('Target.receivedMessageFromTarget', take);
    worker += await used((method) => {
      const id = next++;
      return new Promise((resolve) => {
        waits.set(id, resolve);
        void cdp.send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method }) });
      });
    });
    await cdp.send('Target.detachFromTarget', { sessionId });
  }
  await cdp.detach();
  if (targetInfos.every((t) => t.type !== 'shared_worker')) throw new Error('the shared worker is not among the targets');
  return { tab, worker, total: tab + worker, metrics: all / 1e6 };
}

export { Agent, Browser, until };
