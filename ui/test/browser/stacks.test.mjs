// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, Agent, Browser, until } from './harness.mjs';

let agent, browser;
before(async () => {
  agent = await Agent.start();
  browser = await Browser.start();
});
after(async () => {
  await browser?.stop();
  await agent?.stop();
});

async function deploy(version) {
  const hcl = agent.example('stacks/inventory.hcl').replace('policy = "linear"', 'policy = "steps"\n      steps  = ["25%", "wait"]').replace('over   = "30s"', '');
  const job = await agent.ask('PUT', '/v1/jobs/parse', { JobHCL: hcl, Variables: `version = "${version}"`, Canonicalize: true });
  await agent.ask('PUT', '/v1/stacks', { Jobs: [job] });
  await until(`${version} is ready`, async () => (await agent.ask('GET', '/v1/stacks')).some((s) => s.Status === 'ready' && s.Version === version));
}

const loaded = (page, name) => page.evaluate((name) => performance.getEntriesByType('resource').some((r) => r.name.endsWith(name)), name);

/** drawn counts the pixels of a chart that have the colour of a token of the style. */
const drawn = (page, token) =>
  page.locator('.chart canvas').evaluate((canvas, token) => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = `var(${token})`;
    const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g).map(Number);
    probe.remove();
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 24 && data[i + 3] > 200) n++;
    return n;
  }, token);

test('a shift has a chart of its shares, in both themes, with a table beside it', async () => {
  await deploy('1.0.0');
  const page = await browser.open(`${agent.base}/ui/stacks?view=list`);
  await page.getByText('inventory').first().waitFor();
  assert.equal(await loaded(page, 'lines.js'), false, 'charts load with the first shift');
  await deploy('1.1.0');
  await page.getByText('inventory 1.0.0 75 %, inventory 1.1.0 25 %', { exact: true }).waitFor();
  const box = page.locator('.chart');
  assert.equal(await box.getAttribute('aria-hidden'), 'true');
  const all = async () => (await drawn(page, '--wait')) > 100 && (await drawn(page, '--go')) > 100;
  await until('both shares are drawn', all);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await until('both shares are drawn in the dark theme', all);
  await accessible(page);
  const [shift] = await agent.ask('GET', '/v1/shifts');
  await agent.ask('PUT', `/v1/shift/${shift.ID}/set`, { Share: 0.6 });
  await page.getByText('inventory 1.0.0 40 %, inventory 1.1.0 60 %', { exact: true }).waitFor();
  await until('the new shares are drawn', all);
  await page.goto(`${agent.base}/ui/stacks`);
  await page.getByRole('link', { name: /^inventory 1\.1\.0/ }).waitFor();
  await accessible(page);
  browser.check();
  await page.close();
});
