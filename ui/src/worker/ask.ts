// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Requests to the API, with the token of the session.

import type { Answer, Failure, Request } from './protocol';

/** The secret of the session. It never leaves the worker. */
export const secret = { value: '' };

export function headers(): Record<string, string> {
  const h: Record<string, string> = { Accept: 'application/json' };
  if (secret.value) h['X-Nomad-Token'] = secret.value;
  return h;
}

/** failureOf reads the error of a response. */
export async function failureOf(r: Response): Promise<Failure> {
  const text = await r.text().catch(() => '');
  try {
    const e = JSON.parse(text) as { Code?: string; Message?: string; Detail?: string[] | null };
    if (typeof e.Message === 'string') {
      return { status: r.status, code: e.Code ?? '', message: e.Message, detail: e.Detail ?? [] };
    }
  } catch {
    // Proxies answer with text or HTML.
  }
  const message = r.headers.get('Content-Type')?.startsWith('text/plain') ? text.trim() : '';
  return { status: r.status, code: '', message: message || `the server answered ${r.status} ${r.statusText}`.trim(), detail: [] };
}

/** unreachable is the failure of a request that got no answer. */
export function unreachable(e: unknown): Failure {
  const aborted = e instanceof DOMException && e.name === 'AbortError';
  return { status: 0, code: aborted ? 'aborted' : 'unreachable', message: aborted ? 'the request was cancelled' : 'no server answers', detail: [] };
}

/** ask sends a request and reads its answer. It never throws. */
export async function ask(q: Request, signal?: AbortSignal): Promise<Answer> {
  const none = { body: undefined, index: 0, next: '', warnings: '' };
  let r: Response;
  try {
    const h = headers();
    if (q.body !== undefined) h['Content-Type'] = 'application/json';
    r = await fetch(q.path, {
      method: q.method,
      headers: h,
      body: q.body === undefined ? undefined : JSON.stringify(q.body),
      signal,
      credentials: 'omit',
      redirect: 'error',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
    });
  } catch (e) {
    return { ...none, ok: false, status: 0, error: unreachable(e) };
  }
  if (!r.ok) return { ...none, ok: false, status: r.status, error: await failureOf(r) };
  try {
    return {
      ok: true,
      status: r.status,
      body: await read(r, q.want),
      index: Number(r.headers.get('X-Reeve-Index') ?? 0),
      next: r.headers.get('X-Nomad-NextToken') ?? '',
      warnings: r.headers.get('X-Reeve-Warnings') ?? '',
    };
  } catch (e) {
    return { ...none, ok: false, status: 0, error: unreachable(e) };
  }
}

async function read(r: Response, want: Request['want']): Promise<unknown> {
  switch (want) {
    case 'text':
      return r.text();
    case 'blob':
      return r.blob();
    case 'bytes':
      return r.arrayBuffer();
    default: {
      const text = await r.text();
      return text === '' ? undefined : JSON.parse(text);
    }
  }
}
