// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/zclconf/go-cty/cty"

	"github.com/reeve-run/reeve/api"
)

// volumeFile is the HCL form of a host volume: Nomad's.
type volumeFile struct {
	Namespace   string `hcl:"namespace,optional"`
	ID          string `hcl:"id,optional"`
	Name        string `hcl:"name"`
	Type        string `hcl:"type"`
	PluginID    string `hcl:"plugin_id,optional"`
	NodePool    string `hcl:"node_pool,optional"`
	NodeID      string `hcl:"node_id,optional"`
	HostPath    string `hcl:"host_path,optional"`
	Capacity    string `hcl:"capacity,optional"`
	CapacityMin string `hcl:"capacity_min,optional"`
	CapacityMax string `hcl:"capacity_max,optional"`
	Constraints []struct {
		Attribute hcl.Expression `hcl:"attribute,optional"` // "${attr.kernel.name}" stays unchanged
		Operator  string         `hcl:"operator,optional"`
		Value     string         `hcl:"value,optional"`
	} `hcl:"constraint,block"`
	Capabilities []struct {
		AccessMode     string `hcl:"access_mode,optional"`
		AttachmentMode string `hcl:"attachment_mode,optional"`
	} `hcl:"capability,block"`
	Parameters *struct {
		Rest hcl.Body `hcl:",remain"`
	} `hcl:"parameters,block"`
}

func parseVolume(name string, text []byte) (*api.HostVolume, error) {
	file, diags := hclparse.NewParser().ParseHCL(text, name)
	var f volumeFile
	if !diags.HasErrors() {
		diags = gohcl.DecodeBody(file.Body, nil, &f)
	}
	if diags.HasErrors() {
		return nil, volumeFileError(diags)
	}
	at := func(attribute string) hcl.Range {
		content, _, _ := file.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: attribute}}})
		if a := content.Attributes[attribute]; a != nil {
			return a.Expr.Range()
		}
		return file.Body.MissingItemRange()
	}
	if f.Type != api.VolumeTypeHost {
		return nil, api.Errorf(api.CodeInvalid, "read volume file: %s: type %q: must be %q", at("type"), f.Type, api.VolumeTypeHost)
	}
	v := &api.HostVolume{
		Namespace: f.Namespace, ID: f.ID, Name: f.Name, PluginID: f.PluginID, NodePool: f.NodePool, NodeID: f.NodeID, HostPath: f.HostPath,
	}
	for _, size := range []struct {
		attribute, text string
		to              *int64
	}{
		{"capacity", f.Capacity, &v.CapacityBytes}, {"capacity_min", f.CapacityMin, &v.RequestedCapacityMinBytes}, {"capacity_max", f.CapacityMax, &v.RequestedCapacityMaxBytes},
	} {
		bytes, err := parseBytes(size.text)
		if err != nil {
			return nil, api.Errorf(api.CodeInvalid, "read volume file: %s: %s %q: %v", at(size.attribute), size.attribute, size.text, err)
		}
		*size.to = bytes
	}
	for _, k := range f.Constraints {
		if k.Operator == "" {
			k.Operator = "="
		}
		v.Constraints = append(v.Constraints, &api.Constraint{LTarget: templateText(k.Attribute, text), RTarget: k.Value, Operand: k.Operator})
	}
	for _, k := range f.Capabilities {
		v.RequestedCapabilities = append(v.RequestedCapabilities, &api.HostVolumeCapability{AccessMode: k.AccessMode, AttachmentMode: k.AttachmentMode})
	}
	if f.Parameters == nil {
		return v, nil
	}
	attributes, diags := f.Parameters.Rest.JustAttributes()
	v.Parameters = map[string]string{}
	for key, a := range attributes {
		var text string
		diags = append(diags, gohcl.DecodeExpression(a.Expr, nil, &text)...)
		v.Parameters[key] = text
	}
	if diags.HasErrors() {
		return nil, volumeFileError(diags)
	}
	return v, nil
}

// templateText returns a string of a file with its interpolations, such as "${meta.rack}".
func templateText(e hcl.Expression, file []byte) string {
	if v, diags := e.Value(nil); !diags.HasErrors() {
		if v.IsNull() || v.Type() != cty.String {
			return ""
		}
		return v.AsString()
	}
	return strings.Trim(string(e.Range().SliceBytes(file)), `"`)
}

func volumeFileError(diags hcl.Diagnostics) error {
	return api.Errorf(api.CodeInvalid, "read volume file: %v; see an example with: reeve volume init", diags)
}

// parseBytes reads a size such as "10GiB", "500 MB" or a number of bytes.
func parseBytes(s string) (int64, error) {
	text := strings.TrimSpace(s)
	if text == "" {
		return 0, nil
	}
	end := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	unit := ""
	if end >= 0 {
		text, unit = text[:end], strings.ToLower(strings.TrimSpace(text[end:]))
	}
	factor, ok := map[string]float64{
		"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
		"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
	}[unit]
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !ok || n < 0 || n*factor > 1<<60 {
		return 0, fmt.Errorf("must be a size such as \"10GiB\" or \"500MB\"")
	}
	return int64(n * factor), nil
}
