// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * expressionOf is the expression that finds the same as words, in fields: for a list that is not loaded as a whole.
 * Every word is in some field; one with "-" is in none.
 */
export function expressionOf(text: string, fields: string[]): string {
  const one = (w: string) => fields.map((f) => `${f} matches ${JSON.stringify(`(?i)${w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)}`).join(' or ');
  return text
    .split(/\s+/)
    .filter(Boolean)
    .map((w) => (w.length > 1 && w.startsWith('-') ? `not (${one(w.slice(1))})` : `(${one(w)})`))
    .join(' and ');
}
