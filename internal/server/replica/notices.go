// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// Commit notices.
//
// A follower learns that an entry is committed from the next request that the leader sends it.
// While no further entry follows, raft sends that request 50 to 100 ms later. A read or a
// placement on a follower waits for so long. Sending empty requests more often would cost
// every idle cluster. Instead, the leader sends one request per follower noticeDelay after a
// commit, unless the next entries have carried the news by then.
//
// A notice is an ordinary request without entries: "the entry before this request is
// number i of term t, and everything up to i is committed". It travels in the pipeline
// behind entry i, so the follower has that entry unless it rejected it, and then it rejects the
// notice as well.
//
// The wrapper of a pipeline also keeps it from blocking forever (hashicorp/raft issue 612). Raft reads the
// answers of a pipeline up to the first one that is no success, and then closes the pipeline before its next
// request: but not if a request is ready at the same moment. That request waits until the
// transport has passed on earlier answers, which nobody reads any more. Heartbeats continue, so that
// the follower would lag until the next election. So the wrapper discards the answers that follow.

// noticeDelay is how long a commit waits for further entries that carry the news.
const noticeDelay = 500 * time.Microsecond

// entryID identifies a log entry.
type entryID struct{ index, term uint64 }

// notices has the pipelines to all followers, and the newest committed entry.
type notices struct {
	committed atomic.Pointer[entryID]
	sent      atomic.Uint64 // notices, for tests and measurements

	mu   sync.Mutex
	open map[*noticing]bool
}

// commit records that an entry is committed.
func (n *notices) commit(index, term uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.open) == 0 {
		return
	}
	n.committed.Store(&entryID{index, term})
	for p := range n.open {
		p.signal()
	}
}

// noticing is a pipeline to a follower that also carries notices.
type noticing struct {
	raft.AppendPipeline
	notices *notices
	wake    chan struct{}
	stop    chan struct{}
	stopped sync.Once
	done    sync.WaitGroup
	answers chan raft.AppendFuture

	mu   sync.Mutex
	last raft.AppendEntriesRequest // the newest request, without its entries
	end  uint64                    // index of the last entry that was sent
	told uint64                    // newest commit index that was sent
}

// carry wraps a pipeline so that it carries notices until Close.
func (n *notices) carry(p raft.AppendPipeline) *noticing {
	c := &noticing{AppendPipeline: p, notices: n, wake: make(chan struct{}, 1), stop: make(chan struct{}), answers: make(chan raft.AppendFuture)}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open == nil {
		n.open = map[*noticing]bool{}
	}
	n.open[c] = true
	c.done.Go(c.run)
	c.done.Go(c.relay)
	return c
}

// Consumer implements raft.AppendPipeline.
func (c *noticing) Consumer() <-chan raft.AppendFuture { return c.answers }

// relay passes on the answers up to the first one after which raft reads no more, and discards the others.
func (c *noticing) relay() {
	received, passesOn := c.AppendPipeline.Consumer(), true
	for {
		select {
		case answer := <-received:
			if !passesOn {
				continue
			}
			select {
			case c.answers <- answer:
			case <-c.stop:
				return
			}
			resp := answer.Response()
			passesOn = resp.Success && resp.Term <= answer.Request().Term
		case <-c.stop:
			return
		}
	}
}

// AppendEntries implements raft.AppendPipeline.
func (c *noticing) AppendEntries(args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	future, err := c.AppendPipeline.AppendEntries(args, resp)
	if err != nil {
		return nil, err
	}
	c.last, c.last.Entries = *args, nil
	c.end = max(c.end, args.PrevLogEntry+uint64(len(args.Entries)))
	c.told = max(c.told, args.LeaderCommitIndex)
	if news := c.notices.committed.Load(); news != nil && c.told < news.index {
		c.signal() // the request was prepared before the commit
	}
	return future, nil
}

func (c *noticing) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *noticing) run() {
	for {
		select {
		case <-c.wake:
		case <-c.stop:
			return
		}
		select {
		case <-time.After(noticeDelay):
		case <-c.stop:
			return
		}
		if c.tell() != nil {
			return // raft notices the broken pipeline with its next request
		}
	}
}

// tell sends a notice of the newest commit, if the follower has the entry and was not told.
func (c *noticing) tell() error {
	news := c.notices.committed.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	if news == nil || news.index <= c.told || news.index > c.end {
		return nil
	}
	notice := c.last
	notice.PrevLogEntry, notice.PrevLogTerm, notice.LeaderCommitIndex = news.index, news.term, news.index
	if _, err := c.AppendPipeline.AppendEntries(&notice, new(raft.AppendEntriesResponse)); err != nil {
		return err
	}
	c.told = news.index
	c.notices.sent.Add(1)
	return nil
}

// Close implements raft.AppendPipeline.
func (c *noticing) Close() error {
	c.notices.mu.Lock()
	delete(c.notices.open, c)
	c.notices.mu.Unlock()
	c.stopped.Do(func() { close(c.stop) })
	err := c.AppendPipeline.Close()
	c.done.Wait()
	return err
}
