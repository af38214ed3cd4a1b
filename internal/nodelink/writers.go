// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink

import "sync"

// maxIdleWriters bounds the goroutines that wait for work.
const maxIdleWriters = 32

// writers runs short tasks in goroutines. It keeps some idle ones: their stacks have the size
// that encryption needs. A task that blocks delays no other.
type writers struct {
	mu      sync.Mutex
	idle    []chan func()
	closed  bool
	running sync.WaitGroup
}

// do runs a task.
func (w *writers) do(task func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.idle); n > 0 {
		next := w.idle[n-1]
		w.idle = w.idle[:n-1]
		next <- task
		return
	}
	w.running.Add(1)
	go w.run(task)
}

func (w *writers) run(task func()) {
	defer w.running.Done()
	next := make(chan func(), 1)
	for {
		task()
		w.mu.Lock()
		if w.closed || len(w.idle) == maxIdleWriters {
			w.mu.Unlock()
			return
		}
		w.idle = append(w.idle, next)
		w.mu.Unlock()
		var ok bool
		if task, ok = <-next; !ok {
			return
		}
	}
}

// wait returns when all tasks have ended. No task may follow.
func (w *writers) wait() {
	w.mu.Lock()
	w.closed = true
	for _, next := range w.idle {
		close(next)
	}
	w.idle = nil
	w.mu.Unlock()
	w.running.Wait()
}
