// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// What pages show equals what the servers say, while everything changes, after the agent was killed, and after
// the state was restored from a snapshot; no page is loaded again.
//
//   MINUTES  how long random changes are made; default 1
//   MOMENTS  how often pages are compared meanwhile; default 20
//   SEED     the seed of the changes; default 1

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Changer, jobFile, kinds } from './changes.mjs';
import { linesOf, pages, sameText, shownRows, twins } from './pages.mjs';
import { Agent, Browser, until } from '../browser/harness.mjs';

const minutes = Number(process.env.MINUTES ?? 1);
const seed = Number(process.env.SEED ?? 1);
const moments = Number(process.env.MOMENTS ?? 20);
const settle = 30_000;

let agent, browser, changer;
const data = mkdtempSync(join(tmpdir(), 'reeve-truth-'));
const open = [];

before(async () => {
  agent = await Agent.start({ flags: ['-dev', '-data-dir', data] });
  await until('the node is ready', async () => (await agent.ask('GET', '/v1/nodes')).some((n) => n.Status === 'ready'));
  await agent.ask('PUT', '/v1/namespace', { Name: 'team' });
  await agent.run(jobFile('steady', 'default', { count: 2, version: 0, cpu: 20, behaviour: 0 }));
  changer = new Changer(agent, seed);
  // So tall that every row is in the document.
  browser = await Browser.start({ viewport: { width: 1600, height: 6_000 } });
  for (const p of pages) open.push({ ...p, page: await browser.open(`${agent.base}/ui/${p.path}`) });
  for (const path of twins) open.push({ path, page: await browser.open(`${agent.base}/ui/${path}`) });
});
after(async () => {
  await browser?.stop();
  await agent?.stop();
  rmSync(data, { recursive: true, force: true });
});

const read = (path) => agent.ask('GET', path);
const ask = (...a) => agent.ask(...a);

/** listsAreTrue fails unless every list becomes equal to a fresh read, in the time that a page may lag behind. */
async function listsAreTrue(when) {
  for (const p of open.filter((o) => o.rows)) {
    await until(
      `${when}: ${p.path}`,
      async () => {
        const want = linesOf(await p.rows(read, ask));
        const got = linesOf(await shownRows(p.page, p.heads));
        assert.deepEqual(
          { tooMuch: got.filter((l) => !want.includes(l)), missing: want.filter((l) => !got.includes(l)), rows: got.length },
          { tooMuch: [], missing: [], rows: want.length },
        );
        return true;
      },
      settle,
    );
  }
}

// An event without a time of its own has the time at which a page received it: the texts are compared without times.
const mainText = (page) =>
  page.evaluate(() => {
    const plain = (t) => t.replace(/\d\d:\d\d:\d\d/g, '').replace(/\s+/g, ' ').trim();
    const list = document.querySelector('main ol[aria-label="Events of this job"]');
    const happened = [...(list?.querySelectorAll('li:not(.limit)') ?? [])].map((li) => ({ object: li.dataset.object, text: plain(li.innerText) }));
    const limited = Boolean(list?.querySelector('li.limit')) || happened.length === 60;
    const text = plain(document.querySelector('main').innerText.replace(list?.innerText ?? '', ''));
    return { text, happened, limited };
  });

/** twinIsTrue fails unless a page becomes equal to one that is loaded now. */
async function twinIsTrue(when, o) {
  await until(
    `${when}: ${o.path || 'overview'}`,
    async () => {
      const fresh = await browser.open(`${agent.base}/ui/${o.path}`);
      try {
        let last;
        await until(
          'equal texts',
          async () => {
            last = { shown: await mainText(o.page), fresh: await mainText(fresh) };
            return sameText(last.shown, last.fresh);
          },
          8_000, // a fresh page has to load
        ).catch(() => assert.deepEqual(last.shown, last.fresh));
        return true;
      } finally {
        await fresh.close();
      }
    },
    settle,
  );
}

test(`pages are true at ${moments} moments of ${minutes} min of changes`, async () => {
  const pause = (minutes * 60_000) / moments;
  for (let m = 1; m <= moments; m++) {
    const end = Date.now() + pause * (0.5 + changer.next(100) / 100) * 0.6;
    const verbs = [];
    do {
      verbs.push(await changer.change());
      await new Promise((r) => setTimeout(r, changer.next(250)));
    } while (Date.now() < end);
    const when = `moment ${m} of seed ${seed}, after ${verbs.join(' ')}`;
    await listsAreTrue(when);
    const others = open.filter((o) => !o.rows);
    await twinIsTrue(when, others[m % others.length]);
  }
  // A slow machine makes fewer changes in the time: every kind of change counts all the same.
  for (let i = 0; changer.done.size < kinds && i < 500; i++) await changer.change();
  await listsAreTrue('after every kind of change');
  console.log(`changes: ${[...changer.done].map(([v, n]) => `${v} ${n}`).join(', ')}`);
  console.log(`refused: ${[...changer.refused].map(([v, m]) => `${v}: ${m.slice(0, 150)}`).join('\n         ')}`);
  assert.equal(changer.done.size, kinds, `only ${[...changer.done.keys()]} were possible`);
  browser.check();
});

test('pages are true after the agent was killed and started again', async () => {
  await agent.kill();
  await open[0].page.getByRole('alert').getByText('No server since').waitFor();
  agent.start();
  await until('the agent answers', async () => (await read('/v1/nodes')).some((n) => n.Status === 'ready'));
  for (let i = 0; i < 5; i++) await changer.change();
  await listsAreTrue('after a restart');
  for (const o of open.filter((x) => !x.rows)) await twinIsTrue('after a restart', o);
  browser.check();
});

test('pages are true after a restore of a snapshot', async () => {
  await agent.ask('PUT', '/v1/namespace', { Name: 'kept', Description: 'is in the snapshot' });
  await agent.ask('PUT', '/v1/var/kept', { Path: 'kept', Namespace: 'default', Items: { n: '1' } });
  const snapshot = await (await fetch(`${agent.api}/v1/operator/snapshot`)).arrayBuffer();
  await agent.ask('DELETE', '/v1/namespace/kept');
  await agent.ask('DELETE', '/v1/var/kept');
  await agent.ask('PUT', '/v1/var/lost', { Path: 'lost', Namespace: 'default', Items: { n: '1' } });
  for (let i = 0; i < 10; i++) await changer.change();
  await listsAreTrue('before the restore');
  const r = await fetch(`${agent.api}/v1/operator/snapshot`, { method: 'PUT', body: snapshot });
  assert.ok(r.ok, await r.text());
  await listsAreTrue('after the restore');
  assert.ok((await read('/v1/namespaces')).some((n) => n.Name === 'kept'));
  for (let i = 0; i < 10; i++) await changer.change();
  await listsAreTrue('after the restore and changes');
  for (const o of open.filter((x) => !x.rows)) await twinIsTrue('after the restore', o);
  browser.check();
});
