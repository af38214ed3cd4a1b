// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"context"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// What Tail reads at most.
const (
	maxTailBytes = 16 << 10
	maxTailLine  = 512 // runes of a line
)

// Tail returns the last lines of a task's log, at most n, to be shown on a
// terminal: without control characters, and long lines cut. Kind is
// api.LogStdout or api.LogStderr. Lines that are not wholly in the last 16 KiB of
// the log are left out, and so are empty ones.
func (f FS) Tail(ctx context.Context, alloc, task, kind string, n int) ([]string, error) {
	var text bytes.Buffer
	for frame, err := range f.Logs(ctx, alloc, LogOptions{Task: task, Type: kind, Origin: api.OriginEnd, Offset: maxTailBytes}) {
		if err != nil {
			return nil, err
		}
		text.Write(frame.Data)
		if text.Len() > 2*maxTailBytes { // it is written to faster than it is read
			break
		}
	}
	return lastLines(text.String(), text.Len() >= maxTailBytes, n), nil
}

// lastLines are the last n lines of a text that are not empty, made fit to be
// shown. Cut reports whether the text begins within a line.
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
