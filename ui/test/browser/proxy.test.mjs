// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The web UI through `reeve ui`: browsers do not know the cluster's authority, so the command verifies the servers.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Agent, binary, Browser, until } from './harness.mjs';

let agent, browser, proxy, address, home;
before(async () => {
  home = mkdtempSync(join(tmpdir(), 'reeve-ui-home-'));
  const data = join(home, 'data');
  agent = await Agent.start({ flags: ['-server', '-client', '-bootstrap', '-data-dir', data] });
  const env = { PATH: process.env.PATH, HOME: home, REEVE_CONFIG_DIR: home, NO_COLOR: '1' };
  execFileSync(binary, ['login', `127.0.0.1:${agent.port}`, '-token-file', join(data, 'operator.token')], { env });
  await agent.run(`job "web" {
    group "app" {
      task "server" {
        driver = "raw_exec"
        config {
          command = "/bin/sh"
          args    = ["-c", "echo the first line; exec sleep 1000"]
        }
        resources {
          cpu    = 20
          memory = 32
        }
      }
    }
  }`);
  await until('the job runs', async () => (await agent.ask('GET', '/v1/allocations')).some((a) => a.ClientStatus === 'running'));
  proxy = spawn(binary, ['ui', '-json', 'job', 'web'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const s of [proxy.stdout, proxy.stderr]) s.on('data', (text) => (output += text));
  address = await until('reeve ui prints the address', () => {
    assert.equal(proxy.exitCode, null, output);
    return /"Address": "([^"]+)"/.exec(output)?.[1];
  });
  browser = await Browser.start();
});
after(async () => {
  await browser?.stop();
  proxy?.kill('SIGINT');
  await agent?.stop();
  rmSync(home, { recursive: true, force: true });
});

test('the page has the login, its stream, a log and a terminal, all by way of TLS', async () => {
  assert.ok(address.startsWith('http://127.0.0.1:') && !address.includes(`:${agent.port}/`), address);
  const page = await browser.open(address);
  await page.getByRole('heading', { name: 'web' }).first().waitFor();
  assert.ok(!page.url().includes('code='), page.url());
  await page.getByText('Live, index').first().waitFor();
  const id = (await agent.ask('GET', '/v1/allocations'))[0].ID;
  const root = new URL(address).origin;
  await page.goto(`${root}/ui/allocation/${id}/logs`);
  await page.getByRole('region', { name: 'Log' }).getByText('the first line').waitFor();
  await page.goto(`${root}/ui/allocation/${id}/exec`);
  await page.getByLabel('Command').fill('/bin/sh');
  await page.getByRole('button', { name: 'Run' }).click();
  const screen = page.locator('.xterm-rows');
  await screen.getByText(/[#$]/).first().waitFor();
  await page.keyboard.type('echo done-$((40+2)); exit 7\n');
  await page.getByText('The command ended with exit code 7.').waitFor();
  browser.check();
  await page.close();
});

test('without the session of the command, the proxy gives no rights', async () => {
  const other = await Browser.start();
  try {
    const page = await other.open(`${new URL(address).origin}/ui/jobs`);
    await page.getByRole('heading', { name: 'Log in to Reeve' }).waitFor();
    other.check();
  } finally {
    await other.stop();
  }
});
