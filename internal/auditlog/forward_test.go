// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// paths returns the paths of the records of a batch.
func paths(t *testing.T, lines []byte) (all []string) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		var r api.RequestRecord
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, r.Path)
	}
	return all
}

// TestNextFollowsTheLog reads while records are written, with small files and small batches.
func TestNextFollowsTheLog(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 7))
		dir := t.TempDir()
		config := Config{Dir: dir, Files: 1000, FileBytes: 500 + random.Int64N(2000)}
		l, err := Open(config)
		if err != nil {
			t.Fatal(err)
		}
		var at Position
		var got []string
		read := func() {
			for {
				b, err := l.Next(at, 400+random.IntN(2000))
				if err != nil || b.Missing {
					t.Fatalf("seed %d: missing %v: %v", seed, b.Missing, err)
				}
				got = append(got, paths(t, b.Lines)...)
				if b.Records != len(paths(t, b.Lines)) || b.Records == 0 && b.Next == at {
					return
				}
				at = b.Next
			}
		}
		written := 0
		for range 30 {
			for range random.IntN(20) {
				l.Add(&api.RequestRecord{ID: NewID(), Path: fmt.Sprint(written), Status: 200})
				written++
			}
			switch random.IntN(6) {
			case 0: // a restart
				if err := l.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				if random.IntN(2) == 0 {
					tear(t, dir)
				}
				if l, err = Open(config); err != nil {
					t.Fatal(err)
				}
			case 1, 2:
				if err := l.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			default:
				read()
			}
		}
		if err := l.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		read()
		for i := range max(written, len(got)) {
			if i >= len(got) || i >= written || got[i] != fmt.Sprint(i) {
				t.Fatalf("seed %d: %d of %d records, record %d is %q", seed, len(got), written, i, got[i:min(i+1, len(got))])
			}
		}
		if l.Behind(at) > int64(len(tornLine)) {
			t.Errorf("seed %d: %d bytes are behind the end", seed, l.Behind(at))
		}
	}
}

const tornLine = `{"ID": "to`

// tear adds a part of a line to the newest file, as a process does that is killed while it writes.
func tear(t *testing.T, dir string) {
	t.Helper()
	all, err := numbers(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pathOf(dir, all[len(all)-1]), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(tornLine); err != nil {
		t.Fatal(err)
	}
}

func TestNextTellsWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(Config{Dir: dir, Files: 2, FileBytes: 300})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close(t.Context())
	first, err := l.Next(Position{}, 1<<20)
	if err != nil || first.Records != 0 || first.Missing {
		t.Fatalf("an empty log: %+v, %v", first, err)
	}
	for i := range 50 {
		changed := l.Changed()
		l.Add(&api.RequestRecord{ID: NewID(), Path: fmt.Sprint(i), Status: 200})
		<-changed
	}
	b, err := l.Next(Position{File: 1}, 1<<20)
	if err != nil || !b.Missing || b.From.File < 2 || b.Records == 0 {
		t.Errorf("after the oldest file was deleted: %+v, %v", b, err)
	}
	for what, at := range map[string]Position{"other files": {File: 1 << 40}, "a position beyond its file": {File: b.From.File, Offset: 1 << 40}} {
		if got, err := l.Next(at, 1<<20); err != nil || got.Records == 0 {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	if b, err := l.Next(Position{}, 1<<20); err != nil || b.Missing {
		t.Errorf("a new reader misses records: %+v, %v", b, err)
	}
}

// TestNextLeavesDamageOut reads files in which someone wrote.
func TestNextLeavesDamageOut(t *testing.T) {
	dir := t.TempDir()
	good := `{"ID":"1","Path":"a"}` + "\n"
	text := "\n\nnull\n[]\n" + `{"ID": }` + "\n" + strings.Repeat("x", 5000) + "\n" + good + "\x00\xff\n" + strings.Repeat("{", 3000) + "\n" + good + `{"ID":"torn"`
	if err := os.WriteFile(pathOf(dir, 3), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", pathOf(dir, 4)); err != nil {
		t.Fatal(err)
	}
	l, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close(t.Context())
	var got []string
	for at := (Position{}); ; {
		b, err := l.Next(at, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if b.Records == 0 && b.Next == at {
			break
		}
		got, at = append(got, paths(t, b.Lines)...), b.Next
	}
	if len(got) != 2 || got[0] != "a" || got[1] != "a" {
		t.Errorf("records: %q", got)
	}
}
