// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Keys: each key belongs to what is on the screen, and the page shows which ones act.

import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

/** A Key is one action by the keyboard. */
export interface Key {
  /** The key, such as c or ?, or two keys in sequence, such as "g j". */
  key: string;
  /** What it does, as an imperative. */
  name: string;
  act(): void;
  /** Whether the page's footer shows it. */
  shown?: boolean;
}

const keys = signal<Key[]>([]);

/** activeKeys are the keys that act now; the newest of equal ones wins. */
export const activeKeys = keys;

/** singleKeys can be switched off, for people whose speech input types (WCAG 2.1.4). */
export const singleKeys = signal(localStorage.getItem('reeve.keys') !== 'off');

export function setSingleKeys(on: boolean): void {
  localStorage.setItem('reeve.keys', on ? 'on' : 'off');
  singleKeys.value = on;
}

/** useKeys makes keys act while the component is shown. */
export function useKeys(own: Key[]): void {
  const newest = useRef(own);
  newest.current = own;
  useEffect(() => {
    // Each key calls the function of the newest rendering, which sees the newest state.
    const mine = own.map((k, i) => ({ ...k, act: () => newest.current[i]?.act() }));
    keys.value = [...keys.peek(), ...mine];
    return () => {
      keys.value = keys.peek().filter((k) => !mine.includes(k));
    };
  }, [own.map((k) => `${k.key}=${k.name}`).join()]);
}

let first = '';
let timer: ReturnType<typeof setTimeout> | undefined;

function inField(e: KeyboardEvent): boolean {
  const t = e.target as HTMLElement;
  return t.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName) || t.closest('.xterm, dialog') !== null;
}

/** startKeys follows the keyboard. */
export function startKeys(): void {
  document.addEventListener('keydown', (e) => {
    const command = (e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'k';
    if (command) {
      run('ctrl+k', e);
      return;
    }
    if (e.ctrlKey || e.metaKey || e.altKey || inField(e)) return;
    if (e.key === 'Escape') {
      run('Escape', e);
      return;
    }
    if (!singleKeys.value) return;
    // A button or a link under the focus keeps its own keys.
    if ((e.key === ' ' || e.key === 'Enter') && (e.target as Element).closest('button, a, summary, [role=tab], [role=row], [role=treeitem]')) return;
    clearTimeout(timer);
    const pair = first ? `${first} ${e.key}` : '';
    first = '';
    if (pair && run(pair, e)) return;
    if (run(e.key === ' ' ? 'Space' : e.key, e)) return;
    if (keys.peek().some((k) => k.key.startsWith(`${e.key} `))) {
      first = e.key;
      timer = setTimeout(() => (first = ''), 1_200);
    }
  });
}

function run(key: string, e: KeyboardEvent): boolean {
  const k = keys.peek().findLast((x) => x.key === key);
  if (!k) return false;
  e.preventDefault();
  k.act();
  return true;
}
