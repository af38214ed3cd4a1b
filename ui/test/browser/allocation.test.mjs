// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, Agent, Browser, until } from './harness.mjs';

// The tasks write what could harm a page: markup, script addresses, control characters, bidi overrides, and a line
// of 1 MB.
const job = String.raw`
job "noisy" {
  group "app" {
    network {
      port "http" {}
    }
    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args = ["-c", <<-S
          mkdir -p "local/dir"; printf x > 'local/dir/<img src=x onerror=alert(1)>'; printf y > 'local/dir/javascript:alert(1)'
          printf 'evil\342\200\256txt.exe' > "$(printf 'local/dir/bidi\342\200\256gpj.exe')"
          head -c 300000 /dev/zero | tr '\000' b > local/large
          head -c 1000000 /dev/zero | tr '\000' a; printf '\nafter the long line\n'
          printf '<script>alert(1)</script> <b>bold</b> javascript:alert(1)\n'
          printf '\033[31mred\033[0m \033]0;title\007 \033]8;;javascript:alert(1)\033\\link\033]8;;\033\\ end\n'
          printf 'bidi \342\200\256override\n'
          printf 'first of stderr\n' >&2
          i=0; while true; do i=$((i+1)); echo "tick $i"; sleep 0.3; done
        S
        ]
      }
      resources {
        cpu = 20
        memory = 32
      }
    }
  }
}
`;

let agent, browser, id;
before(async () => {
  agent = await Agent.start();
  browser = await Browser.start();
  await agent.run(job);
  id = await until('the task runs', async () => (await agent.ask('GET', '/v1/allocations')).find((a) => a.ClientStatus === 'running')?.ID);
});
after(async () => {
  await browser?.stop();
  await agent?.stop();
});

test('the beginning of an id leads to the allocation, which follows a restart of its task', async () => {
  const page = await browser.open(`${agent.base}/ui/allocation/${id.slice(0, 8)}`);
  await page.waitForURL(`**/ui/allocation/${id}`);
  await page.getByText('Its tasks run.').waitFor();
  await page.getByRole('cell', { name: 'All, of what is reserved' }).waitFor();
  await accessible(page);
  await page.getByRole('button', { name: 'Restart' }).click();
  const dialog = page.getByRole('dialog', { name: 'Restart' });
  await dialog.getByText(`reeve alloc restart ${id.slice(0, 8)}`).waitFor();
  await dialog.getByRole('button', { name: 'Restart', exact: true }).click();
  await page.locator('.task-ev').getByText('Restart Signaled').waitFor();
  browser.check();
  await page.close();
});

test('logs follow, and their content stays text', async () => {
  const page = await browser.open(`${agent.base}/ui/allocation/${id}/logs`);
  const rows = page.getByRole('region', { name: 'Log' });
  await rows.getByText('tick').first().waitFor();
  await until('it follows', async () => Number(/tick (\d+)/.exec(await rows.locator('.log-row').last().textContent())?.[1]) > 2);
  const input = page.getByRole('searchbox', { name: 'Pattern' });
  await input.fill('script|red|bidi|stderr|after');
  await rows.getByText('after the long line').first().waitFor();
  const text = await until('the lines are shown', async () => {
    const t = (await rows.locator('.log-text').allTextContents()).join('\n');
    return t.includes('override') && t.includes('stderr') && t;
  });
  assert.match(text, /<script>alert\(1\)<\/script> <b>bold<\/b> javascript:alert\(1\)/);
  assert.match(text, /red {2}link end/);
  assert.match(text, /bidi ⟨202E⟩override/);
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u202e]/);
  assert.equal(await rows.locator('b, script, a, img').count(), 0);
  await rows.locator('.err-line').first().waitFor(); // stderr is a stream of its own
  await accessible(page);
  await input.fill('a{40}');
  await rows.getByText('more characters').first().waitFor();
  assert.ok((await rows.locator('.log-row').count()) < 80);
  await input.fill('([');
  await page.getByRole('alert').waitFor();
  browser.check();
  await page.close();
});

test('a pattern that takes for ever is stopped, and the page goes on', async () => {
  const page = await browser.open(`${agent.base}/ui/allocation/${id}/logs?find=${encodeURIComponent('(a+)+b')}`);
  await page.getByRole('alert').getByText('takes too long').waitFor();
  await page.getByRole('region', { name: 'Log' }).getByText('tick').first().waitFor();
  browser.check();
  await page.close();
});

test('a line has an address, which shows the part of the file around it', async () => {
  const page = await browser.open(`${agent.base}/ui/allocation/${id}/logs?kind=stdout`);
  const rows = page.getByRole('region', { name: 'Log' });
  const row = rows.locator('.log-row').filter({ hasText: 'tick 1' }).first();
  await row.click();
  await page.getByRole('button', { name: 'Link to this line' }).click();
  await page.waitForURL(/at=server\.stdout\.0/);
  await page.locator('.log-row.here').getByText(/tick 1/).waitFor();
  await accessible(page);
  browser.check();
  await page.close();
});

test('files are listed, paged, and their names stay text', async () => {
  const page = await browser.open(`${agent.base}/ui/allocation/${id}/files?path=server/local/dir`);
  const grid = page.getByRole('grid', { name: 'Files' });
  await grid.getByText('<img src=x onerror=alert(1)>').waitFor();
  await grid.getByText('bidi⟨202E⟩gpj.exe').waitFor();
  const addresses = await grid.getByRole('link').evaluateAll((all) => all.map((a) => new URL(a.href).pathname));
  assert.ok(addresses.every((a) => a === `/ui/allocation/${id}/files`), addresses.join());
  await accessible(page);
  await grid.getByText('javascript:alert(1)').click();
  await page.getByRole('region', { name: /Content of/ }).getByText('y', { exact: true }).waitFor();
  await page.goto(`${agent.base}/ui/allocation/${id}/files?path=server/local/large`);
  await page.getByText('bytes 0 to 65,536').waitFor();
  await page.getByRole('button', { name: 'Last' }).click();
  await page.getByText('bytes 262,144 to 300,000').waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
  assert.equal(download.suggestedFilename(), 'large');
  await page.goto(`${agent.base}/ui/allocation/${id}/files?path=../../../../etc/passwd`);
  await page.getByRole('alert').waitFor();
  browser.check();
  await page.close();
});

test('a terminal runs a command, survives other tabs, is left by Shift+Esc, and says the exit code', async () => {
  const page = await browser.open(`${agent.base}/ui/allocation/${id}/exec`);
  await page.getByLabel('Command').fill('/bin/sh');
  await page.getByRole('button', { name: 'Run' }).click();
  const screen = page.locator('.xterm-rows');
  await screen.getByText(/[#$]/).first().waitFor();
  await page.keyboard.type("stty size; printf '\\033]8;;javascript:alert(1)\\033\\\\a-link\\033]8;;\\033\\\\ <b>x</b>'; echo done-$((40+2))\n");
  await screen.getByText('done-42').waitFor();
  assert.equal(await screen.locator('a, b').count(), 0);
  await accessible(page);
  await page.keyboard.press('Tab'); // The terminal has it.
  await page.keyboard.press('Shift+Escape');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'End session');
  await page.getByRole('navigation', { name: 'Views of the allocation' }).getByRole('link', { name: 'Files' }).click();
  await page.getByRole('grid', { name: 'Files' }).waitFor();
  await page.getByRole('navigation', { name: 'Views of the allocation' }).getByRole('link', { name: 'Exec' }).click();
  await screen.getByText('done-42').waitFor();
  await page.locator('.xterm').click();
  await page.keyboard.type('exit 7\n');
  await page.getByText('The command ended with exit code 7.').waitFor();
  browser.check();
  await page.close();
});

test('an allocation that is not known is told', async () => {
  const page = await browser.open(`${agent.base}/ui/allocation/ffffffff-0000-0000-0000-000000000000`);
  await page.getByRole('alert').getByText('Not found.').waitFor();
  await accessible(page);
  browser.check();
  await page.close();
});
