// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The terminal. It is a chunk of its own, because xterm is large.

import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';

/** What a session does with the terminal. */
export interface Screen {
  write(data: Uint8Array | string): void;
  size(): { width: number; height: number };
  fit(): void;
  focus(): void;
  end(): void;
}

/**
 * xterm writes its rules into <style> elements, which the page's policy blocks. Each such element stays empty, and
 * its rules become a constructed style sheet.
 */
function constructStyles(): () => void {
  const create = document.createElement;
  const sheets = new Set<CSSStyleSheet>();
  document.createElement = function (this: Document, name: string, options?: ElementCreationOptions) {
    const el = create.call(document, name, options) as HTMLElement;
    if (name.toLowerCase() !== 'style') return el;
    const sheet = new CSSStyleSheet();
    sheets.add(sheet);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    let text = '';
    Object.defineProperty(el, 'textContent', {
      get: () => text,
      set: (v: string) => {
        text = v;
        sheet.replaceSync(v);
      },
    });
    return el;
  } as typeof document.createElement;
  return () => {
    document.createElement = create;
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((s) => !sheets.has(s));
  };
}

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** open shows a terminal in an element. Shift+Esc leaves it; all other keys are the program's. */
export function open(into: HTMLElement, on: { data(text: string): void; resize(width: number, height: number): void; leave(): void }): Screen {
  const restore = constructStyles();
  const theme = () => ({ background: colour('--bg'), foreground: colour('--text'), cursor: colour('--accent'), selectionBackground: colour('--sel') });
  const term = new Terminal({
    fontFamily: 'ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace',
    fontSize: 13,
    scrollback: 10_000,
    screenReaderMode: true,
    minimumContrastRatio: 4.5,
    theme: theme(),
    // A program in a task must not make links that a click opens.
    linkHandler: { activate: () => {} },
  });
  const fit = new FitAddon();
  term.loadAddon(fit);
  term.open(into);
  fit.fit();
  term.attachCustomKeyEventHandler((e) => {
    if (e.key !== 'Escape' || !e.shiftKey) return true;
    if (e.type === 'keydown') on.leave();
    return false;
  });
  term.onData(on.data);
  term.onResize(({ cols, rows }) => on.resize(cols, rows));
  const size = new ResizeObserver(() => into.clientWidth > 0 && fit.fit());
  size.observe(into);
  const change = () => (term.options.theme = theme());
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', change);
  return {
    write: (data) => term.write(data),
    size: () => ({ width: term.cols, height: term.rows }),
    fit: () => fit.fit(),
    focus: () => term.focus(),
    end() {
      size.disconnect();
      scheme.removeEventListener('change', change);
      term.dispose();
      restore();
    },
  };
}
