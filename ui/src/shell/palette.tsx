// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { JobListStub, SearchResponse } from '../api/schema';
import { get, put } from '../link/link';
import { pageVerbs, start, type Verb } from '../parts/verb';
import { short } from '../words/count';
import { activeKeys } from './keys';
import { pages } from './pages';
import { go, place, to, toAllocation, toJob, toNode } from './place';

const open = signal<'' | 'search' | 'verbs' | 'keys'>('');

export const openPalette = (what: 'search' | 'verbs' | 'keys') => (open.value = what);

interface Entry {
  kind: string;
  name: string;
  act(): void;
}

/** Palette finds pages, objects by the beginning of their id or name, and the verbs of the page. */
export function Palette() {
  if (!open.value) return null;
  return <Opened what={open.value} key={open.value} />;
}

function Opened({ what }: { what: 'search' | 'verbs' | 'keys' }) {
  const ref = useRef<HTMLDialogElement>(null);
  const [text, set] = useState('');
  const [found, setFound] = useState<Entry[]>([]);
  const [at, setAt] = useState(0);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    ref.current!.showModal();
    return () => before?.focus?.();
  }, []);
  useEffect(() => {
    setAt(0);
    if (what !== 'search' || text.trim().length < 1) {
      setFound([]);
      return;
    }
    let mine = true;
    const timer = setTimeout(() => {
      void search(text.trim()).then((list) => mine && setFound(list));
    }, 100);
    return () => {
      mine = false;
      clearTimeout(timer);
    };
  }, [text]);
  const close = () => (open.value = '');
  const local = useMemo(() => localEntries(what, pageVerbs.value), [what, pageVerbs.value]);
  const needle = text.trim().toLowerCase();
  // A name that is typed to find an object must not start a verb which contains it.
  const matches = (e: Entry) => (what === 'search' && e.kind === 'verb' ? needle !== '' && e.name.toLowerCase().startsWith(needle) : e.name.toLowerCase().includes(needle));
  const entries = [...local.filter(matches), ...found].slice(0, 50);
  const chosen = entries[Math.min(at, entries.length - 1)];
  const act = (e: Entry | undefined) => {
    if (!e) return;
    close();
    // The dialog gives the focus back first: a verb may open its own.
    setTimeout(() => e.act());
  };
  if (what === 'keys') return <Keys dialog={ref} close={close} />;
  return (
    <dialog ref={ref} class="palette" aria-label={what === 'verbs' ? 'Verbs of this page' : 'Search'} onClose={close} onClick={(e) => e.target === ref.current && close()}>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={chosen ? `palette-${entries.indexOf(chosen)}` : undefined}
        aria-label={what === 'verbs' ? 'Find a verb' : 'Search jobs, nodes, ids; or a command'}
        placeholder={what === 'verbs' ? 'Find a verb' : 'Search jobs, nodes, ids; or a command'}
        value={text}
        autofocus
        spellcheck={false}
        onInput={(e) => set(e.currentTarget.value)}
        onKeyDown={(e) => {
          if (e.key === 'ArrowDown') setAt(Math.min(entries.length - 1, at + 1));
          else if (e.key === 'ArrowUp') setAt(Math.max(0, at - 1));
          else if (e.key === 'Enter') act(chosen);
          else return;
          e.preventDefault();
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Results">
        {entries.map((e, i) => (
          <li key={`${e.kind} ${e.name}`} id={`palette-${i}`} role="option" aria-selected={e === chosen} onClick={() => act(e)}>
            <span>{e.name}</span> <span class="sub">{e.kind}</span>
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p class="empty">{needle ? `Nothing begins with "${text.trim()}".` : 'This page has no verbs.'}</p>}
    </dialog>
  );
}

function localEntries(what: string, verbs: Verb[]): Entry[] {
  const own = verbs.map((v) => ({ kind: 'verb', name: v.name, act: () => start(v) }));
  if (what === 'verbs') return own;
  return [...pages.filter((p) => p.listed).map((p) => ({ kind: 'page', name: p.title, act: () => go(to(p.name ? [p.name] : [])) })), ...own];
}

/** search asks for objects whose id or name begins with the text. */
async function search(text: string): Promise<Entry[]> {
  // A search is a write to the servers' checks, and names one namespace; a list of jobs may name all.
  const [jobs, answer] = await Promise.all([
    get<JobListStub[] | null>(`/v1/jobs?${new URLSearchParams({ namespace: '*', prefix: text, per_page: '10' })}`),
    put<SearchResponse>(`/v1/search?${new URLSearchParams({ namespace: place.peek().query.get('namespace') ?? 'default' })}`, { Prefix: text, Context: 'all' }),
  ]);
  const leads: Record<string, (id: string) => string> = {
    allocs: (id) => toAllocation(id), nodes: (id) => toNode(id),
    evals: (id) => to(['evaluations'], { evaluation: id }), deployment: (id) => to(['rollouts'], { deployment: id }),
    namespaces: (id) => to(['namespaces'], { name: id }), node_pools: (id) => to(['nodes'], { filter: `NodePool == "${id}"` }),
  };
  const out: Entry[] = (jobs.ok ? (jobs.body ?? []) : []).map((j) => ({
    kind: j.Namespace === 'default' ? 'job' : `job in ${j.Namespace}`,
    name: j.ID ?? '',
    act: () => go(toJob(j.ID ?? '', j.Namespace)),
  }));
  for (const [kind, ids] of Object.entries((answer.ok && answer.body.Matches) || {})) {
    const lead = leads[kind];
    if (!lead) continue;
    for (const id of (ids ?? []).slice(0, 10)) {
      const name = /^[0-9a-f]{8}-/.test(id) ? `${short(id)} ${id.slice(8)}` : id;
      out.push({ kind: { allocs: 'allocation', nodes: 'node', evals: 'evaluation', node_pools: 'node pool', namespaces: 'namespace' }[kind] ?? kind, name, act: () => go(lead(id)) });
    }
  }
  return out;
}

function Keys({ dialog, close }: { dialog: RefObject<HTMLDialogElement | null>; close(): void }) {
  const seen = new Set<string>();
  const list = activeKeys.value.toReversed().filter((k) => !seen.has(k.key) && seen.add(k.key));
  return (
    <dialog ref={dialog} class="palette" aria-label="Keys" onClose={close}>
      <h2>Keys</h2>
      <dl class="facts">
        {list.map((k) => (
          <>
            <dt>
              <kbd>{k.key}</kbd>
            </dt>
            <dd>{k.name}</dd>
          </>
        ))}
      </dl>
      <button type="button" class="b" onClick={close} autofocus>
        Close
      </button>
    </dialog>
  );
}
