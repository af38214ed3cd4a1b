// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Failure } from '../worker/protocol';
import type { Read } from '../store/read';
import { CopyLine } from './copy';
import { Shape } from './shape';
import { grantedIn } from './verb';

/** Loading shows outlines of rows, but only after 150 ms: most answers are faster. */
export function Loading({ rows = 4 }: { rows?: number }) {
  const [shown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => show(true), 150);
    return () => clearTimeout(timer);
  }, []);
  if (!shown) return <div class="loading" aria-busy="true" />;
  return (
    <div class="loading" role="status" aria-busy="true" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} class="outline" />
      ))}
    </div>
  );
}

/**
 * Empty says in one sentence why nothing is here, and which command fills it. A list shows only what the token may
 * see: needs is the capability that decides about it in each namespace.
 */
export function Empty({ children, command, needs }: { children: ComponentChildren; command?: string; needs?: string }) {
  const within = needs ? grantedIn(needs) : undefined;
  if (within?.length === 0) {
    return (
      <div class="empty">
        <p>
          Your token lacks the capability {needs} in every namespace. What exists stays hidden from it. Ask for a policy with{' '}
          <code>{`namespace "default" { policy = "read" }`}</code>.
        </p>
      </div>
    );
  }
  return (
    <div class="empty">
      <p>{children}</p>
      {command && <CopyLine text={command} />}
      {within && (
        <p class="sub">
          Your token sees {within.length === 1 ? 'namespace' : 'the namespaces'} {within.slice(0, 5).join(', ')}
          {within.length > 5 ? ` and ${within.length - 5} more` : ''}, and no other.
        </p>
      )}
    </div>
  );
}

/** Failed shows an error of the API, with what to do. */
export function Failed({ error, again }: { error: Failure; again?: () => void }) {
  const title =
    error.status === 403 ? 'Refused.' : error.status === 404 ? 'Not found.' : error.status === 0 ? 'No server answers.' : 'The request failed.';
  return (
    <div class="err" role="alert">
      <p>
        <Shape of="bad" /> <b>{title}</b>
      </p>
      <p class="said">{error.status === 0 ? 'The page shows what it knew, and goes on when a server answers.' : error.message}</p>
      {error.detail.length > 0 && (
        <ul>
          {error.detail.map((d) => (
            <li key={d}>{d}</li>
          ))}
        </ul>
      )}
      {again && (
        <button class="b" type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Listed shows a list in each of its states. The filter bar tells of an invalid filter. */
export function Listed({ error, loading, size, again, children }: { error: Failure | undefined; loading: boolean; size: number; again: () => void; children: ComponentChildren }) {
  const filter = error?.status === 400;
  const shown = error?.status !== 403 && (size > 0 || filter || (!error && !loading));
  return (
    <>
      {error && !filter && <Failed error={error} again={again} />}
      {shown && children}
      {loading && !error && size === 0 && <Loading rows={8} />}
    </>
  );
}

/** Shown renders a read in each of its states. Old data stays visible above a new error. */
export function Shown<T>({ read, children }: { read: Read<T>; children: (data: T) => ComponentChildren }) {
  if (read.data === undefined) {
    return read.error ? <Failed error={read.error} again={read.again} /> : <Loading />;
  }
  return (
    <>
      {read.error && read.error.status !== 0 && <Failed error={read.error} again={read.again} />}
      {children(read.data)}
    </>
  );
}
