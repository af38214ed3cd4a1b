// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"
)

func TestConstraintsThatCanNeverHoldAreRefused(t *testing.T) {
	for _, test := range []struct {
		left, operand, right, want string
	}{
		{"${attr.kernel.name}", "=", "linux", ""},
		{"${attr.kernel.name}", "~", "linux", `operator "~": must be one of`},
		{"${attr.kernel.name}", "regexp", "a(b", `"a(b" is not a regular expression`},
		{"${attr.kernel.name}", "regexp", "${meta.pattern}", ""},
		{"${attr.kernel.version}", "version", ">= 1.2, < 2", ""},
		{"${attr.kernel.version}", "version", "~> 1.2", ""},
		{"${attr.kernel.version}", "version", "${meta.range}", ""},
		{"${attr.kernel.version}", "version", "new", `"new" is not a version range`},
		{"${attr.kernel.version}", "version", ">= 1.2,", `is not a version range`},
		{"${attr.kernel.version}", "semver", ">= 1.2.0-beta.1", ""},
		{"${attr.kernel.version}", "semver", "~> 1.2", "semver has no ~>"},
		{"${attr.kernel.version}", ">", "", "operator > needs a value"},
		{"", "=", "x", "attribute is missing"},
		{"${node.nmae}", "=", "x", "${node.nmae} names nothing: there are ${attr.NAME}, ${meta.NAME}"},
		{"${node.pool}", "=", "gpu", ""},
		{"${attr.unique.hostname}", "=", "x", ""},
		{"${unique.hostname}", "=", "x", ""},
		{"${driver.exec}", "is_set", "", ""},
		{"${meta.}", "=", "x", "${meta.} names nothing"},
		{"x-${meta.rack}", "=", "x", "${...} must be all of it"},
		{"", "distinct_hosts", "true", ""},
		{"${meta.rack}", "distinct_property", "0", "must be a number above 0"},
	} {
		var c complaints
		validateConstraints(&c, "job", []*Constraint{{LTarget: test.left, Operand: test.operand, RTarget: test.right}})
		got := strings.Join(c, "; ")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s %s %s: %q, want %q", test.left, test.operand, test.right, got, test.want)
		}
	}
}

func TestDeviceBlocksAreChecked(t *testing.T) {
	for _, test := range []struct {
		d    DeviceRequest
		want string
	}{
		{DeviceRequest{Name: "gpu"}, ""},
		{DeviceRequest{Name: "nvidia/gpu/a100", Count: new(uint64(2))}, ""},
		{DeviceRequest{Name: "a/b/c/d"}, "name it type, vendor/type or vendor/type/model"},
		{DeviceRequest{Name: "nvidia/"}, "name it type"},
		{DeviceRequest{Name: "gpu", Count: new(uint64(0))}, "count 0: must be between 1 and"},
		{DeviceRequest{Name: "gpu", Constraints: []*Constraint{{LTarget: "${device.attr.memory}", Operand: ">=", RTarget: "4 GiB"}}}, ""},
		{DeviceRequest{Name: "gpu", Constraints: []*Constraint{{LTarget: "${attr.memory}", Operand: ">=", RTarget: "4 GiB"}}}, "${attr.memory} names nothing: there are ${device.attr.NAME}"},
		{DeviceRequest{Name: "gpu", Constraints: []*Constraint{{Operand: "distinct_hosts"}}}, `operator "distinct_hosts"`},
		{DeviceRequest{Name: "gpu", Affinities: []*Affinity{{LTarget: "${device.model}", Operand: "=", RTarget: "x", Weight: new(int8(0))}}}, "weight 0"},
	} {
		var c complaints
		validateDevices(&c, "task", []*DeviceRequest{&test.d})
		got := strings.Join(c, "; ")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%+v: %q, want %q", test.d, got, test.want)
		}
	}
}
