// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package output holds text that a test reads while it is written, such as a log.
package output

import (
	"bytes"
	"sync"
)

// A Text is written and read concurrently. The zero value is empty.
type Text struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (t *Text) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(b)
}

// String returns the text so far.
func (t *Text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// Reset empties the text.
func (t *Text) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Reset()
}
