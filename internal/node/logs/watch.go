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

// pollInterval is the interval at which a directory without a watch is checked: the kernel
// bounds the number of a user's watches.
const pollInterval = 250 * time.Millisecond

// minWakeInterval bounds how often a task that writes continuously wakes its followers.
const minWakeInterval = 5 * time.Millisecond

// A watch reports changes in a directory.
type watch struct {
	events *os.File // inotify; nil: poll
	woken  chan struct{}
}

// watchDir watches a directory below root.
func watchDir(root *os.Root, dir string) *watch {
	w := &watch{woken: make(chan struct{}, 1)}
	// The link in /proc denotes exactly the directory that was opened below root.
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

// read converts events to wake-ups until close.
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
		time.Sleep(minWakeInterval)
	}
}

// wait returns after a possible change, or with ctx's error.
func (w *watch) wait(ctx context.Context) error { return w.waitOr(ctx, nil) }

// waitOr is wait that also returns when other is closed.
func (w *watch) waitOr(ctx context.Context, other <-chan struct{}) error {
	var poll <-chan time.Time
	if w.events == nil {
		poll = time.After(pollInterval)
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
