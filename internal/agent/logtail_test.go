// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestTheTailOfTheLogIsBounded(t *testing.T) {
	tail, out := &logTail{}, &bytes.Buffer{}
	log := withTail(slog.New(slog.NewTextHandler(out, nil)), tail).With("agent", "one")
	log.Debug("hidden")
	for i := range 20_000 {
		log.Info("line", "number", i, "text", strings.Repeat("x", 60))
	}
	got := string(tail.bytes())
	if len(got) > tailBytes || len(got) < tailBytes/3 || strings.Contains(got, "hidden") {
		t.Errorf("the tail has %d bytes", len(got))
	}
	if !strings.HasPrefix(got, "time=") || !strings.Contains(got, fmt.Sprint("agent=one number=", 19_999)) || !strings.HasSuffix(got, "\n") {
		t.Errorf("the tail begins with %.80q and ends with %q", got, got[len(got)-80:])
	}
	if !strings.HasSuffix(out.String(), got) {
		t.Error("the tail is not the end of the log")
	}
	if n, err := tail.Write(bytes.Repeat([]byte("y"), 2*tailBytes)); n != 2*tailBytes || err != nil || len(tail.bytes()) > tailBytes {
		t.Errorf("a huge line: %d, %v, %d bytes kept", n, err, len(tail.bytes()))
	}
}
