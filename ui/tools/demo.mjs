// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Runs `reeve demo` for pictures: on a machine with a neutral name, until its states are visible.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** until repeats a check until it returns a value. */
export async function until(what, check, ms = 90_000) {
  const end = Date.now() + ms;
  let last = '';
  while (Date.now() < end) {
    try {
      const v = await check();
      if (v) return v;
    } catch (e) {
      last = `: ${e.message}`;
    }
    await new Promise((r) => setTimeout(r, 200));
  }
  throw new Error(`${what}: not within ${ms / 1000} s${last}`);
}

export const freePort = () =>
  new Promise((resolve) => {
    const s = createServer().listen(0, '127.0.0.1', () => {
      const { port } = s.address();
      s.close(() => resolve(port));
    });
  });

/** named runs a program on a machine of that name: nodes are named for their host, and pictures name no real one. */
export function named(name, binary, args, options) {
  const root = process.getuid() === 0 ? '-u' : '-ru';
  return spawn('unshare', [root, 'sh', '-c', 'hostname "$0" && exec "$@"', name, binary, ...args], options);
}

/** ended stops a process, and waits for it. */
export async function ended(p) {
  if (p.exitCode !== null) return;
  const exit = new Promise((r) => p.once('exit', r));
  p.kill('SIGTERM');
  await exit;
}

/** A Demo is a running shop. */
export class Demo {
  static async start(binary, { nodes = 48 } = {}) {
    const d = new Demo();
    d.dir = mkdtempSync(join(tmpdir(), 'reeve-pictures-'));
    const port = await freePort();
    d.output = '';
    d.process = named('shop-1', binary, ['demo', '-port', String(port), '-data-dir', d.dir, '-simulated-nodes', String(nodes)], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const s of [d.process.stdout, d.process.stderr]) s.on('data', (t) => (d.output += t));
    d.api = d.base = `http://127.0.0.1:${port}`;
    try {
      await until('the demo is complete', () => {
        if (d.process.exitCode !== null) throw new Error(d.output);
        return d.output.includes('Press Ctrl-C');
      });
      if (process.env.UI_DIST) {
        const proxy = await freePort();
        d.proxy = spawn(process.execPath, [new URL('dev.mjs', import.meta.url).pathname, String(proxy), d.api], { stdio: 'ignore' });
        d.base = `http://127.0.0.1:${proxy}`;
        await until('the files are served', async () => (await fetch(`${d.base}/ui/`)).ok);
      }
    } catch (e) {
      await d.stop();
      throw e;
    }
    return d;
  }

  async get(path) {
    const r = await fetch(this.api + path);
    if (!r.ok) throw new Error(`${path}: ${r.status}`);
    return r.json();
  }

  /** complete waits until everything to see is there, and returns the id of an allocation of checkout with a log of some lines. */
  async complete(lines = 25) {
    await until('the canary waits', async () => (await this.get('/v1/job/checkout/plan/deploy')).Status === 'WAITING');
    await until('newsletter crashes again and again', async () => (await this.get('/v1/job/newsletter/troubles')).some((t) => t.Count >= 3));
    await until('the shift has traffic', async () => {
      const s = await this.get('/v1/shift/inventory');
      return s.Share >= 0.3 && (s.Traffic?.To?.Requests ?? 0) >= 10;
    });
    return until('checkout has written a log', async () => {
      for (const a of await this.get('/v1/job/checkout/allocations')) {
        if (a.ClientStatus !== 'running') continue;
        const log = await (await fetch(`${this.api}/v1/client/fs/logs/${a.ID}?task=server&type=stdout&origin=end&offset=20000&plain=true`)).text();
        if (lines === 0 || (log.split('\n').length > lines && log.includes(' 402 '))) return a.ID;
      }
      return undefined;
    }, 180_000);
  }

  async stop() {
    this.proxy?.kill();
    await ended(this.process);
    rmSync(this.dir, { recursive: true, force: true });
  }
}
