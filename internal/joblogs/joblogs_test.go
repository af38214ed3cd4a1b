// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package joblogs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

var job = &api.Job{ID: "web", Groups: []*api.Group{
	{Name: "web", Tasks: []*api.Task{{Name: "main"}, {Name: "proxy"}}},
	{Name: "db", Tasks: []*api.Task{{Name: "main"}}},
}}

func alloc(id, group string, index int, created uint64, status string) *api.Allocation {
	return &api.Allocation{ID: id, Job: job, JobID: "web", Group: group, NodeID: "n1", Name: fmt.Sprintf("web.%s[%d]", group, index), CreateIndex: created, ClientStatus: status}
}

func TestChooseTakesWhatRunsAndElseTheNewestOfEachInstance(t *testing.T) {
	ended := []*api.Allocation{
		alloc("a", "web", 0, 1, api.AllocClientFailed), alloc("b", "web", 0, 2, api.AllocClientComplete), alloc("c", "web", 1, 1, api.AllocClientLost),
	}
	var many []*api.Allocation
	for i := range MaxAllocations + 7 {
		many = append(many, alloc(fmt.Sprintf("m%03d", i), "web", i, uint64(i), api.AllocClientRunning))
	}
	for name, c := range map[string]struct {
		q    Query
		all  []*api.Allocation
		want string
		left int
	}{
		"none runs":       {Query{}, ended, "b c", 0},
		"some run":        {Query{}, append(slices.Clone(ended), alloc("d", "web", 0, 3, api.AllocClientRunning), alloc("e", "db", 0, 4, api.AllocClientRunning)), "e d", 0},
		"not started":     {Query{}, []*api.Allocation{alloc("p", "web", 0, 1, api.AllocClientPending)}, "", 0},
		"a group":         {Query{Group: "db"}, append(slices.Clone(ended), alloc("e", "db", 0, 4, api.AllocClientRunning)), "e", 0},
		"a task":          {Query{Task: "proxy"}, []*api.Allocation{alloc("d", "web", 0, 3, api.AllocClientRunning), alloc("e", "db", 0, 4, api.AllocClientRunning)}, "d", 0},
		"more than shown": {Query{}, many, "", 7},
	} {
		got, left := c.q.Choose(c.all)
		var ids []string
		for _, a := range got {
			ids = append(ids, a.ID)
		}
		if left != c.left || c.left == 0 && strings.Join(ids, " ") != c.want {
			t.Errorf("%s: got %q, %d left out; want %q, %d", name, ids, left, c.want, c.left)
		}
		if c.left > 0 && (len(ids) != MaxAllocations || ids[0] != "m056") {
			t.Errorf("%s: got %d, the first %s; want the newest %d", name, len(ids), ids[0], MaxAllocations)
		}
	}
}

// A world is a job whose nodes answer with what the test writes.
type world struct {
	mu      sync.Mutex
	list    []*api.Allocation
	index   uint64
	changed chan struct{}
	opened  map[string]int
	open    func(n int, s Source, q *Query) (io.ReadCloser, error) // n counts the calls for the source
}

func (w *world) set(list ...*api.Allocation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list, w.index = list, w.index+1
	if w.changed != nil {
		close(w.changed)
	}
	w.changed = make(chan struct{})
}

func (w *world) job() Job {
	return Job{
		Allocations: func() ([]*api.Allocation, uint64) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.list, w.index
		},
		Changed: func(ctx context.Context, after uint64) error {
			w.mu.Lock()
			index, changed := w.index, w.changed
			w.mu.Unlock()
			if index > after {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-changed:
				return nil
			}
		},
		Open: func(ctx context.Context, s Source, q *Query) (io.ReadCloser, error) {
			w.mu.Lock()
			key := s.Alloc.ID + " " + s.Task + " " + s.Type
			w.opened[key]++
			n := w.opened[key]
			w.mu.Unlock()
			body, err := w.open(n, s, q)
			if err == nil {
				context.AfterFunc(ctx, func() { body.Close() })
			}
			return body, err
		},
	}
}

func frames(list ...api.StreamFrame) io.ReadCloser {
	var text strings.Builder
	for _, f := range list {
		line, _ := json.Marshal(f)
		text.Write(append(line, '\n'))
	}
	return io.NopCloser(strings.NewReader(text.String()))
}

// broken ends with an error after its frames.
func broken(list ...api.StreamFrame) io.ReadCloser {
	return io.NopCloser(io.MultiReader(frames(list...), errReader{}))
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

// told collects what a stream sends, without its times.
type told struct{ lines []string }

func (l *told) send(f *api.JobLogFrame) error {
	if f.LeftOut == 0 && f.Time == 0 {
		return errors.New("a frame without its time")
	}
	l.lines = append(l.lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s%s %s", f.Instance, f.Task, f.Type, f.Event, f.Data, f.Error)))
	return nil
}

func TestAStreamEndsWithTheOutput(t *testing.T) {
	w := &world{opened: map[string]int{}, open: func(_ int, s Source, _ *Query) (io.ReadCloser, error) {
		return frames(api.StreamFrame{File: "main.stdout.0", Offset: 3, Data: []byte("one")}, api.StreamFrame{}), nil
	}}
	w.set(alloc("a", "db", 0, 1, api.AllocClientComplete))
	var got told
	if err := Stream(t.Context(), w.job(), &Query{Type: api.LogStdout}, got.send); err != nil {
		t.Fatal(err)
	}
	want := []string{"db-0 main stdout begin", "db-0 main stdout one", "db-0 main stdout end"}
	if diff := cmp.Diff(want, got.lines); diff != "" {
		t.Error(diff)
	}
}

func TestAFollowerGoesOnWhereItWasAndToldOnceWhy(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := &world{opened: map[string]int{}}
		w.open = func(n int, s Source, q *Query) (io.ReadCloser, error) {
			switch n {
			case 1:
				return broken(api.StreamFrame{File: "main.stdout.9", Offset: 3, Data: []byte("one")}), nil
			case 2, 3:
				return nil, errors.New("node n1 is down")
			}
			if !q.FromEnd || q.Offset != overlap {
				t.Errorf("it asks for %+v", q)
			}
			w.set(alloc("a", "db", 0, 1, api.AllocClientComplete))
			return frames(
				api.StreamFrame{File: "main.stdout.9", Offset: 2, Data: []byte("on")},
				api.StreamFrame{File: "main.stdout.9", Offset: 6, Data: []byte("onetwo")},
				api.StreamFrame{File: "main.stdout.10", Offset: 5, Data: []byte("three")},
			), nil
		}
		w.set(alloc("a", "db", 0, 1, api.AllocClientRunning))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var got told
		if err := Stream(ctx, w.job(), &Query{Follow: true, Type: api.LogStdout}, got.send); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
		want := []string{
			"db-0 main stdout begin", "db-0 main stdout one", "db-0 main stdout failed the stream of the node ended early: connection reset",
			"db-0 main stdout failed node n1 is down", "db-0 main stdout two", "db-0 main stdout three", "db-0 main stdout end",
		}
		if diff := cmp.Diff(want, got.lines); diff != "" {
			t.Error(diff)
		}
	})
}

// A task can truncate its log: what it writes then has offsets that were sent before.
func TestOutputAfterATruncationIsSent(t *testing.T) {
	w := &world{opened: map[string]int{}, open: func(int, Source, *Query) (io.ReadCloser, error) {
		return frames(
			api.StreamFrame{File: "main.stdout.0", Offset: 3, Data: []byte("one")}, api.StreamFrame{File: "main.stdout.0", FileEvent: "file truncated"},
			api.StreamFrame{File: "main.stdout.0", Offset: 2, Data: []byte("hi")},
		), nil
	}}
	w.set(alloc("a", "db", 0, 1, api.AllocClientComplete))
	var got told
	if err := Stream(t.Context(), w.job(), &Query{Type: api.LogStdout}, got.send); err != nil {
		t.Fatal(err)
	}
	want := []string{"db-0 main stdout begin", "db-0 main stdout one", "db-0 main stdout file truncated", "db-0 main stdout hi", "db-0 main stdout end"}
	if diff := cmp.Diff(want, got.lines); diff != "" {
		t.Error(diff)
	}
}

func TestAFollowerTakesInNewAllocations(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := &world{opened: map[string]int{}, open: func(int, Source, *Query) (io.ReadCloser, error) {
			r, _ := io.Pipe()
			return r, nil
		}}
		w.set()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got told
		done := make(chan error)
		go func() { done <- Stream(ctx, w.job(), &Query{Follow: true}, got.send) }()
		synctest.Wait()
		w.set(alloc("a", "web", 0, 1, api.AllocClientRunning))
		bubble.Pass(time.Second)
		w.set(alloc("a", "web", 0, 1, api.AllocClientRunning), alloc("b", "web", 1, 2, api.AllocClientPending))
		bubble.Pass(time.Second)
		w.set(alloc("b", "web", 1, 2, api.AllocClientRunning))
		bubble.Pass(time.Second)
		cancel()
		<-done
		slices.Sort(got.lines)
		want := []string{
			"web-0 main stderr begin", "web-0 main stdout begin", "web-0 proxy stderr begin", "web-0 proxy stdout begin",
			"web-1 main stderr begin", "web-1 main stdout begin", "web-1 proxy stderr begin", "web-1 proxy stdout begin",
		}
		if diff := cmp.Diff(want, got.lines); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAReaderThatIsGoneEndsTheStream(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := &world{opened: map[string]int{}, open: func(int, Source, *Query) (io.ReadCloser, error) {
			return frames(api.StreamFrame{File: "main.stdout.0", Offset: 3, Data: []byte("one")}), nil
		}}
		w.set(alloc("a", "web", 0, 1, api.AllocClientRunning))
		gone := errors.New("broken pipe")
		if err := Stream(t.Context(), w.job(), &Query{Follow: true}, func(*api.JobLogFrame) error { return gone }); !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
	})
}

// What a node sends is not trusted: neither its length nor its form.
func TestANodeThatSendsNonsenseIsAnError(t *testing.T) {
	for name, text := range map[string]string{"no JSON": "<html>\n", "no end": `{"Data":"` + strings.Repeat("A", 2*maxFrame), "a list": "[1]\n"} {
		w := &world{opened: map[string]int{}, open: func(int, Source, *Query) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(text)), nil
		}}
		w.set(alloc("a", "db", 0, 1, api.AllocClientComplete))
		var got told
		if err := Stream(t.Context(), w.job(), &Query{Type: api.LogStdout}, got.send); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(got.lines) != 2 || !strings.HasPrefix(got.lines[1], "db-0 main stdout failed") {
			t.Errorf("%s: got %q", name, got.lines)
		}
	}
}

// A frame whose length contradicts its offset must not make the server fail.
func FuzzFrames(f *testing.F) {
	f.Add("main.stdout.0", int64(3), []byte("one"), "main.stdout.0", int64(1), []byte("three"))
	f.Add("x", int64(-5), []byte("one"), "x", int64(-4), []byte("a"))
	f.Fuzz(func(t *testing.T, file string, offset int64, data []byte, file2 string, offset2 int64, data2 []byte) {
		s := &source{Source: Source{Alloc: alloc("a", "db", 0, 1, api.AllocClientComplete), Task: "main", Type: api.LogStdout}, q: &Query{}, overlap: place{file, offset}, send: func(*api.JobLogFrame) error { return nil }}
		for _, frame := range []api.StreamFrame{{File: file, Offset: offset, Data: data}, {File: file2, Offset: offset2, Data: data2}} {
			if err := s.pass(&frame); err != nil {
				t.Fatal(err)
			}
		}
	})
}
