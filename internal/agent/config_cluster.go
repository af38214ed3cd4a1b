// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
)

// ClusterHTTPAddr is the default address of the port of a member of a cluster.
const ClusterHTTPAddr = "0.0.0.0:" + DefaultPort

// DefaultDataDir is the default data directory of root's agents, except with -dev.
const DefaultDataDir = "/var/lib/reeve"

// A fileJoin is how an agent finds a cluster.
type fileJoin struct {
	RetryJoin     []string `hcl:"retry_join,optional"`
	RetryInterval string   `hcl:"retry_interval,optional"` // with bootstrap_expect; otherwise Reeve tries again after 1 to 30 seconds
	RetryMax      int      `hcl:"retry_max,optional"`      // accepted; Reeve tries again without limit
}

// mergeCluster reads the settings of a file about the cluster.
func (c *Config) mergeCluster(path string, f fileConfig) error {
	for _, j := range []*fileJoin{f.Server.join(), f.Client.join()} {
		if j != nil && len(j.RetryJoin) > 0 {
			c.Join = j.RetryJoin
		}
		if j != nil && j.RetryInterval != "" {
			d, err := time.ParseDuration(j.RetryInterval)
			if err != nil || d <= 0 {
				return api.Errorf(api.CodeInvalid, "%s: server_join: retry_interval = %q: must be a duration above 0, such as \"30s\"", path, j.RetryInterval)
			}
			c.RetryInterval = d
		}
	}
	if err := c.mergeTLS(path, f.TLS); err != nil {
		return err
	}
	override(&c.Advertise, f.Advertise)
	override(&c.JoinTokenFile, f.JoinTokenFile)
	if s := f.Server; s != nil {
		c.Bootstrap = c.Bootstrap || s.Bootstrap
		if s.BootstrapExpect < 0 {
			return api.Errorf(api.CodeInvalid, "%s: server: bootstrap_expect = %d: must be the number of servers that found the cluster", path, s.BootstrapExpect)
		}
		override(&c.BootstrapExpect, s.BootstrapExpect)
		c.Bootstrap = c.Bootstrap || s.BootstrapExpect == 1
	}
	return nil
}

func (f *fileServer) join() *fileJoin {
	if f == nil {
		return nil
	}
	return f.Join
}

func (f *fileClient) join() *fileJoin {
	if f == nil {
		return nil
	}
	return f.Join
}

// role returns what the machine is to its cluster.
func (c *Config) role() pki.Role {
	if c.Server.Enabled {
		return pki.RoleServer
	}
	return pki.RoleNode
}

// inCluster reports whether the agent is, or is to become, a member of a cluster.
func (c *Config) inCluster() bool {
	if c.Dev {
		return false
	}
	if c.Bootstrap || len(c.Join) > 0 || c.hasFiles() {
		return true
	}
	_, err := os.Stat(filepath.Join(c.DataDir, identityDir, "member.json"))
	return c.DataDir != "" && err == nil
}

// fillCluster sets the defaults that differ for members of a cluster.
func (c *Config) fillCluster() {
	if c.Dev {
		return
	}
	if c.DataDir == "" && os.Geteuid() == 0 {
		c.DataDir = DefaultDataDir
	}
	if c.Bootstrap {
		c.Server.Enabled = true
	} else if len(c.Join) > 0 && !c.Server.Enabled {
		c.Client.Enabled = true
	}
	if c.inCluster() {
		fallback(&c.HTTPAddr, ClusterHTTPAddr)
	}
}

// clusterProblems returns what is wrong with the settings about the cluster.
func (c *Config) clusterProblems() []string {
	switch {
	case c.Dev && (c.Bootstrap || len(c.Join) > 0):
		return []string{"-dev runs one machine for trying Reeve, without certificates: use it without -bootstrap and -join"}
	case c.Dev && c.hasFiles():
		return []string{"-dev runs one machine for trying Reeve, without certificates: use it without the block tls"}
	case c.BootstrapExpect > 1 && !c.hasFiles():
		return []string{fmt.Sprintf("bootstrap_expect = %d: such servers cannot trust each other: start one server with -bootstrap, or bootstrap = true in server { }, and the others with -join or retry_join and its join token; or give all of them certificates in tls { }", c.BootstrapExpect)}
	case c.BootstrapExpect > 1 && c.Bootstrap:
		return []string{fmt.Sprintf("-bootstrap founds a cluster with one server, and bootstrap_expect = %d with several: use one of them", c.BootstrapExpect)}
	case c.BootstrapExpect > 1 && len(c.Join) == 0:
		return []string{fmt.Sprintf("bootstrap_expect = %d: name the servers in server_join { retry_join = [\"10.0.0.1\", ...] }", c.BootstrapExpect)}
	case c.hasFiles() && c.JoinTokenFile != "" && c.JoinTokenFile != "-":
		return []string{"a machine joins with the certificate of block tls or with join_token_file, not with both: remove one of them"}
	case c.hasFiles() && c.Bootstrap:
		return nil
	case c.hasFiles() && len(c.Join) == 0:
		return []string{"the block tls has no servers to join: name them in server_join { retry_join = [\"10.0.0.1\"] }, or found a cluster with -bootstrap"}
	case c.Bootstrap && len(c.Join) > 0:
		return []string{"-bootstrap founds a cluster and -join joins one: use -bootstrap on the first server only"}
	}
	return nil
}
