// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func TestLinesOfSeveralInstancesDoNotMix(t *testing.T) {
	var out bytes.Buffer
	var mu sync.Mutex
	a, b := &linePrefix{mu: &mu, w: &out, prefix: "web-0 | "}, &linePrefix{mu: &mu, w: &out, prefix: "web-1 | "}
	for _, write := range []struct {
		to   *linePrefix
		text string
	}{{a, "one\ntw"}, {b, "ONE\n"}, {a, "o\nthree"}, {b, ""}, {b, strings.Repeat("x", longestHeld+1)}} {
		if n, err := write.to.Write([]byte(write.text)); n != len(write.text) || err != nil {
			t.Fatalf("got %d, %v", n, err)
		}
	}
	if err := a.end(); err != nil {
		t.Fatal(err)
	}
	want := "web-0 | one\nweb-1 | ONE\nweb-0 | two\nweb-1 | " + strings.Repeat("x", longestHeld+1) + "\nweb-0 | three\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFollowedLogsGoOnBehindRotatedFiles(t *testing.T) {
	files := []*api.FileInfo{
		{Name: "http.stderr.0", Size: 9}, {Name: "http.stdout.3", Size: 100}, {Name: "http.stdout.4", Size: 200}, {Name: "http.stdout.5", Size: 50},
		{Name: "other.stdout.3", Size: 7}, {Name: "http.stdout.x", Size: 1},
	}
	for _, c := range []struct {
		file   string
		offset int64
		want   int64
	}{
		{"http.stdout.3", 40, 40},
		{"http.stdout.5", 50, 350},
		{"http.stdout.2", 77, 0}, // it is gone: all that is left comes after it
	} {
		if got := offsetBehind(files, &api.StreamFrame{File: c.file, Offset: c.offset}); got != c.want {
			t.Errorf("behind byte %d of %s: got offset %d, want %d", c.offset, c.file, got, c.want)
		}
	}
}
