// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestJournalRemembersWhatIsNotForgotten(t *testing.T) {
	dir := t.TempDir()
	j, err := openJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)
	runs := Status{ID: "a/web/0", PID: 12, StartTime: 34, StartedAt: at, Cgroups: []string{"/sys/fs/cgroup/x"}}
	ended := Status{ID: "b", PID: 13, StartedAt: at, Exit: &ExitState{Code: 3, At: at}}
	for _, s := range []Status{runs, ended, {ID: "c"}} {
		if err := j.put(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.forget("c"); err != nil {
		t.Fatal(err)
	}
	again, err := openJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]record{"a/web/0": {Status: runs, Boot: bootID() + placeOf(dir)}, "b": {Status: ended, Boot: bootID() + placeOf(dir)}}
	if diff := cmp.Diff(want, again.live); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
}

func TestJournalStaysSmall(t *testing.T) {
	dir := t.TempDir()
	j, err := openJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.put(Status{ID: "stays"}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 * journalSlack {
		id := fmt.Sprint(i)
		if err := j.put(Status{ID: id}); err != nil {
			t.Fatal(err)
		}
		if err := j.forget(id); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, journalName))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(b), "\n"); lines > journalSlack+100 || !strings.Contains(string(b), `"stays"`) {
		t.Errorf("%d lines are left of %d; want at most %d, with the live one", lines, 6*journalSlack, journalSlack+100)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add(encodeRecord(record{Status: Status{ID: "x", PID: 1}}))
	f.Add([]byte("00000000 {}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, ok := decodeRecord(line)
		if !ok {
			return
		}
		again, ok := decodeRecord(encodeRecord(r)[:len(encodeRecord(r))-1])
		if diff := cmp.Diff(r, again); !ok || diff != "" {
			t.Errorf("a record changes when written again (-want +got):\n%s", diff)
		}
	})
}
