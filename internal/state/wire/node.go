// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/reeve-run/reeve/api"
)

// NodeMedia is the media type of a node's stream and of its reports in this
// encoding. Both sides also speak JSON, which is for people and their tools.
const NodeMedia = "application/vnd.reeve.node.v1+protobuf"

// maxNodeFrame bounds what a reader takes for one message.
const maxNodeFrame = 1 << 30

// SignOfLife is a message of a node's stream that says nothing.
var SignOfLife = []byte{0}

// AppendNodeFrame appends a message of a node's stream, with its length.
func AppendNodeFrame(b []byte, m *NodeAllocations) ([]byte, error) {
	size := m.SizeVT()
	b = binary.AppendUvarint(b, uint64(size))
	start := len(b)
	if cap(b)-start < size {
		b = append(make([]byte, 0, start+size), b...)
	}
	b = b[:start+size]
	_, err := m.MarshalToSizedBufferVT(b[start:])
	return b, err
}

// ReadNodeFrame reads the next message of a node's stream; nil is a sign of
// life. io.EOF means that the stream ended between two messages.
func ReadNodeFrame(r *bufio.Reader) (*api.NodeAllocations, error) {
	size, err := binary.ReadUvarint(r)
	if err != nil || size == 0 {
		return nil, err
	}
	if size > maxNodeFrame {
		return nil, fmt.Errorf("a message of %d bytes is larger than any should be", size)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, fmt.Errorf("the stream ends inside a message: %w", err)
	}
	var m NodeAllocations
	if err := m.UnmarshalVT(body); err != nil {
		return nil, err
	}
	return m.decode()
}

func (m *NodeAllocations) decode() (*api.NodeAllocations, error) {
	out := &api.NodeAllocations{Complete: m.Complete, Index: m.Index, ClusterID: m.ClusterId, Timeline: m.Timeline, Rewound: m.Rewound}
	for _, text := range m.JobsJson {
		job := new(api.Job)
		if err := json.Unmarshal(text, job); err != nil {
			return nil, fmt.Errorf("decode a job: %w", err)
		}
		out.Jobs = append(out.Jobs, job)
	}
	for _, id := range m.Removed {
		out.Removed = append(out.Removed, UnpackID(id))
	}
	allocations, err := DecodeAllocations(m.Allocations)
	if err != nil {
		return nil, err
	}
	if len(allocations) == 0 {
		return out, nil
	}
	out.Allocations = make([]*api.NodeAllocation, len(allocations))
	list := make([]api.NodeAllocation, len(allocations))
	for i, a := range allocations {
		list[i] = api.NodeAllocation{Allocation: a, JobVersion: a.JobVersion()}
		if a.Job != nil {
			list[i].JobCreateIndex = a.Job.CreateIndex
		}
		a.Job = nil
		out.Allocations[i] = &list[i]
	}
	return out, nil
}

// EncodeReport is a node's report of its allocations. Only what a node may say
// is read from them.
func EncodeReport(allocations []*api.Allocation) ([]byte, error) {
	m := NodeReport{Allocations: EncodeUpdates(allocations)}
	return m.MarshalVT()
}

// DecodeReport is the inverse of EncodeReport.
func DecodeReport(body []byte) ([]*api.Allocation, error) {
	var m NodeReport
	if err := m.UnmarshalVT(body); err != nil {
		return nil, err
	}
	return DecodeAllocations(m.Allocations)
}

// EncodeUpdates is the set of what nodes say of allocations; all else in them
// is left out.
func EncodeUpdates(updates []*api.Allocation) *Allocations {
	if len(updates) == 0 {
		return nil
	}
	e := encoders.Get().(*AllocationEncoder)
	e.set = &Allocations{Allocations: make([]*Allocation, 0, len(updates))}
	list := make([]Allocation, len(updates))
	for i, u := range updates {
		if u == nil {
			continue
		}
		w := &list[i]
		w.Id, w.ModifyTime = PackID(u.ID), u.ModifyTime
		w.ClientStatus, w.ClientDescription = e.name(u.ClientStatus), e.name(u.ClientDescription)
		if u.NetworkStatus != nil {
			w.RestJson = restOfAllocation(&api.Allocation{NetworkStatus: u.NetworkStatus})
		}
		e.addHealthAndTasks(w, u)
		e.set.Allocations = append(e.set.Allocations, w)
	}
	return e.finish()
}
