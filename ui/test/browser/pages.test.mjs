// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Every page: it loads without an error or a violation of the policy, fits a phone, and has no fault that axe finds.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, Agent, Browser, until } from './harness.mjs';

const lists = ['', 'jobs', 'instances', 'nodes', 'topology', 'rollouts', 'stacks', 'stacks?view=list', 'services', 'services/routes', 'services/router', 'events', 'evaluations', 'variables', 'volumes', 'namespaces', 'access/tokens', 'access/policies', 'access/login', 'access/audit', 'cluster', 'settings'];

/** What users may put into names and values. It must stay text. */
const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;

let agent, browser;
before(async () => {
  agent = await Agent.start();
  browser = await Browser.start();
});
after(async () => {
  await browser?.stop();
  await agent?.stop();
});

async function settled(page) {
  await page.locator('h1').first().waitFor();
  await until('nothing loads', async () => (await page.locator('[aria-busy=true]').count()) === 0);
}

async function walk(pages) {
  const page = await browser.open(`${agent.base}/ui/`);
  for (const path of pages) {
    await page.goto(`${agent.base}/ui/${path}`);
    await settled(page);
    await accessible(page).catch((e) => assert.fail(`${path}: ${e.message}`));
    await page.setViewportSize({ width: 390, height: 800 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(over <= 0, `${path}: ${over} px wider than a phone`);
    await page.setViewportSize({ width: 1280, height: 800 });
    assert.notEqual(await page.title(), 'owned', path);
    browser.check();
  }
  await page.close();
}

test('every page of an empty cluster', () => walk(lists));

test('every page of a cluster with work, and with hostile text in it', async () => {
  await agent.run(agent.example('hello-world.hcl'));
  await agent.run(agent.example('crash.hcl'));
  await agent.run(agent.example('blocked.hcl'));
  await agent.run(agent.example('router.hcl'));
  await agent.run(agent.example('plans.hcl'));
  await agent.ask('PUT', '/v1/var/app/web?cas=0', { Path: 'app/web', Items: { [hostile.replaceAll(/[^a-z]/g, '')]: hostile } });
  await agent.ask('PUT', '/v1/namespace', { Name: 'dev', Description: hostile, Meta: { note: hostile } });
  await agent.ask('PUT', '/v1/acl/policy/web', { Name: 'web', Description: hostile, Rules: 'namespace "default" { policy = "read" }' });
  await agent.ask('PUT', '/v1/acl/token', { Name: hostile, Type: 'client', Policies: ['web'] });
  await agent.ask('PATCH', '/v1/job/hello-world', { Annotation: hostile });
  const instances = await until('an instance runs', async () => {
    const all = await agent.ask('GET', '/v1/job/hello-world/instances');
    return all.every((i) => i.State === 'RUNNING') && all;
  });
  const [node] = await agent.ask('GET', '/v1/nodes');
  await walk([
    ...lists,
    'job/hello-world', 'job/hello-world/instances', 'job/hello-world/versions', 'job/hello-world/history', 'job/hello-world/explain', 'job/hello-world/definition',
    'job/blocked', 'job/crash', 'job/shop', `allocation/${instances[0].Allocation}`, `allocation/${instances[0].Allocation}/logs`, `allocation/${instances[0].Allocation}/files`,
    `node/${node.ID}`, 'variables?path=app/web', 'namespaces?name=dev', 'access/policies?policy=web',
  ]);
});

test('what does not exist is said, on every page of an object', async () => {
  const page = await browser.open(`${agent.base}/ui/nothing`);
  await page.getByText('No such page').waitFor();
  for (const path of ['job/none', 'allocation/00000000-0000-0000-0000-000000000000', 'node/00000000-0000-0000-0000-000000000000', 'stacks?stack=none', 'variables?path=none', 'volumes?id=none', 'namespaces?name=none', `job/${encodeURIComponent('../../v1/jobs')}`]) {
    await page.goto(`${agent.base}/ui/${path}`);
    await settled(page);
    await page.getByText(/not found|no variable|no namespace|is gone|no job|no node|no such/i).first().waitFor().catch(() => assert.fail(`${path} says nothing`));
    browser.check();
  }
  await page.close();
});
