// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a log that the test closes.
func open(t testing.TB, c Config) *Log {
	t.Helper()
	if c.Dir == "" {
		c.Dir = filepath.Join(t.TempDir(), "audit")
	}
	l, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil { // that of the test has ended
			t.Error(err)
		}
	})
	return l
}

func record(i int) *api.RequestRecord {
	return &api.RequestRecord{ID: fmt.Sprint(i), Time: time.Now().UTC(), Caller: "user", Accessor: "acc", Address: "10.0.0.7:4000", Method: "PUT", Route: "/v1/jobs", Path: "/v1/jobs", Status: 200}
}

// ids returns the ids of the records that a query selects, of all pages.
func ids(t *testing.T, l *Log, q Query) (all []string) {
	t.Helper()
	for {
		page, err := l.Read(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Records {
			all = append(all, r.ID)
		}
		if q.NextToken = page.NextToken; q.NextToken == "" {
			return all
		}
	}
}

func TestRecordsAreReadBackNewestFirst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l := open(t, Config{Dir: dir, FileBytes: 2000})
	for i := range 25 {
		l.Add(record(i))
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Fields("24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0")
	for _, size := range []int{0, 1, 7, 25, 100_000} {
		if got := ids(t, l, Query{PerPage: size}); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("pages of %d: %v", size, got)
		}
	}
	for _, token := range []string{"x", "1", "1.-1", "1.2.3", "1.2x", "99999999999999999999999.1"} {
		if _, err := l.Read(t.Context(), Query{NextToken: token}); api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("token %q: %v", token, err)
		}
	}
	for _, token := range []string{"1.9000000000000000000", "0.7", "99999.1"} {
		if _, err := l.Read(t.Context(), Query{NextToken: token}); err != nil {
			t.Errorf("token %q: %v", token, err)
		}
	}
	for _, path := range []string{dir, pathOf(dir, 1)} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v: others may read it", path, info.Mode(), err)
		}
	}
}

func TestFilesAreBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l := open(t, Config{Dir: dir, Files: 3, FileBytes: 1000})
	for i := range 100 {
		l.Add(record(i))
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	all, err := numbers(dir)
	if err != nil || len(all) != 3 {
		t.Fatalf("files %v, %v: want 3", all, err)
	}
	for _, n := range all {
		if info, err := os.Stat(pathOf(dir, n)); err != nil || info.Size() > 1000 {
			t.Errorf("file %d has %d bytes: %v", n, info.Size(), err)
		}
	}
	if got := ids(t, l, Query{}); len(got) < 4 || got[0] != "99" {
		t.Errorf("read %v, want the newest", got)
	}
}

// TestATornLineIsSkipped kills the writer within a line.
func TestATornLineIsSkipped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	first := open(t, Config{Dir: dir})
	first.Add(record(1))
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pathOf(dir, 1), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("{\"ID\":\"torn\",\"Ti"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	l := open(t, Config{Dir: dir})
	l.Add(record(2))
	l.Add(record(3))
	if got := ids(t, l, Query{}); strings.Join(got, " ") != "3 2 1" {
		t.Errorf("read %v, want 3 2 1", got)
	}
}

func TestOverlongAndStrangeLinesAreSkipped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l := open(t, Config{Dir: dir})
	l.Add(record(1))
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pathOf(dir, 1), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "\n\n%s\n[1]\nnull\n{\"Time\": 7}\n", strings.Repeat("x", 5*maxLine))
	l.Add(record(2))
	got := ids(t, l, Query{})
	if len(got) < 2 || got[0] != "2" || got[len(got)-1] != "1" {
		t.Errorf("read %q, want 2 first and 1 last", got)
	}
}

func TestQueriesSelect(t *testing.T) {
	l := open(t, Config{})
	now := time.Now()
	for _, r := range []*api.RequestRecord{
		{ID: "a", Caller: "user", Accessor: "abcdef", TokenName: "ana", Method: "PUT", Route: "/v1/jobs", Path: "/v1/jobs", Namespace: "dev", Status: 200, Time: now.Add(-time.Hour)},
		{ID: "b", Caller: "operator", Method: "GET", Route: "/v1/var/{id}", Path: "/v1/var/shop", Namespace: "prod", Status: 200, Time: now},
		{ID: "c", Caller: "unknown", Method: "GET", Route: "/v1/jobs", Path: "/v1/jobs", Status: 403, Refused: true, Time: now},
	} {
		l.Add(r)
	}
	for want, q := range map[string]Query{
		"c b a": {}, "a": {Caller: "ana"}, "b": {Caller: "operator"}, "": {Caller: "an"}, "c": {Refused: true}, "c b": {Since: now.Add(-time.Minute)},
		"c a": {Route: "/v1/jobs"},
	} {
		if got := strings.Join(ids(t, l, q), " "); got != want {
			t.Errorf("%+v: %q, want %q", q, got, want)
		}
	}
	for i, q := range []Query{{Caller: "abcd"}, {Namespace: "dev"}, {Route: "PUT /v1"}} {
		if got := strings.Join(ids(t, l, q), " "); got != "a" {
			t.Errorf("query %d: %q, want a", i, got)
		}
	}
}

// TestHostileTextsAreCleaned adds texts that forge lines, hide text on a terminal, or fill the disk.
func TestHostileTextsAreCleaned(t *testing.T) {
	l := open(t, Config{})
	hostile := "x\n{\"ID\":\"forged\"}\r\x1b[2J\x00\u202e\xff" + strings.Repeat("é", 5000)
	l.Add(&api.RequestRecord{
		ID: "1", Path: hostile, Route: hostile, Method: hostile, Namespace: hostile, Object: hostile, TokenName: hostile, Accessor: hostile,
		Address: hostile, Via: hostile, Reason: hostile, Query: map[string]string{"task": hostile},
	})
	page, err := l.Read(t.Context(), Query{})
	if err != nil || len(page.Records) != 1 {
		t.Fatalf("%d records, %v: want one", len(page.Records), err)
	}
	r := page.Records[0]
	for _, text := range []string{r.Path, r.Route, r.Method, r.Namespace, r.Object, r.TokenName, r.Accessor, r.Address, r.Via, r.Reason, r.Query["task"]} {
		if strings.ContainsAny(text, "\n\r\x1b\x00\u202e") || len(text) > 2*MaxReason+3 || !strings.HasPrefix(text, "x ") {
			t.Errorf("%.80q of %d bytes", text, len(text))
		}
	}
}

// TestAFloodOfFailuresIsCounted sends many failing requests of one address, and of many.
func TestAFloodOfFailuresIsCounted(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := open(t, Config{})
		for i := range 5000 {
			r := record(i)
			r.Caller, r.Accessor, r.Status = "unknown", "", 403
			l.Add(r)
		}
		other := record(7)
		other.Status, other.Accessor, other.ID = 403, "other", "other"
		l.Add(other)
		time.Sleep(3 * time.Second)
		page, err := l.Read(t.Context(), Query{PerPage: 1000})
		if err != nil {
			t.Fatal(err)
		}
		repeated, own := 0, 0
		for _, r := range page.Records {
			repeated += r.Repeated
			if r.ID == "other" {
				own++
			}
		}
		if len(page.Records) != failuresPerSecond+2 || own != 1 || repeated != 5000-failuresPerSecond {
			t.Errorf("%d records, %d of the other caller, count %d more: want %d, 1 and %d", len(page.Records), own, repeated, failuresPerSecond+2, 5000-failuresPerSecond)
		}
		for i := range 5 * failingCallers {
			r := record(i)
			r.Status, r.Address = 403, fmt.Sprintf("10.%d.%d.7:1", i/250, i%250)
			l.Add(r)
		}
		if n := len(l.throttle.seen); n > failingCallers+1 {
			t.Errorf("%d callers are counted, want at most %d", n, failingCallers+1)
		}
	})
}

// A brokenDisk refuses writes while it is full.
type brokenDisk struct {
	file
	full *atomic.Bool
}

var errFull = errors.New("no space left on device")

func (d brokenDisk) Write(p []byte) (int, error) {
	if !d.full.Load() {
		return d.file.Write(p)
	}
	n, _ := d.file.Write(p[:len(p)/2])
	return n, errFull
}

func TestAFullDiskCostsOnlyRecords(t *testing.T) {
	var full atomic.Bool
	dir := filepath.Join(t.TempDir(), "audit")
	l := open(t, Config{Dir: dir, create: func(path string) (file, error) {
		f, err := appendTo(path)
		return brokenDisk{f, &full}, err
	}})
	l.Add(record(1))
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	for i := range 3 {
		l.Add(record(10 + i))
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if f := l.Figures(); f.Dropped != 3 || f.Written != 1 {
		t.Errorf("%+v, want 3 dropped and 1 written", f)
	}
	full.Store(false)
	l.Add(record(2))
	page, err := l.Read(t.Context(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range page.Records {
		got = append(got, fmt.Sprintf("%d lost", r.Dropped))
	}
	if want := "[0 lost 3 lost 0 lost]"; fmt.Sprint(got) != want || page.Dropped != 3 {
		t.Errorf("%v and %d, want %s and 3", got, page.Dropped, want)
	}
}

// TestAHungDiskDelaysNoRequest fills the queue while a write hangs.
func TestAHungDiskDelaysNoRequest(t *testing.T) {
	hung := make(chan struct{})
	l, err := Open(Config{Dir: t.TempDir(), create: func(path string) (file, error) {
		f, err := appendTo(path)
		return hungDisk{f, hung}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * queueLength {
		l.Add(record(i)) // would block forever
	}
	if f := l.Figures(); f.Dropped < queueLength || f.Written != 0 {
		t.Errorf("%+v, want at least %d dropped and none written", f, queueLength)
	}
	close(hung)
	if err := l.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if f := l.Figures(); f.Dropped+f.Written != 3*queueLength {
		t.Errorf("%+v: want %d in sum", f, 3*queueLength)
	}
}

type hungDisk struct {
	file
	until chan struct{}
}

func (d hungDisk) Write(p []byte) (int, error) {
	<-d.until
	return d.file.Write(p)
}

func TestAnUnusableDirectoryIsReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: path}); api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), "enabled = false") {
		t.Errorf("a file as the directory: %v", err)
	}
	dir := t.TempDir()
	if err := os.Symlink("/dev/null", pathOf(dir, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: dir}); err == nil {
		t.Error("a link in place of a file was followed")
	}
}

func BenchmarkAdd(b *testing.B) {
	l := open(b, Config{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l.Add(record(i))
	}
	b.StopTimer()
	f := l.Figures()
	b.ReportMetric(float64(f.Dropped)/float64(b.N), "dropped/op")
}
