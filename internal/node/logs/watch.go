// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// pollEvery is how often a directory that cannot be watched is looked at: the
// kernel bounds how many watches a user may have.
const pollEvery = 250 * time.Millisecond

// atMostEvery keeps a task that writes without pause from waking its followers
// for every line.
const atMostEvery = 5 * time.Millisecond

// watch tells when something in a directory changed.
type watch struct {
	events *os.File // inotify; nil: poll
	woken  chan struct{}
}

// watchDir watches a directory below root.
func watchDir(root *os.Root, dir string) *watch {
	w := &watch{woken: make(chan struct{}, 1)}
	// The link through /proc names the directory that was opened below root, and
	// no other.
	d, err := beneath.List(root, dir)
	if err != nil {
		return w
	}
	defer d.Close()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return w
	}
	const what = unix.IN_MODIFY | unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_DELETE_SELF
	if _, err := unix.InotifyAddWatch(fd, filepath.Join("/proc/self/fd", strconv.Itoa(int(d.Fd()))), what); err != nil {
		unix.Close(fd)
		return w
	}
	w.events = os.NewFile(uintptr(fd), "inotify")
	go w.read()
	return w
}

// read turns events into wake-ups, until close.
func (w *watch) read() {
	buf := make([]byte, 4096)
	for {
		if _, err := w.events.Read(buf); err != nil {
			close(w.woken)
			return
		}
		select {
		case w.woken <- struct{}{}:
		default:
		}
		time.Sleep(atMostEvery)
	}
}

// wait returns when something may have changed, or with ctx's error.
func (w *watch) wait(ctx context.Context) error { return w.waitOr(ctx, nil) }

// waitOr also returns when other is closed.
func (w *watch) waitOr(ctx context.Context, other <-chan struct{}) error {
	var poll <-chan time.Time
	if w.events == nil {
		poll = time.After(pollEvery)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-w.woken:
	case <-poll:
	case <-other:
	}
	return nil
}

func (w *watch) close() {
	if w.events != nil {
		w.events.Close()
		for range w.woken { // until read has returned
		}
	}
}
