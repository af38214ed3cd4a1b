// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The tab's end of the worker.

import { signal } from '@preact/signals';
import type { Event } from '../api/schema';
import type { Answer, Credential, Failure, FromWorker, Health, Login, Request, ToWorker } from '../worker/protocol';

export const login = signal<Login>({ state: 'unknown' });
export const health = signal<Health>({ state: 'starting', index: 0, since: Date.now() });

/** The newest index of which this tab has received the changes, by an event or by a read. */
export const seen = signal(0);
const see = (index: number) => {
  if (index > seen.peek()) seen.value = index;
};

/** The text and the end of a stream or socket. */
export interface Receiver {
  text(chunk: string): void;
  end(error: Failure | undefined, code: number | undefined): void;
}

const answers = new Map<number, (a: Answer) => void>();
const receivers = new Map<number, Receiver>();
let post: (m: ToWorker) => void = () => {};
let nextID = 1;
let resets = 0;

type Listener = {
  events(events: Event[], index: number, every: Event[] | undefined): void;
  watching(topics: string[], after: number): void;
  reset(): void;
};
export const listeners = new Set<Listener>();

/** The policy makes the addresses of workers, and nothing else. */
const policy: { createScriptURL(s: string): unknown } =
  (globalThis as { trustedTypes?: { createPolicy(n: string, p: object): { createScriptURL(s: string): unknown } } }).trustedTypes?.createPolicy('reeve', {
    createScriptURL: (s: string) => {
      if (!/^\/ui\/assets\/[\w.-]+\.js$/.test(s)) throw new TypeError('not a worker of this UI');
      return s;
    },
  }) ?? { createScriptURL: (s) => s };

/** workerURL returns the address of a built worker script, such as worker.js. */
export const workerURL = (name: string) => policy.createScriptURL(`/ui/assets/${name}`) as string;

/** connect starts the worker, or joins the one that other tabs use. */
export async function connect(): Promise<void> {
  if (typeof SharedWorker === 'function') {
    // With an extended lifetime the worker, and the login in it, outlives the reload of the only tab.
    const options = { name: 'reeve', type: 'module', extendedLifetime: true } as WorkerOptions;
    const worker = new SharedWorker(workerURL('worker.js'), options);
    worker.port.onmessage = (e) => receive(e.data as FromWorker);
    worker.port.start();
    post = (m) => worker.port.postMessage(m);
  } else {
    const own = await import('../worker/main');
    const take = own.connect({ postMessage: (m) => queueMicrotask(() => receive(m)) });
    post = (m) => take(m);
  }
  // A page that the browser keeps for "back" must not hold streams, and its state is old when it returns.
  addEventListener('pagehide', () => post({ do: 'bye' }));
  addEventListener('pageshow', (e) => {
    if (e.persisted) location.reload();
  });
}

function receive(m: FromWorker): void {
  switch (m.is) {
    case 'answer':
      answers.get(m.id)?.(m.answer);
      answers.delete(m.id);
      return;
    case 'login':
      login.value = m.login;
      return;
    case 'health':
      health.value = m.health;
      see(m.health.index);
      return;
    case 'events': {
      // After a restore the servers have another history: a batch that waited for its frame is no longer true.
      const before = resets;
      requestAnimationFrameOrSoon(() => {
        if (before === resets) {
          listeners.forEach((l) => l.events(m.events, m.index, m.every));
          see(m.index);
        }
        post({ do: 'ack' });
      });
      return;
    }
    case 'watching':
      listeners.forEach((l) => l.watching(m.topics, m.after));
      return;
    case 'reset':
      resets++;
      seen.value = 0; // the indexes of another history
      listeners.forEach((l) => l.reset());
      return;
    case 'chunk':
      receivers.get(m.id)?.text(m.text);
      post({ do: 'more', id: m.id });
      return;
    case 'end': {
      const r = receivers.get(m.id);
      receivers.delete(m.id);
      r?.end(m.error, m.code);
      return;
    }
  }
}

/** A hidden page has no animation frames, but its copy of the state must stay true. */
function requestAnimationFrameOrSoon(f: () => void): void {
  if (document.visibilityState === 'visible') requestAnimationFrame(f);
  else setTimeout(f, 200);
}

/** ask sends a request to the API. It never throws: see Answer.error. */
export function ask<T>(request: Request, signal?: AbortSignal): Promise<Answer<T>> {
  const id = nextID++;
  signal?.addEventListener('abort', () => post({ do: 'abort', id }), { once: true });
  return new Promise((resolve) => {
    answers.set(id, (a) => {
      if (request.method === 'GET') see(a.index);
      resolve(a as Answer<T>);
    });
    post({ do: 'ask', id, request });
  });
}

/** wait sends a request that the server answers when something changes. */
export const wait = <T>(path: string, signal?: AbortSignal) => ask<T>({ method: 'GET', path, waits: true }, signal);
export const get = <T>(path: string, signal?: AbortSignal) => ask<T>({ method: 'GET', path }, signal);
export const put = <T>(path: string, body: unknown = {}) => ask<T>({ method: 'PUT', path, body });
export const del = <T>(path: string) => ask<T>({ method: 'DELETE', path });

/** watchTopics replaces the topics of this tab. */
export const watchTopics = (topics: string[], every: boolean) => post({ do: 'watch', topics, every });

/** stream reads a response as text until it ends; the result stops it. A browser has few connections for what is held long. */
export function stream(path: string, r: Receiver, held = false): () => void {
  const id = nextID++;
  receivers.set(id, r);
  post({ do: 'stream', id, path, held });
  return () => {
    receivers.delete(id);
    post({ do: 'close', id });
  };
}

/** A Socket is a websocket that the worker holds. */
export interface Socket {
  send(message: unknown): void;
  close(): void;
}

/** socket opens a websocket of the exec protocol. Its first, empty text says that it is open. */
export function socket(path: string, r: Receiver): Socket {
  const id = nextID++;
  receivers.set(id, r);
  post({ do: 'socket', id, path });
  return {
    send: (message) => post({ do: 'send', id, text: JSON.stringify(message) }),
    close: () => post({ do: 'close', id }),
  };
}

function loginMessage(m: (id: number) => ToWorker): Promise<Answer> {
  const id = nextID++;
  return new Promise((resolve) => {
    answers.set(id, resolve);
    post(m(id));
  });
}

export const logIn = (credential: Credential) => loginMessage((id) => ({ do: 'login', id, with: credential }));
export const logOut = () => loginMessage((id) => ({ do: 'logout', id }));
export const noteActivity = () => post({ do: 'active' });
export const retryNow = () => post({ do: 'retry' });
