// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/device"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/server/control"
)

func writeConfig(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadConfig(t *testing.T) {
	first := writeConfig(t, "a.hcl", `
data_dir   = "/srv/reeve"
datacenter = "east"
ports { http = 5000 }
server {
  enabled           = true
  heartbeat_grace   = "3s"
  stack_sweep_interval = "30s"
  mass_loss {
    fraction = 0.5
  }
  eval_gc_threshold = "30m"
  batch_eval_gc_threshold = "2h"
  job_gc_interval   = "1m"
  restart_gc_threshold = "6h"
}
dialects {
  sdk    = true
  nelson = true
}
client {
  enabled    = true
  node_class = "small"
  meta       = { rack = "r1" }
  reserved {
    cpu            = 500
    reserved_ports = "22"
    cores          = "0-1"
  }
  device "acme/gpu/one" {
    ids        = ["g0", "g1"]
    attributes = { memory = "40 GiB", units = 8, driver = "535.10", ecc = true }
    cdi        = "acme.com/gpu"
    node "g0" { path = "/dev/acme0" }
    node "g0" {
      path           = "/dev/acmectl"
      container_path = "/dev/ctl"
      permissions    = "r"
    }
  }
  cdi_spec_dirs = ["/srv/cdi"]
  host_network "public" {
    cidr           = "203.0.113.0/24"
    reserved_ports = "443"
  }
}`)
	second := writeConfig(t, "b.json", `{"datacenter": "west", "client": {"meta": {"row": "7"}}}`)
	got, err := LoadConfig([]string{first, second})
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		DataDir: "/srv/reeve", Datacenter: "west", HTTPAddr: "127.0.0.1:5000",
		Server: Server{Enabled: true, HeartbeatGrace: 3 * time.Second, MassLoss: control.MassLoss{Fraction: 0.5, Nodes: 20, Rate: 0.05}, EvaluationGCThreshold: 30 * time.Minute, BatchEvalGCThreshold: 2 * time.Hour, GCInterval: time.Minute, RestartGCThreshold: 6 * time.Hour, StackSweepInterval: 30 * time.Second},
		Client: Client{Enabled: true, NodeClass: "small", Meta: map[string]string{"rack": "r1", "row": "7"}},
	}
	on := true
	want.Dialects.SDK, want.Dialects.Nelson = &on, &on
	want.Client.ReservedCores = []uint16{0, 1}
	want.Client.CDISpecDirs = []string{"/srv/cdi"}
	want.Client.Devices = []device.Declared{{
		Group: &api.NodeDeviceGroup{
			Vendor: "acme", Type: "gpu", Name: "one", Instances: []*api.NodeDevice{{ID: "g0", Healthy: true}, {ID: "g1", Healthy: true}},
			Attributes: map[string]*api.DeviceAttribute{
				"memory": {Int: new(int64(40)), Unit: "GiB"}, "units": {Int: new(int64(8))}, "driver": {String: new("535.10")}, "ecc": {Bool: new(true)},
			},
		},
		CDI: "acme.com/gpu",
		Nodes: map[string][]driver.Device{"g0": {
			{Source: "/dev/acme0", Target: "/dev/acme0", Permissions: "rwm"}, {Source: "/dev/acmectl", Target: "/dev/ctl", Permissions: "r"},
		}},
	}}
	want.Client.HostNetworks = []api.HostNetwork{{Name: "public", CIDR: "203.0.113.0/24", ReservedPorts: "443"}}
	want.Client.Reserved.CPU.CPUShares = 500
	want.Client.Reserved.Networks.ReservedHostPorts = "22"
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadConfigReadsDirectoriesInOrder(t *testing.T) {
	dir := t.TempDir()
	for name, dc := range map[string]string{"10.hcl": "one", "20.hcl": "two", "ignored.txt": "three"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(`datacenter = "`+dc+`"`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := LoadConfig([]string{dir})
	if err != nil || got.Datacenter != "two" {
		t.Errorf("got datacenter %q, %v", got.Datacenter, err)
	}
}

func TestLoadConfigErrorsSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		"data_dri = \"/x\"\n":                            ".hcl:1:1: Unsupported argument",
		"name = \"x\"\nserver {\n  enabld = true\n}":     ".hcl:3:3: Unsupported argument",
		"dialects {\n sdk = \"perhaps\"\n}":              ".hcl:2:9: ",
		"server {":                                       ".hcl:1:8: ",
		"server { enabled = \"perhaps\" }":               "bool",
		"server { heartbeat_grace = \"soon\" }":          `heartbeat_grace = "soon"`,
		"server {\n mass_loss {\n  fraction = 30\n }\n}": "fraction must be from 0 to 1",
	} {
		_, err := LoadConfig([]string{writeConfig(t, "c.hcl", text)})
		if api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want an error with %q, got: %v", text, want, err)
		}
	}
	if _, err := LoadConfig([]string{"/does/not/exist"}); err == nil || !strings.Contains(err.Error(), "/does/not/exist") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestValidateConfig(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"neither":     {func(c *Config) { c.Server.Enabled, c.Client.Enabled = false, false }, "neither a server nor a client"},
		"no servers":  {func(c *Config) { c.Server.Enabled = false }, "knows no server"},
		"no data dir": {func(c *Config) { c.DataDir = "" }, "data_dir is missing"},
		"address":     {func(c *Config) { c.HTTPAddr = "4646" }, "must be HOST:PORT"},
		"public":      {func(c *Config) { c.HTTPAddr = "192.0.2.1:4646" }, "no certificates"},
		"log level":   {func(c *Config) { c.LogLevel = "loud" }, `log_level "loud"`},
	} {
		c := DevConfig()
		c.DataDir = "/tmp/x"
		tc.change(&c)
		if err := c.Validate(); api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: want an error with %q, got: %v", name, tc.want, err)
		}
	}
	good := DevConfig()
	good.DataDir = "data"
	if err := good.Validate(); err != nil || !filepath.IsAbs(good.DataDir) || good.Region != "global" {
		t.Errorf("a good configuration: %+v, %v", good, err)
	}
}

func TestDataDirHasOneHolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	held, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockDir(dir); err == nil || !strings.Contains(err.Error(), "another agent") || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second holder: %v", err)
	}
	held.Close()
	again, err := lockDir(dir)
	if err != nil {
		t.Fatalf("after the first holder ended: %v", err)
	}
	again.Close()
}

func TestDialectsAreOnWithDevOnly(t *testing.T) {
	no, yes := false, true
	for _, c := range []struct {
		dev  bool
		said *bool
		want bool
	}{{false, nil, false}, {true, nil, true}, {true, &no, false}, {false, &yes, true}} {
		config := Config{Dev: c.dev, Dialects: Dialects{SDK: c.said}}
		if got := config.speaksSDK(); got != c.want {
			t.Errorf("%+v speaks it: %v, want %v", c, got, c.want)
		}
		config = Config{Dev: c.dev, Dialects: Dialects{Nelson: c.said}}
		if got := config.speaksNelson(); got != c.want {
			t.Errorf("%+v speaks Nelson's API: %v, want %v", c, got, c.want)
		}
	}
}

func TestCertificatesFromFilesAreConfigured(t *testing.T) {
	const files = `tls {
  ca_file = "/ca"
  cert_file = "/cert"
  key_file = "/key"
  rpc = true
}
`
	c, err := LoadConfig([]string{writeConfig(t, "a.hcl", files+`data_dir = "/d"
server {
  enabled = true
  bootstrap_expect = 3
  server_join {
    retry_join = ["10.0.0.1", "10.0.0.2"]
    retry_interval = "15s"
  }
}`)})
	if err == nil {
		err = c.Validate()
	}
	if err != nil || c.TLS.CA != "/ca" || c.TLS.Cert != "/cert" || c.TLS.Key != "/key" || c.BootstrapExpect != 3 || c.RetryInterval != 15*time.Second || c.HTTPAddr != ClusterHTTPAddr {
		t.Errorf("configuration %+v: %v", c, err)
	}
	for _, k := range []struct{ text, say string }{
		{`server { bootstrap_expect = 3 }`, "such servers cannot trust each other: start one server with -bootstrap"},
		{`server { bootstrap_expect = -1 }`, "must be the number of servers"},
		{files + `server { bootstrap_expect = 3 }`, "name the servers in server_join"},
		{files, "has no servers to join"},
		{files + `server {
bootstrap = true
bootstrap_expect = 3
}`, "use one of them"},
		{files + `join_token_file = "/token"
server {
server_join { retry_join = ["a"] }
}`, "not with both"},
		{`tls { rpc = false }`, "always use TLS"},
		{`tls { verify_https_client = true }`, "users are identified by tokens"},
		{`tls { tls_min_version = "tls10" }`, "Reeve uses TLS 1.3"},
		{`server { 
server_join { retry_interval = "soon" }
}`, `retry_interval = "soon"`},
	} {
		c, err := LoadConfig([]string{writeConfig(t, "a.hcl", k.text)})
		if err == nil {
			c.DataDir, c.Server.Enabled = t.TempDir(), true
			err = c.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), k.say) {
			t.Errorf("%s: %v; want %q", k.text, err, k.say)
		}
	}
}

// A job file's meta is a block, and so is that of agents elsewhere.
func TestMetaOfANodeIsABlockOrAnAttribute(t *testing.T) {
	first := writeConfig(t, "a.hcl", "client {\n  meta {\n    rack = \"r1\"\n    row  = 7\n  }\n}\n")
	second := writeConfig(t, "b.hcl", "client {\n  meta = { row = \"8\" }\n}\n")
	got, err := LoadConfig([]string{first, second})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"rack": "r1", "row": "8"}, got.Client.Meta); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The first example of the page is a configuration.
func TestExampleOfThePageIsAConfiguration(t *testing.T) {
	text, err := os.ReadFile("../../docs/agent-config.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```hcl\n")
	example, _, _ := strings.Cut(rest, "```\n")
	got, err := LoadConfig([]string{writeConfig(t, "a.hcl", example)})
	if err != nil || got.Client.Meta["rack"] != "1" {
		t.Errorf("meta %q: %v", got.Client.Meta, err)
	}
}
