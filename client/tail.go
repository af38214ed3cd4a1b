// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"context"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Limits of Tail.
const (
	maxTailBytes = 16 << 10
	maxTailLine  = 512 // runes per line
)

// Tail returns the last lines of a task's log, at most n, for display on a terminal: without
// control characters, and with long lines cut. kind is api.LogStdout or api.LogStderr. Empty
// lines, and lines that are not completely in the last 16 KiB of the log, are left out.
func (f FS) Tail(ctx context.Context, alloc, task, kind string, n int) ([]string, error) {
	var text bytes.Buffer
	for frame, err := range f.Logs(ctx, alloc, LogOptions{Task: task, Type: kind, Origin: api.OriginEnd, Offset: maxTailBytes}) {
		if err != nil {
			return nil, err
		}
		text.Write(frame.Data)
		if text.Len() > 2*maxTailBytes { // the task writes faster than Tail reads
			break
		}
	}
	return lastLines(text.String(), text.Len() >= maxTailBytes, n), nil
}

// lastLines returns the last n non-empty lines of a text, made printable. cut reports whether
// the text begins within a line.
func lastLines(text string, cut bool, n int) []string {
	if cut {
		if _, rest, found := strings.Cut(text, "\n"); found {
			text = rest
		}
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = api.Printable(line, maxTailLine); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-max(0, n)):]
}
