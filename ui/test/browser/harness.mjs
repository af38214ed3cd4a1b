// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Starts the real binary and a real browser for the tests of pages.
//
//   REEVE    the binary; default ../bin/reeve
//   UI_DIST  if set, the files in internal/ui/dist are served instead of those in the binary

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const here = (path) => new URL(path, import.meta.url).pathname;
export const binary = process.env.REEVE ?? here('../../../bin/reeve');
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function freePort() {
  return new Promise((resolve) => {
    const s = createServer().listen(0, '127.0.0.1', () => {
      const { port } = s.address();
      s.close(() => resolve(port));
    });
  });
}

/** until repeats a check until it returns a value; it fails with the last error. */
export async function until(what, check, ms = 90_000) {
  const end = Date.now() + ms;
  let last;
  while (Date.now() < end) {
    try {
      const v = await check();
      if (v) return v;
      last = undefined;
    } catch (e) {
      last = e;
    }
    await new Promise((r) => setTimeout(r, 50));
  }
  assert.fail(`${what}: not within ${ms} ms${last ? `: ${last.message}` : ''}`);
}

/** endTasks ends a supervisor and its tasks, which outlive an agent with a data directory. */
function endTasks(dir) {
  const parents = new Map();
  let supervisor = '';
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').includes(`supervise ${dir} `)) supervisor = pid;
      parents.set(pid, / \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\)/s, ''))[1]);
    } catch {
      // It has ended.
    }
  }
  const end = (pid) => {
    for (const [child, parent] of parents) if (parent === pid) end(child);
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  if (supervisor) end(supervisor);
}

/** An Agent is a running `reeve agent -dev`, or an agent with the flags of the test. */
export class Agent {
  static async start({ flags = ['-dev'], config = '', env = {} } = {}) {
    assert.ok(existsSync(binary), `${binary} does not exist: run "make build" first, or set REEVE`);
    const a = new Agent();
    a.port = await freePort();
    a.data = flags.includes('-data-dir') ? flags[flags.indexOf('-data-dir') + 1] : undefined;
    a.dir = mkdtempSync(join(tmpdir(), 'reeve-ui-'));
    const args = ['agent', ...flags, '-http-addr', `127.0.0.1:${a.port}`];
    if (config) {
      writeFileSync(join(a.dir, 'agent.hcl'), config);
      args.push('-config', join(a.dir, 'agent.hcl'));
    }
    a.start = () => {
      a.output = '';
      a.process = spawn(binary, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
      for (const s of [a.process.stdout, a.process.stderr]) s.on('data', (d) => (a.output += d));
    };
    a.start();
    a.api = `http://127.0.0.1:${a.port}`;
    await until('the agent answers', async () => (await fetch(`${a.api}/v1/status/leader`)).ok && (await (await fetch(`${a.api}/v1/status/leader`)).json()) !== '');
    a.base = a.api;
    if (process.env.UI_DIST) {
      const port = await freePort();
      a.proxy = spawn(process.execPath, [here('../../tools/dev.mjs'), String(port), a.api], { stdio: 'ignore' });
      a.base = `http://127.0.0.1:${port}`;
      await until('the files are served', async () => (await fetch(`${a.base}/ui/`)).ok);
    }
    return a;
  }

  /** ask sends a request to the API, and fails unless it succeeds. */
  async ask(method, path, body, token) {
    const r = await fetch(this.api + path, { method, body: body === undefined ? undefined : JSON.stringify(body), headers: { Accept: 'application/json', ...(token && { 'X-Nomad-Token': token }) } });
    const text = await r.text();
    assert.ok(r.ok, `${method} ${path}: ${r.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  /** run registers a job file, with variables. */
  async run(hcl, variables = '') {
    const job = await this.ask('PUT', '/v1/jobs/parse', { JobHCL: hcl, Variables: variables, Canonicalize: true });
    return this.ask('PUT', '/v1/jobs', { Job: job, Submission: { Source: hcl, Format: 'hcl2' } });
  }

  /** example reads a job file of examples/. */
  example(name) {
    return readFileSync(here(`../../../examples/${name}`), 'utf8');
  }

  async stop() {
    this.proxy?.kill();
    if (this.process && this.process.exitCode === null) {
      const ended = new Promise((r) => this.process.once('exit', r));
      this.process.kill('SIGTERM');
      await ended;
    }
    if (this.data) endTasks(`${this.data}/supervisor`);
    for (const dir of [this.dir, this.data ?? this.dir]) rmSync(dir, { recursive: true, force: true });
  }

  /** kill ends the agent at once, as a crash would. */
  async kill() {
    const ended = new Promise((r) => this.process.once('exit', r));
    this.process.kill('SIGKILL');
    await ended;
  }
}

/** A Browser opens pages, and fails the test for what no page may do: errors, and violations of the CSP. */
export class Browser {
  static async start(options = {}) {
    const b = new Browser();
    b.chromium = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
    b.context = await b.chromium.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options });
    b.context.setDefaultTimeout(90_000); // also for a machine that is three times slower
    b.faults = [];
    b.context.on('page', (p) => {
      p.on('pageerror', (e) => b.faults.push(`error: ${e.message}`));
      p.on('console', (m) => {
        if (/Content Security Policy|TrustedScriptURL|Trusted Type/i.test(m.text())) b.faults.push(m.text());
      });
    });
    return b;
  }

  async open(address) {
    const p = await this.context.newPage();
    await p.goto(address);
    return p;
  }

  /** check fails if a page had an error or violated the policy since the last check. */
  check() {
    const faults = this.faults.splice(0);
    assert.deepEqual(faults, []);
  }

  async stop() {
    await this.chromium.close();
  }
}

/** accessible fails if axe finds a violation on the page, in the light or in the dark theme. */
export async function accessible(page) {
  await page.evaluate(axeSource);
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const { violations } = await page.evaluate(() =>
      globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }),
    );
    assert.deepEqual(
      violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => `${n.target} ${n.html}`).join(' | ')}`),
      [],
      colorScheme,
    );
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
}
