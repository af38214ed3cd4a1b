// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// follow keeps the model of the stacks current until ctx ends. It closes begun when the stream has begun.
func (s *stackPlay) follow(ctx context.Context, begun chan<- struct{}) error {
	topics := map[string][]string{api.TopicStack: nil, api.TopicUnit: nil, api.TopicShift: nil}
	began := false
	for batch, err := range s.run.client.Events().Stream(ctx, client.EventOptions{Topics: topics, Namespace: "*", Snapshot: true}) {
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("follow the events of stacks: %w", err)
		case batch.Missed != nil || batch.Snapshot == api.SnapshotBegin && began:
			return fmt.Errorf("the events of stacks are incomplete: the simulation reads too slowly")
		}
		if err := s.take(batch); err != nil {
			return err
		}
		if batch.Snapshot == api.SnapshotEnd {
			began = true
			close(begun)
		}
	}
	return nil
}

// take applies the events of one log entry to the model.
func (s *stackPlay) take(batch *api.EventBatch) error {
	var changes []stackChange
	for _, e := range batch.Events {
		c, err := changeOf(e)
		if err != nil {
			return fmt.Errorf("read event %s of %s at index %d: %w", e.Type, e.Key, e.Index, err)
		}
		changes = append(changes, c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, c := range changes {
		if c.stack == nil || c.stack.Status != api.StackReady {
			continue
		}
		if sent, ok := s.sent[c.stack.Unit+"@"+c.stack.Version.String()]; ok {
			s.ready = append(s.ready, now.Sub(sent))
			delete(s.sent, c.stack.Unit+"@"+c.stack.Version.String())
		}
	}
	s.model.apply(batch.Index, changes)
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// changeOf reads the object of an event.
func changeOf(e *api.Event) (c stackChange, err error) {
	text, err := json.Marshal(e.Payload[e.Topic])
	if err != nil {
		return c, err
	}
	switch {
	case e.Topic == api.TopicStack && e.Deleted:
		c.forgotten = e.Key
	case e.Topic == api.TopicStack:
		c.stack = new(api.Stack)
		err = json.Unmarshal(text, c.stack)
	case e.Topic == api.TopicShift:
		c.shift = new(api.Shift)
		err = json.Unmarshal(text, c.shift)
	case e.Topic == api.TopicUnit:
		c.unit = new(api.Unit)
		err = json.Unmarshal(text, c.unit)
	default:
		err = fmt.Errorf("unexpected topic %q", e.Topic)
	}
	return c, err
}
