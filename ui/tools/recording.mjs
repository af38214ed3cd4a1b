// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Records a session of the command line: runs real commands on a terminal against a real agent, and draws what they
// print as an SVG that shows one command after the other.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ended, freePort, named, until } from './demo.mjs';
import { draw } from './terminal.mjs';

/** Each command, the seconds for which it is shown, and what must be true before it runs. */
const session = [
  ['reeve job run -detach shop.hcl', 5],
  ['reeve plan show shop deploy', 8, (p) => p.Status === 'WAITING' && p.Completed === 4],
  ['reeve plan continue shop deploy web', 7],
  ['reeve plan show shop deploy', 7, (p) => p.Status === 'WAITING' && p.Completed === 5],
  ['reeve plan continue shop deploy web', 6],
  ['reeve plan show shop deploy', 8, (p) => p.Status === 'COMPLETE'],
];

/** The command that readers see who see one screen only. */
const still = 'reeve plan show shop deploy';

/** A busy machine needs longer than the deadlines of the example. */
const example = () => readFileSync(new URL('../../examples/plans.hcl', import.meta.url), 'utf8').replace('"4s"', '"60s"').replace('"8s"', '"120s"');

/** run runs a command on a terminal, and returns what it prints. */
function run(line, binary, dir, address) {
  return new Promise((resolve, reject) => {
    const shell = `stty cols 100 rows 40; exec ${binary} ${line.replace(/^reeve /, '')}`;
    const p = named('laptop', 'script', ['-qec', shell, '/dev/null'], { cwd: dir, env: { PATH: process.env.PATH, TERM: 'xterm', REEVE_ADDR: address, HOME: dir }, stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    p.stdout.on('data', (d) => (text += d));
    p.on('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`${line}: exit code ${code}\n${text}`))));
  });
}

/** record writes the recording to a file. */
export async function record(binary, file) {
  const dir = mkdtempSync(join(tmpdir(), 'reeve-recording-'));
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const agent = spawn(binary, ['agent', '-dev', '-node', 'node-1', '-http-addr', `127.0.0.1:${port}`, '-log-level', 'error'], { stdio: 'ignore' });
  try {
    await until('the agent has a node', async () => (await (await fetch(`${address}/v1/nodes`)).json()).some((n) => n.Status === 'ready'));
    writeFileSync(join(dir, 'shop.hcl'), example());
    const screens = [];
    for (const [line, seconds, ready] of session) {
      if (ready) await until(`before ${line}`, async () => ready(await (await fetch(`${address}/v1/job/shop/plan/deploy`)).json()));
      screens.push({ line, seconds, still: line === still && screens.every((s) => !s.still), text: await run(line, binary, dir, address) });
    }
    writeFileSync(file, draw(screens));
  } finally {
    await ended(agent);
    rmSync(dir, { recursive: true, force: true });
  }
}
