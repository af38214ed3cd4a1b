// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"fmt"
	"sync"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
)

// Times between the messages on a pull. Each message is an entry in the servers' log.
const (
	progressDelay = 3 * time.Second // before the first one: short pulls have none
	progressPause = 5 * time.Second
)

// A Progress tells the user how a pull advances.
type Progress struct {
	task  *driver.Task
	image string

	mu    sync.Mutex
	next  time.Time // of the next message
	total int64     // bytes of the image that the pull covers
}

// NewProgress says that a pull begins.
func NewProgress(t *driver.Task, image string) *Progress {
	p := &Progress{task: t, image: image, next: time.Now().Add(progressDelay)}
	p.tell("Pulling %s", image)
	return p
}

func (p *Progress) tell(format string, args ...any) {
	if p.task.Notify != nil {
		p.task.Notify(fmt.Sprintf(format, args...))
	}
}

// Report says how far the pull is, unless the last message is recent. more ends the message.
func (p *Progress) Report(done, total int64, more string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total = total
	now := time.Now()
	if p.task.Progress == nil || now.Before(p.next) {
		return
	}
	p.next = now.Add(progressPause)
	p.task.Progress(fmt.Sprintf("Pulling %s: %s of %s%s", p.image, megabytes(done), megabytes(total), more), done, total)
}

// Finish says that the node has the image, and its size on the disk.
func (p *Progress) Finish(took time.Duration, size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total == 0 {
		p.tell("The image %s is current (%s on the disk)", p.image, megabytes(size))
		return
	}
	p.tell("Pulled %s: %s in %s (%s on the disk)", p.image, megabytes(p.total), took.Round(100*time.Millisecond), megabytes(size))
}

// Pulled is Finish for a pull whose layers tell no complete size: a Docker daemon is silent on those that it has.
func (p *Progress) Pulled(took time.Duration, size int64) {
	p.tell("Pulled %s in %s (%s on the disk)", p.image, took.Round(100*time.Millisecond), megabytes(size))
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
