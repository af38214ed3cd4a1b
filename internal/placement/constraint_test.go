// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestConstraints(t *testing.T) {
	n := &api.Node{
		ID: "0a1b", Name: "alpha", Datacenter: "dc1", NodeClass: "big", NodePool: "gpu",
		Attributes: map[string]string{
			"kernel.name": "linux", "kernel.version": "6.1.0", "cpu.numcores": "16", "memory": "1e9",
			"driver.docker": "1", "driver.docker.version": "24.0.7", "unique.hostname": "alpha.local",
			"pre": "2.0.0-beta.1", "empty": "", "features": "avx, sse4,aes",
		},
		Meta: map[string]string{"rack": "r1", "owner": "web,ops"},
	}
	for _, test := range []struct {
		left, operand, right string
		want                 bool
	}{
		{"${attr.kernel.name}", "=", "linux", true},
		{"${attr.kernel.name}", "", "linux", true},
		{"${attr.kernel.name}", "==", "linux", true},
		{"${attr.kernel.name}", "is", "windows", false},
		{"${attr.missing}", "=", "linux", false},
		{"${attr.missing}", "=", "", false},
		{"${attr.empty}", "=", "", true},
		{"${attr.kernel.name}", "!=", "windows", true},
		{"${attr.kernel.name}", "not", "linux", false},
		{"${attr.missing}", "!=", "linux", true},
		{"${attr.cpu.numcores}", "<", "9", false},
		{"${attr.cpu.numcores}", ">", "9", true},
		{"${attr.cpu.numcores}", ">=", "16", true},
		{"${attr.cpu.numcores}", "<=", "15", false},
		{"${attr.memory}", ">", "999999999.5", true},
		{"${meta.rack}", "<", "r2", true},
		{"${attr.missing}", "<", "1", false},
		{"${attr.kernel.name}", "regexp", "^lin", true},
		{"${attr.kernel.name}", "regexp", "^win", false},
		{"${attr.kernel.name}", "regexp", "(", false},
		{"${attr.kernel.version}", "version", ">= 5.10, < 7", true},
		{"${attr.kernel.version}", "version", "~> 6.0", true},
		{"${attr.kernel.version}", "version", "> 6.1.0", false},
		{"${attr.kernel.name}", "version", "> 1", false},
		{"${attr.kernel.version}", "version", "nonsense", false},
		{"${attr.pre}", "version", ">= 1.0", false},
		{"${attr.pre}", "semver", ">= 1.0.0", true},
		{"${attr.pre}", "semver", ">= 2.0.0", false},
		{"${attr.pre}", "semver", "< 2.0.0, != 1.9.0", true},
		{"${attr.pre}", "semver", "~> 2.0", false},
		{"${attr.pre}", "semver", "nonsense", false},
		{"${attr.features}", "set_contains", "aes,avx", true},
		{"${attr.features}", "set_contains_all", "aes,neon", false},
		{"${attr.features}", "set_contains_any", "aes,neon", true},
		{"${attr.features}", "set_contains_any", "neon", false},
		{"${attr.missing}", "set_contains_any", "neon", false},
		{"${meta.rack}", "is_set", "", true},
		{"${meta.room}", "is_set", "", false},
		{"${meta.room}", "is_not_set", "", true},
		{"${attr.empty}", "is_not_set", "", false},
		{"${node.unique.id}", "=", "0a1b", true},
		{"${node.unique.name}", "=", "alpha", true},
		{"${node.datacenter}", "=", "dc1", true},
		{"${node.class}", "=", "big", true},
		{"${node.pool}", "=", "gpu", true},
		{"${node.region}", "=", "global", true},
		{"${node.nonsense}", "is_set", "", false},
		{"${driver.docker.version}", "version", ">= 20", true},
		{"linux", "=", "${attr.kernel.name}", true},
		{"${meta.rack}", "=", "${meta.rack}", true},
		{"${meta.rack}", "regexp", "${meta.rack}", true},
		{"${meta.rack}", "nonsense", "r1", false},
	} {
		c := newCondition(test.left, test.operand, test.right)
		if got := c.holds(n); got != test.want {
			t.Errorf("%s: %t, want %t", c.words, got, test.want)
		}
	}
}

// The suffix of a distribution's kernel is no pre-release, and that of a release candidate is one.
func TestKernelsOfDistributionsHaveVersions(t *testing.T) {
	for release, want := range map[string]bool{
		"6.1.0": true, "6.1.0-37-amd64": true, "5.15.167.4-microsoft-standard-WSL2": true, "6.8.0-1021-aws": true,
		"5.4.0-216-generic": false, "6.1.0-rc3": false, "": false, "-37": false,
	} {
		n := &api.Node{Attributes: map[string]string{"kernel.version": release}, Meta: map[string]string{"kernel.version": release}}
		if got := newCondition("${attr.kernel.version}", "version", ">= 5.10").holds(n); got != want {
			t.Errorf("%q: %t, want %t", release, got, want)
		}
		if newCondition("${meta.kernel.version}", "version", ">= 5.10").holds(n) != (release == "6.1.0") {
			t.Errorf("%q: the version of a meta value changed", release)
		}
	}
}

func TestUniqueTargetsEscapeTheClass(t *testing.T) {
	for target, want := range map[string]bool{
		"${attr.kernel.name}": false, "${attr.unique.hostname}": true, "${meta.unique.owner}": true,
		"${node.unique.id}": true, "${node.class}": false, "unique.literal": false,
	} {
		if got := newCondition(target, "=", "x").unique; got != want {
			t.Errorf("%s: unique is %t, want %t", target, got, want)
		}
	}
}

func TestIsFeasible(t *testing.T) {
	node := testNode(1)
	for _, test := range []struct {
		name   string
		change func(*api.Job, *api.Node)
		reason string
	}{
		{"as it is", func(*api.Job, *api.Node) {}, ""},
		{"a datacenter by glob", func(j *api.Job, _ *api.Node) { j.Datacenters = []string{"x", "d?2"} }, ""},
		{"another datacenter", func(j *api.Job, _ *api.Node) { j.Datacenters = []string{"x"} }, `datacenter "dc2" is not among ["x"]`},
		{"another pool", func(j *api.Job, _ *api.Node) { j.NodePool = "gpu" }, `node pool "default" is not "gpu"`},
		{"every pool", func(j *api.Job, _ *api.Node) { j.NodePool = "all" }, ""},
		{"no driver", func(_ *api.Job, n *api.Node) { n.Drivers = nil }, "missing drivers: mock"},
		{"no Java", func(j *api.Job, n *api.Node) {
			j.Groups[0].Tasks[0].Driver = "java"
			n.Drivers["java"] = &api.DriverStatus{HealthDescription: "no Java runtime: install one"}
		}, "missing drivers: java: no Java runtime: install one"},
		{"no daemon", func(j *api.Job, n *api.Node) {
			t := j.Groups[0].Tasks[0]
			t.Driver, t.Config = "podman", map[string]any{"image": "web:1", "memory_swap": "1g"}
			n.Drivers["podman"] = &api.DriverStatus{Detected: true, Healthy: true}
			n.Attributes[api.NodeAttrDockerEngines] = api.DockerContainer
		}, "driver podman: memory_swap needs a Docker daemon"},
		{"an unhealthy driver", func(_ *api.Job, n *api.Node) {
			n.Drivers = map[string]*api.DriverStatus{"mock": {Detected: true}}
		}, "unhealthy drivers: mock"},
		{"a user that no operator allows", func(j *api.Job, n *api.Node) {
			n.Attributes["driver.mock.allowed_users"] = "app,web"
			j.Groups[0].Tasks[0].User = "db"
		}, `user "db" is not permitted for driver mock on this node: add it to allowed_users in client { mock { } } of its agent's configuration`},
		{"a user that the operator allows", func(j *api.Job, n *api.Node) {
			n.Attributes["driver.mock.allowed_users"] = "app,db"
			j.Groups[0].Tasks[0].User = "db"
		}, ""},
		{"a constraint of the job", func(j *api.Job, _ *api.Node) {
			j.Constraints = []*api.Constraint{{LTarget: "${meta.rack}", Operand: "=", RTarget: "r9"}}
		}, "${meta.rack} = r9"},
		{"a constraint of the group", func(j *api.Job, _ *api.Node) {
			j.Groups[0].Constraints = []*api.Constraint{{LTarget: "${meta.rack}", Operand: "!=", RTarget: "r1"}}
		}, "${meta.rack} != r1"},
		{"a constraint of the task on something unique", func(j *api.Job, _ *api.Node) {
			j.Groups[0].Tasks[0].Constraints = []*api.Constraint{{LTarget: "${node.unique.name}", Operand: "=", RTarget: "other"}}
		}, "${node.unique.name} = other"},
	} {
		t.Run(test.name, func(t *testing.T) {
			job, n := testJob(1), node.Copy()
			test.change(job, n)
			reason, ok := IsFeasible(job, job.Groups[0], n)
			if reason != test.reason || ok != (test.reason == "") {
				t.Errorf("%q, %t; want %q", reason, ok, test.reason)
			}
		})
	}
}
