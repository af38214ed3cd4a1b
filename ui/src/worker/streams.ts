// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Streams of text and websockets that the worker keeps open for a tab.

import { failureOf, headers, secret, unreachable } from './ask';
import type { Places } from './places';
import type { Failure } from './protocol';
import type { Tab } from './tab';

const chunkLimit = 256 << 10;

const tooMany: Failure = {
  status: 429, code: 'too-many-streams', detail: [],
  message: 'A browser allows few connections to one address, and other tabs or panes follow as many logs as it allows. Close one of them, and try again.',
};

/**
 * stream passes the text of a response to a tab, one chunk at a time: the tab asks for each further one. A stream that
 * goes on for long keeps one of the places.
 */
export async function stream(tab: Tab, id: number, path: string, places?: Places): Promise<void> {
  const abort = new AbortController();
  tab.aborts.set(id, () => abort.abort());
  const release = places && (await places.keep());
  if (places && !release) {
    tab.aborts.delete(id);
    tab.say({ is: 'end', id, error: tooMany });
    return;
  }
  try {
    const r = await fetch(path, { headers: headers(), signal: abort.signal, credentials: 'omit', cache: 'no-store', redirect: 'error' });
    if (!r.ok || !r.body) {
      tab.say({ is: 'end', id, error: await failureOf(r) });
      return;
    }
    const reader = r.body.getReader();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      for (let at = 0; at < text.length; at += chunkLimit) {
        const wait = new Promise<void>((resolve) => tab.credits.set(id, resolve));
        tab.say({ is: 'chunk', id, text: text.slice(at, at + chunkLimit) });
        await Promise.race([wait, aborted(abort.signal)]);
      }
      if (done) break;
    }
    tab.say({ is: 'end', id });
  } catch (e) {
    if (!abort.signal.aborted) tab.say({ is: 'end', id, error: unreachable(e) });
  } finally {
    abort.abort();
    release?.();
    tab.aborts.delete(id);
    tab.credits.delete(id);
  }
}

function aborted(s: AbortSignal): Promise<void> {
  return new Promise((resolve) => (s.aborted ? resolve() : s.addEventListener('abort', () => resolve(), { once: true })));
}

const pingEvery = 20_000;
const earlyLimit = 1_000;

/** socket opens a websocket of the exec protocol. The token is its first message, as browsers cannot set headers. */
export function socket(tab: Tab, id: number, path: string): void {
  const url = new URL(path, self.location.origin);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.searchParams.set('ws_handshake', 'true');
  const ws = new WebSocket(url);
  const ping = setInterval(() => ws.readyState === WebSocket.OPEN && ws.send('{}'), pingEvery);
  const early: string[] = []; // what a user types before the server answers
  tab.sockets.set(id, {
    send: (text) => {
      if (ws.readyState === WebSocket.OPEN) ws.send(text);
      else if (ws.readyState === WebSocket.CONNECTING && early.length < earlyLimit) early.push(text);
    },
  });
  ws.onopen = () => {
    ws.send(JSON.stringify({ version: 1, auth_token: secret.value }));
    for (const text of early) ws.send(text);
    tab.say({ is: 'chunk', id, text: '' });
  };
  ws.onmessage = (m) => tab.say({ is: 'chunk', id, text: String(m.data) });
  ws.onclose = (e) => {
    clearInterval(ping);
    tab.sockets.delete(id);
    tab.aborts.delete(id);
    const message = e.reason || (e.code === 1006 ? 'the connection broke, or the server refused it' : '');
    tab.say({ is: 'end', id, code: e.code, error: e.code === 1000 ? undefined : { status: 0, code: 'closed', message, detail: [] } });
  };
  tab.aborts.set(id, () => ws.close(1000));
}
