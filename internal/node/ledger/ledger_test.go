// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, path string) *Ledger {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func all(t *testing.T, l *Ledger, prefix string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := l.Each(prefix, func(k string, v []byte) error {
		got[k] = string(v)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestWritesSurvive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "node.db")
	l := open(t, path)
	l.Put("a/1", []byte("old"))
	l.Put("b/1", []byte("other"))
	l.Put("a/2", []byte("gone"))
	l.Delete("a/2")
	if err := l.Put("a/1", []byte("new")).Wait(); err != nil {
		t.Fatal(err)
	}
	l.Put("a/3", []byte("at the last moment"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, path)
	want := map[string]string{"a/1": "new", "a/3": "at the last moment"}
	if d := cmp.Diff(want, all(t, l, "a/")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := l.Get("none"); got != nil {
		t.Errorf("Get of a missing key = %q", got)
	}
}

func TestManyWritersShareCommits(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "node.db"))
	before := pageWrites(l)
	var writers sync.WaitGroup
	for i := range 500 {
		writers.Go(func() {
			if err := l.Put(fmt.Sprint(i), []byte("x")).Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if n := len(all(t, l, "")); n != 500 {
		t.Errorf("%d keys; want 500", n)
	}
	if writes := pageWrites(l) - before; writes > 2000 {
		t.Errorf("%d page writes for 500 puts; they were not grouped", writes)
	}
}

func pageWrites(l *Ledger) int64 {
	s := l.db.Stats()
	return s.TxStats.GetWrite()
}

func TestLatestIsTakenWhenWritten(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "node.db"))
	value := "written"
	if err := l.PutLatest("k", func() []byte { return []byte(value) }).Wait(); err != nil {
		t.Fatal(err)
	}
	if got := string(l.Get("k")); got != value {
		t.Errorf("got %q", got)
	}
}

func TestClosedLedgerRefuses(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "node.db"))
	l.Close()
	if err := l.Put("k", nil).Wait(); !errors.Is(err, ErrClosed) {
		t.Errorf("put: %v; want ErrClosed", err)
	}
}

func TestDamagedFileIsAClearError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "node.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a ledger ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path)
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error = %v; want one that names %s", err, path)
	}
}

func BenchmarkPut(b *testing.B) {
	l, err := Open(filepath.Join(b.TempDir(), "node.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	value := make([]byte, 2048)
	for i := 0; b.Loop(); i++ {
		if err := l.Put(fmt.Sprint(i%1000), value).Wait(); err != nil {
			b.Fatal(err)
		}
	}
}
