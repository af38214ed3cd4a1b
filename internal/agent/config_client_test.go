// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"strings"
	"testing"
)

func TestWrongDevicesAndNetworksAreTold(t *testing.T) {
	for text, want := range map[string]string{
		`device "gpu" { ids = ["a"] }`:                                                            `device "gpu": name it vendor/type/model`,
		"device \"a/gpu/x\" {\n ids = [\"a\"]\n cdi = \"gpu\"\n }":                                `cdi "gpu": must be a vendor and a class`,
		"device \"a/gpu/x\" {\n ids = [\"a\"]\n node \"b\" { path = \"/dev/b\" }\n }":             `node "b": ids has no such device`,
		"device \"a/gpu/x\" {\n ids = [\"a\"]\n node \"a\" { path = \"/dev/../etc/shadow\" }\n }": `node "a": path "/dev/../etc/shadow": must be absolute`,
		`cdi_spec_dirs = ["cdi"]`:                                                                 `cdi_spec_dirs: "cdi": must be an absolute path`,
		`device "a/gpu/x" { ids = [] }`:                                                           `device "a/gpu/x": ids is empty`,
		`device "a/gpu/x" { ids = ["a", "a"] }`:                                                   `ids: "a" is empty, has a comma, or is given twice`,
		"device \"a/gpu/x\" {\n ids = [\"a\"]\n attributes = { m = [1] }\n }":                     `attribute m: must be a number, a text or a truth value`,
		"device \"a/gpu/x\" {\n ids = [\"a\"]\n attributes = \"fast\"\n }":                        `attributes must be names with values`,
		`host_network "default" { cidr = "10.0.0.0/8" }`:                                          `"default" is the node's own address`,
		`host_network "x" {}`:                                                                     `cidr or interface is needed`,
		`host_network "x" { cidr = "10.0.0.1" }`:                                                  `cidr "10.0.0.1": must be a range`,
		`reserved { reserved_ports = "22,x" }`:                                                    `reserved: reserved_ports "22,x": must be ports and ranges`,
		`reserved { reserved_ports = "90-80" }`:                                                   `reserved_ports "90-80"`,
		`reserved { cores = "a" }`:                                                                `reserved: cores: "a" is not a list of cores`,
	} {
		_, err := LoadConfig([]string{writeConfig(t, "a.hcl", "client {\n"+text+"\n}")})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "a.hcl") {
			t.Errorf("%s\n  is refused with %v\n  want %s", text, err, want)
		}
	}
}
