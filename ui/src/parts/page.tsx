// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { clock, ms, stamp } from '../words/time';

/** Head is the top of a page: where it is, its title, one sentence, and its verbs. */
export function Head(p: { title: string; crumbs?: { name: string; href: string }[]; mark?: ComponentChildren; sentence?: ComponentChildren; children?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${p.title} · Reeve`;
  }, [p.title]);
  return (
    <>
      {p.crumbs && (
        <nav class="crumb" aria-label="Breadcrumb">
          {p.crumbs.map((c) => (
            <>
              <a href={c.href}>{c.name}</a>
              {' / '}
            </>
          ))}
          <span aria-current="page">{p.title}</span>
        </nav>
      )}
      <div class="head">
        <div>
          <h1>
            <span class="title">{p.title}</span> {p.mark}
          </h1>
          {p.sentence && <p class="meta">{p.sentence}</p>}
        </div>
        <div class="btns">{p.children}</div>
      </div>
    </>
  );
}

/** Card is a titled part of a page. */
export function Card(p: { title: ComponentChildren; sub?: ComponentChildren; id?: string; children: ComponentChildren; class?: string }) {
  return (
    <section class={`card ${p.class ?? ''}`} id={p.id}>
      <header>
        <h2>{p.title}</h2>
        {p.sub !== undefined && <span class="sub">{p.sub}</span>}
      </header>
      {p.children}
    </section>
  );
}

/** Tabs are the views of one object; each has its own address. */
export function Tabs(p: { label: string; current: string; tabs: { key: string; name: ComponentChildren; href: string }[] }) {
  const nav = useRef<HTMLElement>(null);
  // On a phone the row of tabs is wider than the screen: the current one is in its middle.
  useLayoutEffect(() => {
    const el = nav.current!;
    const tab = el.querySelector<HTMLElement>('[aria-current]');
    if (tab) el.scrollLeft = tab.offsetLeft - (el.clientWidth - tab.offsetWidth) / 2;
  }, [p.current]);
  return (
    <nav class="tabs" aria-label={p.label} ref={nav}>
      {p.tabs.map((t) => (
        <a key={t.key} href={t.href} aria-current={t.key === p.current ? 'page' : undefined}>
          {t.name}
        </a>
      ))}
    </nav>
  );
}

/** Facts is a list of names and values. Values that are absent are left out. */
export function Facts({ of }: { of: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {of
        .filter(([, v]) => v !== undefined && v !== null && v !== '' && v !== false)
        .map(([k, v]) => (
          <>
            <dt>{k}</dt>
            <dd>{v}</dd>
          </>
        ))}
    </dl>
  );
}

/** Time is an absolute time of the API. */
export function Time({ of }: { of: number | string | undefined | null }) {
  const t = ms(of);
  if (!t) return null;
  return (
    <time dateTime={new Date(t).toISOString()} title={stamp(t)}>
      {clock(t)}
    </time>
  );
}

/** when is a time for Facts, which leave out a time that is not set. */
export const when = (t: number | string | undefined | null) => (ms(t) ? <Time of={t} /> : '');

/** Bar is a share of a whole with its text beside it. */
export function Bar({ part, whole, of = 'go', label }: { part: number; whole: number; of?: string; label?: string }) {
  const share = whole > 0 ? Math.min(1, part / whole) : 0;
  const named = label ? { role: 'img' as const, 'aria-label': label } : { 'aria-hidden': true as const };
  return (
    <svg class={`bar ${of}`} viewBox="0 0 100 6" preserveAspectRatio="none" {...named}>
      <rect class="all" width="100" height="6" />
      <rect width={share * 100} height="6" fill="currentColor" />
    </svg>
  );
}
