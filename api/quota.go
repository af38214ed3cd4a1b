// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"crypto/sha256"
	"encoding/json"
	"regexp"
)

// A Quota limits the resources of the allocations of namespaces. The allocations of a namespace
// count against its quota, and against those of its ancestors. A quota that several namespaces
// name limits their sum.
type Quota struct {
	Name        string
	Description string
	Limits      []*QuotaLimit // at most one: a cluster is one region

	CreateIndex uint64
	ModifyIndex uint64
}

// QuotaLimit holds the limits of a region.
type QuotaLimit struct {
	Region      string // that of the cluster, or ""
	RegionLimit *QuotaResources
	Hash        []byte `json:",omitempty"` // of the limit; the server sets it

	VariablesLimit *int `json:",omitempty"` // not supported: must be unset or 0
}

// QuotaResources holds limits. An unset limit and 0 are unlimited; a negative limit allows nothing.
type QuotaResources struct {
	CPU         *int             // MHz
	Cores       *int             // number of reserved cores
	MemoryMB    *int             // reserved memory
	MemoryMaxMB *int             // upper limits of memory; of a task without one its reserved memory
	DiskMB      *int             `json:",omitempty"`
	Allocations *int             `json:",omitempty"` // number of allocations
	NodePools   []*NodePoolLimit // further limits, for the jobs of one pool

	// Settings of Nomad that are not supported. They must be empty.
	Devices   []*DeviceRequest `json:",omitempty"`
	NUMA      *NUMA            `json:",omitempty"`
	SecretsMB *int             `json:",omitempty"`
	Storage   *QuotaStorage    `json:",omitempty"`
}

// QuotaStorage limits the storage of variables and host volumes.
type QuotaStorage struct {
	VariablesMB   int
	HostVolumesMB int
}

// A NodePoolLimit holds limits for the allocations of jobs that name a node pool. A job of the pool
// "all" may run in each, so its allocations count against the limits of every pool.
type NodePoolLimit struct {
	NodePool    string
	CPU         *int
	Cores       *int
	MemoryMB    *int
	MemoryMaxMB *int
	DiskMB      *int `json:",omitempty"`
	Allocations *int `json:",omitempty"`

	// Settings of Nomad that are not supported. They must be empty.
	Devices   []*DeviceRequest `json:",omitempty"`
	NUMA      *NUMA            `json:",omitempty"`
	SecretsMB *int             `json:",omitempty"`
	Storage   *QuotaStorage    `json:",omitempty"`
}

// QuotaUsage holds what the allocations that count against a quota use. The resources of an
// allocation count from its placement until it stops or is to stop.
type QuotaUsage struct {
	Name       string
	Used       map[string]*QuotaLimit // amounts in use, by the hash of their limit in base64
	Namespaces []string               // that name the quota; their descendants count too
	Jobs       []*QuotaJobUsage       // the largest ones first; only in the usage of one quota
	JobCount   int                    // number of jobs with allocations that count

	CreateIndex uint64
	ModifyIndex uint64 // of the quota or of the last change of usage
}

// QuotaJobUsage is what one job uses of a quota.
type QuotaJobUsage struct {
	Namespace string
	JobID     string
	NodePool  string
	QuotaUse
}

// Limits of a quota.
const (
	maxQuotaDescription = 256
	maxQuotaPools       = 128
	// MaxQuotaAmount bounds each limit. A greater amount of an allocation counts as if it were one
	// more, so that sums do not overflow and such an allocation exceeds every limit.
	MaxQuotaAmount = 1<<36 - 1
)

const quotaNameRule = "must be 1 to 128 letters, digits and \"-\""

var quotaName = regexp.MustCompile(`^[a-zA-Z0-9-]{1,128}$`)

// IsQuotaName reports whether a name may be that of a quota.
func IsQuotaName(name string) bool { return quotaName.MatchString(name) }

// Validate reports everything that is wrong with the quota, as one *Error of CodeInvalid; nil if
// it is valid.
func (q *Quota) Validate() error {
	var c complaints
	switch {
	case q.Name == "":
		c.add("Name is missing")
	case !IsQuotaName(q.Name):
		c.add("Name: %.128q %s", q.Name, quotaNameRule)
	}
	if len(q.Description) > maxQuotaDescription {
		c.add("Description: has %d bytes; at most %d are allowed", len(q.Description), maxQuotaDescription)
	}
	if len(q.Limits) > 1 {
		c.add("Limits: has %d entries, and a cluster is one region; remove all but one", len(q.Limits))
		return c.err("the quota is not valid")
	}
	for _, l := range q.Limits {
		if l == nil || l.RegionLimit == nil {
			c.add("Limits: an entry has no RegionLimit; add it, or remove the entry")
			continue
		}
		if len(l.Region) > maxNameLength {
			c.add("Region: has %d bytes; at most %d are allowed", len(l.Region), maxNameLength)
		}
		if set(l.VariablesLimit) {
			c.add("VariablesLimit: variables are not limited by quotas; remove it")
		}
		r := l.RegionLimit
		c.quotaAmounts("RegionLimit", r.amounts())
		c.quotaUnsupported("RegionLimit", r.Devices, r.NUMA, r.SecretsMB, r.Storage)
		c.quotaPools(r.NodePools)
	}
	return c.err("the quota is not valid")
}

func (c *complaints) quotaPools(pools []*NodePoolLimit) {
	if len(pools) > maxQuotaPools {
		c.add("NodePools: has %d entries; at most %d are allowed", len(pools), maxQuotaPools)
		return
	}
	seen := map[string]bool{}
	for _, p := range pools {
		switch {
		case p == nil:
			c.add("NodePools: an entry is null; remove it")
			continue
		case !isPoolName(p.NodePool):
			c.add("NodePools: %.128q is not the name of a node pool", p.NodePool)
			continue
		case seen[p.NodePool]:
			c.add("NodePools: %q occurs twice; remove one entry", p.NodePool)
		case p.NodePool == NodePoolAll:
			c.add("NodePools: \"all\" has every node, and jobs of it count against the limits of each pool; set the limits of the quota itself")
		}
		seen[p.NodePool] = true
		where := "NodePools " + p.NodePool
		c.quotaAmounts(where, p.amounts())
		c.quotaUnsupported(where, p.Devices, p.NUMA, p.SecretsMB, p.Storage)
	}
}

func (c *complaints) quotaAmounts(where string, amounts QuotaAmounts) {
	for i, n := range amounts {
		if n != nil && (*n > MaxQuotaAmount || *n < -MaxQuotaAmount) {
			c.add("%s: %s is %d; at most %d is allowed, and 0 is unlimited", where, quotaDimensions[i].field, *n, MaxQuotaAmount)
		}
	}
}

func (c *complaints) quotaUnsupported(where string, devices []*DeviceRequest, numa *NUMA, secrets *int, storage *QuotaStorage) {
	for _, unsupported := range []struct {
		field string
		set   bool
	}{
		{"Devices", len(devices) > 0},
		{"NUMA", numa != nil},
		{"SecretsMB", set(secrets)},
		{"Storage", storage != nil && *storage != QuotaStorage{}},
	} {
		if unsupported.set {
			c.add("%s: %s is not supported; remove it", where, unsupported.field)
		}
	}
}

func set(n *int) bool { return n != nil && *n != 0 }

// SetHashes sets the hash of each limit, and the region of those without one.
func (q *Quota) SetHashes(region string) {
	limits := make([]*QuotaLimit, len(q.Limits))
	for i, l := range q.Limits {
		c := *l
		c.Hash = nil
		if c.Region == "" {
			c.Region = region
		}
		text, _ := json.Marshal(&c) // numbers and strings
		sum := sha256.Sum256(text)
		c.Hash = sum[:]
		limits[i] = &c
	}
	q.Limits = limits
}

// Resources returns the limits; nil for a quota without limits.
func (q *Quota) Resources() *QuotaResources {
	for _, l := range q.Limits {
		return l.RegionLimit
	}
	return nil
}
