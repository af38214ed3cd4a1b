// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// What every page says when it has nothing to show: nothing exists, the token may not read it, no server answers.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, Agent, Browser, until } from './harness.mjs';

const firstJob = /reeve job run examples\/web\.hcl/;
const lacksNode = /may not use GET .*node:read.*add `node \{ policy = "read" \}`/;
const lacksJobs = /may not use GET .*read-job.*add `namespace "default" \{ capabilities = \["read-job"\] \}`/;
const seesNone = /lacks the capability read-job in every namespace.*What exists stays hidden/;
const wantsManagement = /may not use GET .*which needs the capability management/;

/** Each page: its address, what it says when nothing exists, and what to a token without rights. */
const pages = [
  ['', /This cluster has no job yet/, lacksNode],
  ['jobs', firstJob, seesNone],
  ['instances', firstJob, seesNone],
  ['nodes', /1 node/, lacksNode],
  ['topology', /1 ready/, lacksNode],
  ['rollouts', firstJob, seesNone],
  ['stacks', /No stack is deployed/, lacksJobs],
  ['stacks?view=list', /No stack is deployed/, lacksJobs],
  ['services', /No service has an instance that gets traffic/, lacksJobs],
  ['services/routes', /No job has a route/, lacksJobs],
  ['services/router', /This router serves no route/, /needs the capability agent:read/],
  ['events', /registration, ready/, /Nothing has changed yet|0 events/],
  ['evaluations', firstJob, seesNone],
  ['variables', /No variable that you may see/, /needs the capability variables:list/],
  ['volumes', /No host volume that you may see/, /No host volume that you may see/],
  ['namespaces', /No quota limits a namespace/, /No namespace that you may see/],
  ['access/tokens', /No token yet/, /needs the capability delegate/],
  ['access/policies', /No policy yet/, /none/],
  ['access/login', /No identity provider is configured/, wantsManagement],
  ['access/audit', /\d request/, wantsManagement],
  ['cluster', /1 server/, lacksNode],
  ['settings', /none is needed from this machine/, /What you may do.*Cluster.*nothing/],
];

let browser;
before(async () => {
  browser = await Browser.start();
});
after(() => browser?.stop());

/** said waits until the content of a page has a text. */
async function said(page, path, text) {
  const main = page.locator('main');
  let last = '';
  await until(`page "${path}" says ${text}`, async () => {
    last = (await main.innerText()).replaceAll(/\s+/g, ' ');
    return text.test(last);
  }, 30_000).catch((e) => assert.fail(`${e.message}; it says: ${last.slice(0, 600)}`));
  return last;
}

test('an empty cluster: every page says why nothing is here, and what fills it', async () => {
  const agent = await Agent.start();
  try {
    const page = await browser.open(`${agent.base}/ui/`);
    for (const [path, empty] of pages) {
      await page.goto(`${agent.base}/ui/${path}`);
      const text = await said(page, path, empty);
      assert.doesNotMatch(text, /Refused|No server answers|The request failed/, path);
    }
    browser.check();
    await page.close();
  } finally {
    await agent.stop();
  }
});

test('a token without rights: every page says what it lacks, and claims nothing about what it cannot see', async () => {
  const agent = await Agent.start({ flags: ['-server', '-client', '-bootstrap', '-data-dir', `/tmp/reeve-ui-states-${process.pid}`] });
  try {
    await agent.ask('PUT', '/v1/acl/policy/none', { Name: 'none', Rules: 'namespace "other" { policy = "read" }' });
    const { SecretID } = await agent.ask('PUT', '/v1/acl/token', { Name: 'eve', Type: 'client', Policies: ['none'] });
    await agent.run(agent.example('hello-world.hcl'));
    const [instance] = await until('the job runs', async () => {
      const all = await agent.ask('GET', '/v1/job/hello-world/instances');
      return all.every((i) => i.State === 'RUNNING') && all;
    });
    const [node] = await agent.ask('GET', '/v1/nodes');
    const objects = ['', '/instances', '/versions', '/history', '/explain', '/definition', '/logs'].map((tab) => [`job/hello-world${tab}`, , lacksJobs])
      .concat(['', '/logs', '/files', '/exec'].map((tab) => [`allocation/${instance.Allocation}${tab}`, , lacksJobs]))
      .concat([[`node/${node.ID}`, , lacksNode], ['variables?path=app/web', , /needs the capability variables:/]]);
    const page = await browser.open(`${agent.base}/ui/login`);
    await page.getByLabel('Token').fill(SecretID);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.waitForURL(`${agent.base}/ui/`);
    for (const [path, , refused] of [...pages, ...objects]) {
      await page.goto(`${agent.base}/ui/${path}`);
      const text = await said(page, path, refused);
      assert.doesNotMatch(text, /no job yet|No job is registered|No agent has registered|hello-world\[|RUNNING|No stack is deployed|No service has|No token yet/, path);
    }
    await page.goto(`${agent.base}/ui/jobs`);
    await said(page, 'jobs', seesNone);
    await accessible(page);
    browser.check();
    await page.close();
  } finally {
    await agent.stop();
  }
});

test('no server: every page says since when, keeps what it knew, and goes on', async () => {
  const agent = await Agent.start({ flags: ['-dev', '-data-dir', `/tmp/reeve-ui-offline-${process.pid}`] });
  try {
    await agent.run(agent.example('hello-world.hcl'));
    await until('the job runs', async () => (await agent.ask('GET', '/v1/job/hello-world/instances')).every((i) => i.State === 'RUNNING'));
    const open = [];
    for (const path of [...pages.map(([path]) => path), 'job/hello-world', 'job/hello-world/instances', 'job/hello-world/explain']) {
      const page = await browser.open(`${agent.base}/ui/${path}`);
      await page.getByText('Live, index').waitFor().catch(async () => assert.fail(`${path} is not live: ${await page.locator('body').innerText()}`));
      await until(`${path} has loaded`, async () => (await page.locator('h1').count()) > 0 && (await page.locator('[aria-busy=true]').count()) === 0);
      open.push({ path, page, knew: await page.locator('main').getByRole('row').count() });
    }
    await agent.kill();
    for (const { path, page, knew } of open) {
      await page.getByRole('alert').getByText('No server since').waitFor().catch(() => assert.fail(`${path} does not say that no server answers`));
      assert.ok((await page.locator('main').getByRole('row').count()) >= knew, `${path} forgot rows`);
      assert.equal(await page.getByText('No job is registered yet').count(), 0, path);
    }
    agent.start();
    for (const { path, page } of open) {
      await page.getByText('Live, index').waitFor().catch(() => assert.fail(`${path} does not go on`));
      await until(`${path} has no error`, async () => (await page.locator('main').getByRole('alert').count()) === 0).catch(async (e) => assert.fail(`${e.message}: ${await page.locator('main').getByRole('alert').allInnerTexts()}`));
      await page.close();
    }
    browser.check();
  } finally {
    await agent.stop();
  }
});
