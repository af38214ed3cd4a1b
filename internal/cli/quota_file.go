// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/reeve-run/reeve/api"
)

// quotaFile is the HCL form of a quota: Nomad's, whose name is an attribute, or a block with the name
// as label.
type quotaFile struct {
	Quotas []struct {
		Name        string       `hcl:"name,label"`
		Description string       `hcl:"description,optional"`
		Limits      []quotaLimit `hcl:"limit,block"`
	} `hcl:"quota,block"`
	Name        string       `hcl:"name,optional"`
	Description string       `hcl:"description,optional"`
	Limits      []quotaLimit `hcl:"limit,block"`
}

type quotaLimit struct {
	Region      string `hcl:"region,optional"`
	RegionLimit *struct {
		CPU         *int `hcl:"cpu,optional"`
		Cores       *int `hcl:"cores,optional"`
		MemoryMB    *int `hcl:"memory,optional"`
		MemoryMaxMB *int `hcl:"memory_max,optional"`
		DiskMB      *int `hcl:"disk,optional"`
		Allocations *int `hcl:"allocations,optional"`
		NodePools   []struct {
			Name        string `hcl:"name,label"`
			CPU         *int   `hcl:"cpu,optional"`
			Cores       *int   `hcl:"cores,optional"`
			MemoryMB    *int   `hcl:"memory,optional"`
			MemoryMaxMB *int   `hcl:"memory_max,optional"`
			DiskMB      *int   `hcl:"disk,optional"`
			Allocations *int   `hcl:"allocations,optional"`
		} `hcl:"node_pool,block"`
	} `hcl:"region_limit,block"`
}

func parseQuota(name string, text []byte) (*api.Quota, error) {
	file, diags := hclparse.NewParser().ParseHCL(text, name)
	var f quotaFile
	if !diags.HasErrors() {
		diags = gohcl.DecodeBody(file.Body, nil, &f)
	}
	switch {
	case diags.HasErrors():
		return nil, quotaFileError(diags)
	case len(f.Quotas) > 1, len(f.Quotas) == 1 && (f.Name != "" || f.Description != "" || len(f.Limits) > 0):
		return nil, api.Errorf(api.CodeInvalid, "read quota file: %s describes more than one quota; divide it into one file for each", name)
	case len(f.Quotas) == 1:
		f.Name, f.Description, f.Limits = f.Quotas[0].Name, f.Quotas[0].Description, f.Quotas[0].Limits
	}
	q := &api.Quota{Name: f.Name, Description: f.Description}
	for _, l := range f.Limits {
		limit := &api.QuotaLimit{Region: l.Region}
		if r := l.RegionLimit; r != nil {
			limit.RegionLimit = &api.QuotaResources{
				CPU: r.CPU, Cores: r.Cores, MemoryMB: r.MemoryMB, MemoryMaxMB: r.MemoryMaxMB, DiskMB: r.DiskMB, Allocations: r.Allocations,
			}
			for _, p := range r.NodePools {
				limit.RegionLimit.NodePools = append(limit.RegionLimit.NodePools, &api.NodePoolLimit{
					NodePool: p.Name, CPU: p.CPU, Cores: p.Cores, MemoryMB: p.MemoryMB, MemoryMaxMB: p.MemoryMaxMB, DiskMB: p.DiskMB, Allocations: p.Allocations,
				})
			}
		}
		q.Limits = append(q.Limits, limit)
	}
	return q, nil
}

func quotaFileError(diags hcl.Diagnostics) error {
	return api.Errorf(api.CodeInvalid, "read quota file: %v; see an example with: reeve quota init", diags)
}
