// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { signal } from '@preact/signals';

/** The chosen theme; auto follows the browser. */
export type Theme = 'auto' | 'light' | 'dark';

export const theme = signal<Theme>((localStorage.getItem('reeve.theme') as Theme | null) ?? 'auto');

export function setTheme(t: Theme): void {
  localStorage.setItem('reeve.theme', t);
  theme.value = t;
  applyTheme();
}

export function applyTheme(): void {
  if (theme.value === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}
