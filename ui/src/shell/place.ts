// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { signal } from '@preact/signals';

/** The page's address. All state of a view is in it, so that a link shows the same. */
export interface Place {
  /** Path segments below /ui/, decoded. */
  path: string[];
  query: URLSearchParams;
}

const root = '/ui/';

/** parsePlace reads an address; undefined if it is not one of the UI. */
export function parsePlace(url: URL): Place | undefined {
  if (url.pathname !== '/ui' && !url.pathname.startsWith(root)) return undefined;
  const path: string[] = [];
  for (const part of url.pathname.slice(root.length).split('/')) {
    if (part === '') continue;
    try {
      path.push(decodeURIComponent(part));
    } catch {
      return undefined;
    }
  }
  return { path, query: url.searchParams };
}

/** to returns the address of a page. Each segment is escaped: ids may contain slashes. */
export function to(path: string[], query: Record<string, string | undefined> = {}): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) if (v !== undefined && v !== '') q.set(k, v);
  const text = q.toString();
  return root + path.map(encodeURIComponent).join('/') + (text && `?${text}`);
}

/** inNamespace is the query of an address in a namespace; the default one needs none. */
export const inNamespace = (namespace: string | undefined) => ({ namespace: namespace === 'default' ? undefined : namespace });

export const toJob = (id: string, namespace?: string, tab?: string, query: Record<string, string | undefined> = {}) =>
  to(tab ? ['job', id, tab] : ['job', id], { ...inNamespace(namespace), ...query });
export const toAllocation = (id: string, tab?: string, query: Record<string, string | undefined> = {}) =>
  to(tab ? ['allocation', id, tab] : ['allocation', id], query);
export const toNode = (id: string) => to(['node', id]);

export const place = signal<Place>({ path: [], query: new URLSearchParams() });

function read(): void {
  place.value = parsePlace(new URL(location.href)) ?? { path: ['?'], query: new URLSearchParams() };
}

/** go shows another page. */
export function go(address: string, replace = false): void {
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  read();
  if (!replace) scrollTo(0, 0);
}

/** setQuery changes one parameter of the address, without an entry in the history. */
export function setQuery(name: string, value: string | undefined): void {
  const url = new URL(location.href);
  if (value) url.searchParams.set(name, value);
  else url.searchParams.delete(name);
  go(url.pathname + url.search, true);
}

/** startRouting follows the address, and links within the UI. */
export function startRouting(): void {
  read();
  addEventListener('popstate', read);
  document.addEventListener('click', (e) => {
    if (e.defaultPrevented || e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    const link = (e.target as Element).closest?.('a');
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (!parsePlace(new URL(link.href))) return;
    e.preventDefault();
    if (link.href === location.href) return;
    go(link.pathname + link.search);
  });
}
