// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"crypto/sha256"
	"fmt"
	"strconv"
)

// A VolumeClaim records that an instance of a group keeps a volume: it runs only where the
// volume is.
type VolumeClaim struct {
	ID            string
	Namespace     string
	JobID         string
	TaskGroupName string
	Request       string // name of the group's volume block
	Index         int    // of the instance
	AllocID       string // allocation that claimed the volume, or uses it now
	VolumeID      string
	VolumeName    string
	CreateIndex   uint64
	ModifyIndex   uint64
}

// VolumeClaimID returns the id of the claim of an instance.
func VolumeClaimID(namespace, job, group, request string, index int) string {
	h := sha256.New()
	for _, part := range []string{namespace, job, group, request, strconv.Itoa(index)} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	s := h.Sum(nil)
	s[6], s[8] = s[6]&0x0f|0x80, s[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", s[0:4], s[4:6], s[6:8], s[8:10], s[10:16])
}
