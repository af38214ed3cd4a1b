// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The worker that all tabs of the browser share: it holds the token, sends all requests, and keeps one event
// stream. It also runs inside a tab where the browser has no shared workers.

import type { Event } from '../api/schema';
import { ask } from './ask';
import { Feed } from './feed';
import { Places } from './places';
import type { Answer, FromWorker, GaveWay, Request, ToWorker } from './protocol';
import { Session } from './session';
import { socket, stream } from './streams';
import { Tab } from './tab';

/** How long a refused stream waits for other rights, in ms. */
const refusedPause = 5_000;

const tabs = new Set<Tab>();
const tellAll = (m: FromWorker) => tabs.forEach((t) => t.say(m));

const feed: Feed = new Feed({
  topics: () => {
    if (session.login.state !== 'open' && session.login.state !== 'session') return [];
    if (tabs.size === 0) return [];
    const all = new Set(alwaysTopics);
    tabs.forEach((t) => t.topics.forEach((x) => all.add(x)));
    return [...all].filter(permitted).sort();
  },
  deliver: (events: Event[], index: number) => tabs.forEach((t) => t.add(events, index)),
  watching: (topics, after) => tellAll({ is: 'watching', topics, after }),
  reset: () => {
    tabs.forEach((t) => t.clear());
    tellAll({ is: 'reset' });
  },
  health: (health) => tellAll({ is: 'health', health }),
  refused: () => void session.check(true).then(() => setTimeout(() => feed.follow(), refusedPause)),
});

const session: Session = new Session((login) => {
  tellAll({ is: 'login', login });
  feed.follow();
});

/** Topics that keep a stream open on pages that need none, so that every page tells whether it is live. */
const alwaysTopics = ['Namespace'];

/** Topics that a token needs a right of the cluster for. Asking for one without it would end the whole stream. */
const clusterTopics: Record<string, string> = { Node: 'node:read', NodePool: 'node:read', Domain: 'operator:read' };

function permitted(topic: string): boolean {
  const needs = clusterTopics[topic.split(':', 1)[0]!];
  const rights = session.login.rights;
  return !needs || !rights || rights.Management || rights.Cluster.includes(needs);
}

/** Over TLS one connection carries all requests. */
const places = self.location?.protocol === 'https:' ? new Places(64, 32) : new Places(4, 3);

/** askInTurn sends a request that waits for a change; it leaves when others have waited for its place. */
async function askInTurn(q: Request, abort: AbortController): Promise<Answer> {
  let left = false;
  const release = await places.take(() => {
    left = true;
    abort.abort();
  });
  const answer = await ask(q, abort.signal);
  release();
  if (left && !answer.ok) answer.error = { status: 0, code: 'gave-way' satisfies GaveWay, message: 'other requests wait', detail: [] };
  return answer;
}

/** connect serves one tab. */
export function connect(port: { postMessage(m: FromWorker): void }): (m: ToWorker) => void {
  const tab = new Tab(port);
  tabs.add(tab);
  tab.say({ is: 'health', health: feed.health });
  if (session.login.state === 'unknown') void session.begin();
  else {
    tab.say({ is: 'login', login: session.login });
    void session.check(); // The token may have been deleted since.
  }
  return (m) => void receive(tab, m);
}

async function receive(tab: Tab, m: ToWorker): Promise<void> {
  switch (m.do) {
    case 'ask': {
      const abort = new AbortController();
      tab.aborts.set(m.id, () => abort.abort());
      const answer = await (m.request.waits ? askInTurn(m.request, abort) : ask(m.request, abort.signal));
      tab.aborts.delete(m.id);
      if (answer.status === 403) void session.check();
      tab.say({ is: 'answer', id: m.id, answer });
      return;
    }
    case 'abort':
    case 'close':
      tab.aborts.get(m.id)?.();
      return;
    case 'watch':
      tab.topics = m.topics;
      tab.every = m.every;
      return feed.follow();
    case 'ack':
      return tab.taken();
    case 'stream':
      return stream(tab, m.id, m.path, m.held ? places : undefined);
    case 'more':
      tab.credits.get(m.id)?.();
      return;
    case 'socket':
      return socket(tab, m.id, m.path);
    case 'send':
      tab.sockets.get(m.id)?.send(m.text);
      return;
    case 'login': {
      const answer = await session.logIn(m.with);
      if (answer.ok) feed.retry();
      tab.say({ is: 'answer', id: m.id, answer });
      return;
    }
    case 'logout':
      await session.logOut();
      feed.forget();
      tab.say({ is: 'answer', id: m.id, answer: { ok: true, status: 200, body: undefined, index: 0, next: '', warnings: '' } });
      return;
    case 'active':
      return session.active();
    case 'retry':
      return feed.retry();
    case 'bye':
      tab.end();
      tabs.delete(tab);
      return feed.follow();
  }
}

interface SharedScope {
  onconnect?: ((e: MessageEvent) => void) | null;
}
if ('onconnect' in self) {
  (self as SharedScope).onconnect = (e) => {
    const port = e.ports[0]!;
    const take = connect(port);
    port.onmessage = (m) => take(m.data as ToWorker);
    port.addEventListener('close', () => take({ do: 'bye' })); // a tab that crashed
  };
}
