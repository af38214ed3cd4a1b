// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// A fake API without a browser: the worker runs in the tab, and the test answers what it reads.

import assert from 'node:assert/strict';

export interface Row {
  ID: string;
  N: number;
}

type Open = ReadableStreamDefaultController<Uint8Array>;

/**
 * fake holds the open stream of the page, those that replay the past, and the answers that reads wait for, oldest first.
 * The page's stream opens when it may, and is complete after an index; the next attempts to open it may be refused.
 */
export const fake: { events: Open | undefined; after: number; may: Promise<void>; refuse: number; past: { from: number; stream: Open }[]; lists: ((answer: Response) => void)[]; paths: string[]; leave(e: { persisted: boolean }): void } = {
  events: undefined, after: 3, may: Promise.resolve(), refuse: 0, past: [], lists: [], paths: [], leave: () => {},
};

export const json = (body: unknown, headers: Record<string, string> = {}) => new Response(JSON.stringify(body), { headers: { 'Content-Type': 'application/json', ...headers } });

const globals = globalThis as unknown as Record<string, unknown>;
globals.self = globalThis;
globals.document = { visibilityState: 'hidden', addEventListener: () => {} };
globals.localStorage = { getItem: () => null, setItem: () => {} };
globals.location = new URL('http://127.0.0.1/ui/');
globals.addEventListener = (name: string, f: typeof fake.leave) => name === 'pagehide' && (fake.leave = f);
globals.fetch = async (path: string, { signal }: { signal?: AbortSignal } = {}): Promise<Response> => {
  if (path.startsWith('/v1/ui/config')) return json({ Admitted: true });
  if (path.startsWith('/v1/ui/rights')) return json({ Management: true, Cluster: [], Namespaces: {} });
  if (path.startsWith('/v1/event/stream')) {
    const query = new URL(path, 'http://127.0.0.1').searchParams;
    const replays = query.get('namespace') !== '*';
    if (!replays) await fake.may;
    if (!replays && fake.refuse > 0) {
      fake.refuse--;
      return new Response('{"Code":"not_found","Message":"another history"}', { status: 404 });
    }
    const body = new ReadableStream<Uint8Array>({
      start: (c) => {
        if (replays) fake.past.push({ from: Number(query.get('index')), stream: c });
        else fake.events = c;
        signal?.addEventListener('abort', () => c.error(new DOMException('', 'AbortError')), { once: true });
      },
    });
    return new Response(body, { headers: { 'X-Reeve-Events-After': String(fake.after), 'X-Reeve-Timeline': 't' } });
  }
  fake.paths.push(path);
  return new Promise((resolve) => fake.lists.push(resolve));
};

/** line sends a batch of a stream, by default that of the page. */
export const line = (batch: object, to: Open = fake.events!) => to.enqueue(new TextEncoder().encode(`${JSON.stringify(batch)}\n`));

/** send sends the event of a thing. */
export const send = (index: number, id: string, n: number, more: object = {}) =>
  line({ Index: index, Events: [{ Topic: 'Thing', Key: id, Index: index, Payload: { Thing: { ID: id, N: n } }, ...more }] });

/** until waits for a condition. */
export async function until(what: string, check: () => boolean): Promise<void> {
  const end = Date.now() + 10_000;
  while (!check()) {
    assert.ok(Date.now() < end, what);
    await new Promise((r) => setTimeout(r, 5));
  }
}
