// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { code } from '../link/code';
import { health, login, noteActivity, retryNow } from '../link/link';
import { Announcer } from '../parts/announce';
import { Failed, Loading } from '../parts/states';
import { VerbDialog } from '../parts/verbs';
import { asking, copyCommand, failedVerb } from '../parts/verb';
import { copy } from '../parts/copy';
import { frozen } from '../store/watch';
import { count } from '../words/count';
import { clock } from '../words/time';
import { Shape } from '../parts/shape';
import { activeKeys, singleKeys, useKeys } from './keys';
import { Login } from './login';
import { pageOf, pages, type Page } from './pages';
import { Palette, openPalette } from './palette';
import { go, place, to } from './place';

/** App is the frame around every page. */
export function App() {
  const l = login.value;
  const page = pageOf(place.value.path);
  useEffect(() => {
    const active = () => noteActivity();
    const timer = { at: 0 };
    const note = () => {
      if (Date.now() - timer.at < 60_000) return;
      timer.at = Date.now();
      active();
    };
    addEventListener('pointerdown', note);
    addEventListener('keydown', note);
    return () => {
      removeEventListener('pointerdown', note);
      removeEventListener('keydown', note);
    };
  }, []);
  if (l.state === 'unknown') {
    return (
      <main id="main" class="alone">
        <Loading rows={2} />
        {health.value.state === 'offline' && <p>No server answers. The page goes on when one does.</p>}
      </main>
    );
  }
  if (l.state === 'needed' || place.value.path[0] === 'login' || place.value.path[0] === 'oidc') return <Login />;
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <div class="app">
        <Sections current={page} />
        <div class="body">
          <Top />
          <main id="main" tabIndex={-1}>
            {page ? <Chunk page={page} path={place.value.path.slice(1)} /> : <Unknown />}
            <KeyHints />
          </main>
        </div>
      </div>
      {(asking.value || failedVerb.value) && <VerbDialog />}
      <Palette />
      <Announcer />
    </>
  );
}

function Sections({ current }: { current: Page | undefined }) {
  const listed = pages.filter((p) => p.listed);
  useKeys(listed.map((p) => ({ key: `g ${p.key}`, name: `go to ${p.title}`, act: () => go(to(p.name ? [p.name] : [])) })));
  const section = { job: 'jobs', allocation: 'instances', node: 'nodes' }[current?.name ?? ''] ?? current?.name;
  return (
    <nav class="side" aria-label="Sections">
      <div class="brand">
        <svg class="i" viewBox="0 0 16 16" aria-hidden="true">
          <path d="M2 14V7l6-5 6 5v7H9.5v-4h-3v4z" fill="none" stroke="currentColor" stroke-width="1.6" />
        </svg>
        Reeve
      </div>
      {listed.map((p) => (
        <a key={p.name} href={to(p.name ? [p.name] : [])} aria-current={p.name === section ? 'page' : undefined}>
          {p.title} <kbd aria-hidden="true">g {p.key}</kbd>
        </a>
      ))}
    </nav>
  );
}

/** Top has the search, and whether the page is live. */
function Top() {
  const h = health.value;
  const [menu, setMenu] = useState(false);
  useEffect(() => setMenu(false), [place.value]);
  useKeys([
    { key: 'Space', name: frozen.value ? 'release the view' : 'freeze the view', shown: true, act: () => (frozen.value = !frozen.value) },
    { key: 'Y', name: 'copy the link', act: () => void copy(location.href) },
    { key: 'y', name: 'copy the command', shown: true, act: copyCommand },
    { key: 'u', name: 'up', act: () => up() },
    { key: 'ctrl+k', name: 'search', act: () => openPalette('search') },
    { key: '.', name: 'all verbs', shown: true, act: () => openPalette('verbs') },
    { key: '?', name: 'all keys', shown: true, act: () => openPalette('keys') },
  ]);
  return (
    <>
      <header class="top">
        <button type="button" class="menu b" aria-expanded={menu} aria-controls="menu" onClick={() => setMenu(!menu)}>
          Menu
        </button>
        <button type="button" class="search" onClick={() => openPalette('search')}>
          <span>Search jobs, nodes, ids; or a command</span> <kbd aria-hidden="true">Ctrl K</kbd>
        </button>
        {frozen.value && (
          <button type="button" class="b" onClick={() => (frozen.value = false)}>
            Frozen: release <kbd aria-hidden="true">Space</kbd>
          </button>
        )}
        <div class="live">
          <Shape of={h.state === 'live' ? 'ok' : h.state === 'offline' ? 'bad' : 'wait'} label={h.state === 'live' ? 'Live' : h.state === 'offline' ? 'Offline' : 'Connecting'} />
          <span>{h.state === 'live' ? 'Live, index ' : h.state === 'offline' ? 'Offline, index ' : 'Connecting, index '}</span>
          <span class="num">{count(h.index)}</span>
        </div>
      </header>
      {menu && (
        <nav id="menu" class="menu-list" aria-label="Pages">
          {pages
            .filter((p) => p.listed)
            .map((p) => (
              <a key={p.name} href={to(p.name ? [p.name] : [])}>
                {p.title}
              </a>
            ))}
        </nav>
      )}
      {h.state === 'offline' && (
        <div class="offline" role="alert">
          <Shape of="bad" /> No server since {clock(h.since)}. The page shows index {count(h.index)}; verbs may fail.{' '}
          <button type="button" class="b small" onClick={retryNow}>
            Try now
          </button>
        </div>
      )}
      {login.value.config?.ReadOnly && <div class="note">This UI is read-only: it hides everything that changes something.</div>}
    </>
  );
}

/** up leads from an object to its list, and from a tab to its object. */
function up(): void {
  const { path, query } = place.value;
  const namespace = query.get('namespace') ?? undefined;
  if (path.length > 2) return go(to(path.slice(0, -1), { namespace }));
  const list = { job: 'jobs', allocation: 'instances', node: 'nodes', stack: 'stacks' }[path[0] ?? ''];
  if (list) go(to([list]));
  else if (path.length > 1) go(to(path.slice(0, -1)));
  else go(to([]));
}

/** Chunk loads the code of a page once, and shows it. */
function Chunk({ page, path }: { page: Page; path: string[] }) {
  const [loaded, set] = useState<{ page: Page; Show?: ComponentType<{ path: string[] }>; failed?: boolean }>({ page });
  useEffect(() => {
    let mine = true;
    void code(
      page.load,
      () => mine,
      () => set({ page, failed: true }),
    ).then((m) => mine && m && set({ page, Show: m.default }));
    return () => {
      mine = false;
    };
  }, [page]);
  if (loaded.failed && loaded.page === page) {
    return <Failed error={{ status: 0, code: '', message: 'The code of this page did not load.', detail: [] }} again={() => location.reload()} />;
  }
  if (!loaded.Show || loaded.page !== page) return <Loading />;
  const Show = loaded.Show;
  return <Show path={path} />;
}

function Unknown() {
  return (
    <div class="empty">
      <h1>No such page</h1>
      <p>
        The address leads nowhere. <a href={to([])}>Go to the overview</a>, or search with Ctrl K.
      </p>
    </div>
  );
}

function KeyHints() {
  if (!singleKeys.value) return null;
  const seen = new Set<string>();
  const hints = activeKeys.value.toReversed().filter((k) => k.shown && !seen.has(k.key) && seen.add(k.key)).toReversed();
  return (
    <footer class="keys" aria-hidden="true">
      {hints.map((k) => (
        <span key={k.key}>
          <kbd>{k.key}</kbd> {k.name}
        </span>
      ))}
    </footer>
  );
}
