// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/reeve-run/reeve/api"
)

// namespaceFile is the HCL form of a namespace, as Nomad has it.
type namespaceFile struct {
	Name        string            `hcl:"name"`
	Description string            `hcl:"description,optional"`
	Quota       string            `hcl:"quota,optional"`
	MetaMap     map[string]string `hcl:"meta,optional"`
	Blocks      hcl.Body          `hcl:",remain"`
}

// namespaceBlocks are the blocks of the file.
type namespaceBlocks struct {
	Meta *struct {
		Values hcl.Attributes `hcl:",remain"`
	} `hcl:"meta,block"`
	Capabilities *struct {
		EnabledTaskDrivers   []string `hcl:"enabled_task_drivers,optional"`
		DisabledTaskDrivers  []string `hcl:"disabled_task_drivers,optional"`
		EnabledNetworkModes  []string `hcl:"enabled_network_modes,optional"`
		DisabledNetworkModes []string `hcl:"disabled_network_modes,optional"`
	} `hcl:"capabilities,block"`
	NodePools *struct {
		Default string   `hcl:"default,optional"`
		Allowed []string `hcl:"allowed,optional"`
		Denied  []string `hcl:"denied,optional"`
	} `hcl:"node_pool_config,block"`
	Priorities *struct {
		Min int `hcl:"min,optional"`
		Max int `hcl:"max,optional"`
	} `hcl:"priorities,block"`
}

func parseNamespace(name string, text []byte) (*api.Namespace, error) {
	file, diags := hclparse.NewParser().ParseHCL(text, name)
	var f namespaceFile
	var b namespaceBlocks
	if !diags.HasErrors() {
		diags = gohcl.DecodeBody(file.Body, nil, &f)
	}
	if !diags.HasErrors() {
		diags = gohcl.DecodeBody(f.Blocks, nil, &b)
	}
	if diags.HasErrors() {
		return nil, api.Errorf(api.CodeInvalid, "read namespace file: %v", diags)
	}
	n := &api.Namespace{Name: f.Name, Description: f.Description, Quota: f.Quota, Meta: f.MetaMap}
	if b.Meta != nil {
		n.Meta = map[string]string{}
		for key, attribute := range b.Meta.Values {
			var value string
			if diags := gohcl.DecodeExpression(attribute.Expr, nil, &value); diags.HasErrors() {
				return nil, api.Errorf(api.CodeInvalid, "read namespace file: %v", diags)
			}
			n.Meta[key] = value
		}
	}
	if pools := b.NodePools; pools != nil {
		n.NodePoolConfiguration = &api.NamespaceNodePools{Default: pools.Default, Allowed: pools.Allowed, Denied: pools.Denied}
	}
	if bounds := b.Priorities; bounds != nil {
		n.Priorities = &api.NamespacePriorities{Min: bounds.Min, Max: bounds.Max}
	}
	if may := b.Capabilities; may != nil {
		n.Capabilities = &api.NamespaceCapabilities{
			EnabledTaskDrivers: may.EnabledTaskDrivers, DisabledTaskDrivers: may.DisabledTaskDrivers,
			EnabledNetworkModes: may.EnabledNetworkModes, DisabledNetworkModes: may.DisabledNetworkModes,
		}
	}
	return n, nil
}
