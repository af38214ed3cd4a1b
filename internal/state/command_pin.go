// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// PinImage stores the digest that a node found behind the tag of an image, unless the version of the job
// has a pin already: the first one stays. A node pins only for its own allocations, and only images that
// their tasks can have.
type PinImage struct {
	NodeID  string
	AllocID string
	Task    string
	Image   string
	Digest  string
	Time    int64 // Unix nanoseconds
}

// Name implements Command.
func (c *PinImage) Name() string { return "PinImage" }

func (c *PinImage) encode() *wire.Command { return documentCommand(c) }

func (c *PinImage) needs() (int, string) { return 3, pinsImages }

func (c *PinImage) apply(t *txn) error {
	a, err := t.CheckPin(c.NodeID, c.AllocID, c.Task, c.Image)
	if err != nil {
		return err
	}
	if t.ImagePin(a, c.Task, c.Image) != nil {
		return nil
	}
	others := 0
	for _, p := range t.ImagePinsOfAllocation(a) {
		if p.Task == c.Task {
			others++
		}
	}
	if others >= pinsPerTask {
		return nil
	}
	p := pinOf(a, c.Task, c.Image)
	p.Digest, p.NodeID, p.AllocID, p.Time = c.Digest, c.NodeID, c.AllocID, c.Time
	imagePins.put(t, p)
	return nil
}

// CheckPin returns the allocation for which a node asks or pins, or an error if the node must not.
func (c *content) CheckPin(nodeID, allocID, task, image string) (*api.Allocation, error) {
	a := c.Allocation(allocID)
	switch {
	case a == nil || a.NodeID != nodeID:
		return nil, api.Errorf(api.CodeNotFound, "allocation %.64q not found on node %s", allocID, api.ShortID(nodeID))
	case a.IsTerminal():
		return nil, api.Errorf(api.CodeConflict, "allocation %s has ended: its tasks need no image", api.ShortID(a.ID))
	case a.Job == nil || a.Job.Group(a.Group) == nil || a.Job.Group(a.Group).Task(task) == nil:
		return nil, api.Errorf(api.CodeNotFound, "task %.128q of allocation %s not found", task, api.ShortID(a.ID))
	case !usesImage(a.Job, a.Group, task, image):
		return nil, api.Errorf(api.CodeInvalid, "image %.128q is not the one of task %.128q in version %d of job %q", image, task, a.JobVersion(), a.JobID)
	}
	return a, nil
}
