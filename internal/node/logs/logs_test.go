// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector is a sink that tests can wait on.
type collector struct {
	mu     sync.Mutex
	text   bytes.Buffer
	events []string
	more   chan struct{}
}

func newCollector() *collector { return &collector{more: make(chan struct{}, 1)} }

func (c *collector) sink(file string, _ int64, data []byte, event string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Write(data)
	if event != "" {
		c.events = append(c.events, event)
	}
	select {
	case c.more <- struct{}{}:
	default:
	}
	return nil
}

func (c *collector) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

func (c *collector) until(t *testing.T, want string) {
	t.Helper()
	deadline := wait.Limit(t, 10*time.Second)
	for c.String() != want {
		select {
		case <-c.more:
		case <-deadline:
			t.Fatalf("got %q; want %q", c.String(), want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func openRoot(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

func TestRotatedFilesReadAsOne(t *testing.T) {
	root, dir := openRoot(t)
	for i, text := range map[int]string{9: "aaa\n", 10: "bbb\n", 11: "ccc\n"} {
		write(t, filepath.Join(dir, "logs", "web.stdout."+itoa(i)), text)
	}
	write(t, filepath.Join(dir, "logs", "web.stdout.x"), "not a log")
	write(t, filepath.Join(dir, "logs", "web2.stdout.0"), "another task's")
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "aaa\nbbb\nccc\n"},
		{Options{Offset: 5}, "bb\nccc\n"},
		{Options{Offset: 100}, ""},
		{Options{FromEnd: true, Offset: 6}, "b\nccc\n"},
		{Options{FromEnd: true, Offset: 100}, "aaa\nbbb\nccc\n"},
		{Options{FromEnd: true}, "ccc\n"}, // what the newest file holds: where a client begins that follows
	} {
		got := newCollector()
		if err := Task(t.Context(), root, "logs", "web.stdout", c.o, nil, got.sink); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, got.String()); d != "" {
			t.Errorf("%+v (-want +got):\n%s", c.o, d)
		}
	}
}

func itoa(i int) string { return strings.TrimPrefix(fileName("", "", i), ".") }

func TestFollowGoesOnAcrossRotation(t *testing.T) {
	root, dir := openRoot(t)
	log := func(i int) string { return filepath.Join(dir, "logs", "web.stderr."+itoa(i)) }
	ended := make(chan struct{})
	got := newCollector()
	done := make(chan error, 1)
	go func() {
		done <- Task(context.Background(), root, "logs", "web.stderr", Options{Follow: true}, ended, got.sink)
	}()
	write(t, log(0), "one ")
	got.until(t, "one ")
	write(t, log(0), "two ")
	write(t, log(1), "three ")
	got.until(t, "one two three ")
	os.Remove(log(0))
	write(t, log(2), "four ")
	got.until(t, "one two three four ")
	write(t, log(2), "five")
	close(ended)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("one two three four five", got.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestFollowedFileIsTruncatedAndDeleted(t *testing.T) {
	root, dir := openRoot(t)
	name := filepath.Join(dir, "logs", "f")
	write(t, name, "long text")
	got := newCollector()
	done := make(chan error, 1)
	go func() {
		done <- File(context.Background(), root, "logs/f", Options{Follow: true}, got.sink)
	}()
	got.until(t, "long text")
	if err := os.Truncate(name, 0); err != nil {
		t.Fatal(err)
	}
	deadline := wait.Limit(t, 10*time.Second)
	for seen := 0; seen == 0; {
		select {
		case <-got.more:
		case <-deadline:
			t.Fatal("the truncation was not noticed")
		}
		got.mu.Lock()
		seen = len(got.events)
		got.mu.Unlock()
	}
	write(t, name, "new")
	got.until(t, "long textnew")
	os.Remove(name)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{Truncated, Deleted}, got.events); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	root, dir := openRoot(t)
	write(t, filepath.Join(dir, "logs", "web.stdout.0"), "x")
	for name, follow := range map[string]func(context.Context, Sink) error{
		"a log": func(ctx context.Context, s Sink) error {
			return Task(ctx, root, "logs", "web.stdout", Options{Follow: true}, nil, s)
		},
		"a file": func(ctx context.Context, s Sink) error {
			return File(ctx, root, "logs/web.stdout.0", Options{Follow: true}, s)
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		err := follow(ctx, func(string, int64, []byte, string) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s, told to end while it is read: %v", name, err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		got := newCollector()
		done := make(chan error, 1)
		go func() { done <- follow(ctx, got.sink) }()
		got.until(t, "x")
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s, told to end when all was read: %v", name, err)
		}
	}
}

func TestOnlyTheNewestFilesOfALogAreListed(t *testing.T) {
	root, dir := openRoot(t)
	const files = 3 * maxFiles
	for i := range files { // as a task can make them
		write(t, filepath.Join(dir, "logs", "web.stdout."+itoa(i)), "")
	}
	numbers, err := rotated(root, "logs", "web.stdout")
	if err != nil {
		t.Fatal(err)
	}
	if len(numbers) != maxFiles || numbers[0] != files-maxFiles || numbers[maxFiles-1] != files-1 {
		t.Errorf("%d files from %d to %d; want the newest %d of %d", len(numbers), numbers[0], numbers[len(numbers)-1], maxFiles, files)
	}
}
