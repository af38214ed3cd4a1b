// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodeproto

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/allocset"
)

// EncodeReport encodes a node's report of its allocations, with only the fields
// that nodes report.
func EncodeReport(allocations []*api.Allocation) ([]byte, error) {
	m := NodeReport{Allocations: allocset.EncodeUpdates(allocations)}
	return m.MarshalVT()
}

// DecodeReport is the inverse of EncodeReport.
func DecodeReport(body []byte) ([]*api.Allocation, error) {
	var m NodeReport
	if err := m.UnmarshalVT(body); err != nil {
		return nil, err
	}
	return allocset.Decode(m.Allocations)
}
