// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// NodeImages are the images of a node's containers, and what its next collection does with them.
type NodeImages struct {
	NodeID         string
	Images         []*NodeImage // those that collections remove first come first, then those that they keep
	SizeBytes      int64        // of all images; layers that several share count once
	DiskUsedBytes  int64        // of the disk that holds the images
	DiskTotalBytes int64
	DiskHigh       float64         // part of the disk in use above which a collection removes images
	DiskLow        float64         // part at which it ends
	MaxSizeBytes   int64           // of the images; 0: no limit
	Delay          time.Duration   // for which an image stays after its last use
	NextCollection int64           // Unix nanoseconds; 0: unknown
	Full           bool            // reports whether the next collection has to free space
	ServersAway    bool            // reports whether the servers could not say which images jobs need
	RemovedBytes   int64           // that a requested collection freed
	Removed        []*NodeImage    // that a requested collection removed
	Prefetches     []*NodePrefetch `json:",omitempty"` // images that the node pulls ahead for rollouts
}

// A NodeImage is an image in the store of a node.
type NodeImage struct {
	Digest         string   // of the manifest for the node's platform
	Names          []string // that led to it
	Platform       string   // such as linux/amd64
	SizeBytes      int64    // on the disk, with the layers that other images share
	ExclusiveBytes int64    // of the layers that no other image shares
	LastUsed       int64    // Unix nanoseconds
	Containers     int      // that run it
	Users          []*NodeImageUser
	Held           bool   // reports whether a user needs it: collections keep it
	Order          int    // place among the images that collections remove, from 1; 0: Held
	Next           bool   // reports whether the next collection removes it
	Reason         string // why it stays, or why the next collection removes it
}

// A NodeImageUser is a job that ran an image on the node.
type NodeImageUser struct {
	Namespace   string
	JobID       string
	JobVersions []uint64 // kept versions of the registered job that run the image
	AllocIDs    []string // allocations of the node that run it, or will
	Digest      string   // to which the versions are pinned
	LastUsed    int64    // Unix nanoseconds
	// Prefetched describes the prefetch of an image that no allocation of the job has run yet.
	Prefetched *NodeImagePrefetch `json:",omitempty"`
}

// A NodeImagePrefetch is the rollout for which a node pulled an image ahead.
type NodeImagePrefetch struct {
	JobVersion uint64
	Pending    bool // reports whether the rollout may still need the image on the node
}

// MaxImageUses is the number of uses in one request of a node.
const MaxImageUses = 4096

// An ImageUse is a digest that a job ran on a node.
type ImageUse struct {
	Namespace   string
	JobID       string
	Digest      string   // such as sha256:0123...
	JobVersions []uint64 // in answers: kept versions of the job that run it
}

// An ImageUsesRequest is a node's question which of its images registered jobs need.
type ImageUsesRequest struct{ Uses []*ImageUse }

// An ImageUsesResponse holds the uses of registered jobs.
type ImageUsesResponse struct{ Uses []*ImageUse }

// Check rejects a request that no node makes.
func (r *ImageUsesRequest) Check() error {
	if len(r.Uses) > MaxImageUses {
		return Errorf(CodeInvalid, "Uses: has %d entries, and a request has at most %d: split it", len(r.Uses), MaxImageUses)
	}
	for n, u := range r.Uses {
		if u == nil || u.Namespace == "" || u.JobID == "" || !IsImageDigest(u.Digest) {
			return Errorf(CodeInvalid, "Uses: entry %d must have Namespace, JobID and a Digest of the form sha256: and 64 digits in lower case", n+1)
		}
	}
	return nil
}
