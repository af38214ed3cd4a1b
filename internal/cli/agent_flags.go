// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strconv"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/internal/agent"
)

// agentFlags holds the parts of an agent's configuration that flags can set.
type agentFlags struct {
	config agent.Config
	meta   []string
}

func (a *agentFlags) addTo(f *pflag.FlagSet) {
	f.StringVar(&a.config.DataDir, "data-dir", "", "store the agent's state in `DIR`")
	f.StringVar(&a.config.HTTPAddr, "http-addr", "", "serve the API on `HOST:PORT` (default "+agent.DefaultHTTPAddr+"); port 0 chooses a free port")
	f.StringVar(&a.config.Name, "node", "", "`NAME` of this machine instead of its host name")
	f.StringVar(&a.config.Datacenter, "dc", "", "`NAME` of the datacenter (default dc1)")
	f.BoolVar(&a.config.Server.Enabled, "server", false, "run a server")
	f.BoolVar(&a.config.Bootstrap, "bootstrap", false, "found a cluster with this machine as its first server")
	f.StringArrayVar(&a.config.Join, "join", nil, "become a member of the cluster of `HOST`, with the token in REEVE_JOIN_TOKEN or -join-token-file; repeatable")
	f.StringVar(&a.config.JoinTokenFile, "join-token-file", "", "read the join token from `FILE`; - is standard input")
	f.StringVar(&a.config.Advertise, "advertise", "", "`HOST` or HOST:PORT at which other members reach this machine (default: its address in the network of the cluster)")
	f.BoolVar(&a.config.Client.Enabled, "client", false, "run a node")
	f.StringArrayVar(&a.config.Client.Servers, "servers", nil, "`URL` of a server, for an agent without a server of its own; repeatable")
	f.StringVar(&a.config.Client.NodeClass, "node-class", "", "`CLASS` of the node, for constraints")
	f.StringVar(&a.config.Client.NodePool, "node-pool", "", "`POOL` that the node belongs to")
	f.StringArrayVar(&a.meta, "meta", nil, "publish `NAME=VALUE` with the node, for constraints; repeatable")
	f.BoolFunc("router", "run the router, which sends traffic to instances (default: only with -dev and in \"reeve dev\")", func(text string) error {
		on, err := strconv.ParseBool(text)
		a.config.Router.Enabled = &on
		return err
	})
	f.StringVar(&a.config.Router.HTTPAddr, "router-http", "", "accept HTTP traffic for routes on `HOST:PORT` (default "+agent.DefaultRouterAddr+"); port 0 chooses a free port")
	f.StringVar(&a.config.Router.HTTPSAddr, "router-https", "", "accept HTTPS traffic for routes on `HOST:PORT`, with the certificates of the configuration file; port 0 chooses a free port")
	f.StringVar(&a.config.LogLevel, "log-level", "", "log messages of `LEVEL` and above: debug, info, warn or error (default info)")
}

// apply overrides a configuration with the given flags.
func (a *agentFlags) apply(c *agent.Config) error {
	for _, s := range []struct {
		to   *string
		from string
	}{
		{&c.DataDir, a.config.DataDir},
		{&c.HTTPAddr, a.config.HTTPAddr},
		{&c.Name, a.config.Name},
		{&c.Datacenter, a.config.Datacenter},
		{&c.LogLevel, a.config.LogLevel},
		{&c.Advertise, a.config.Advertise},
		{&c.JoinTokenFile, a.config.JoinTokenFile},
		{&c.Client.NodeClass, a.config.Client.NodeClass},
		{&c.Client.NodePool, a.config.Client.NodePool},
		{&c.Router.HTTPAddr, a.config.Router.HTTPAddr},
		{&c.Router.HTTPSAddr, a.config.Router.HTTPSAddr},
	} {
		if s.from != "" {
			*s.to = s.from
		}
	}
	c.Server.Enabled = c.Server.Enabled || a.config.Server.Enabled
	c.Client.Enabled = c.Client.Enabled || a.config.Client.Enabled
	c.Bootstrap = c.Bootstrap || a.config.Bootstrap
	if len(a.config.Join) > 0 {
		c.Join = a.config.Join
	}
	if a.config.Router.Enabled != nil {
		c.Router.Enabled = a.config.Router.Enabled
	}
	if len(a.config.Client.Servers) > 0 {
		c.Client.Servers = a.config.Client.Servers
	}
	for _, m := range a.meta {
		name, value, err := splitPair("meta", m)
		if err != nil {
			return err
		}
		if c.Client.Meta == nil {
			c.Client.Meta = map[string]string{}
		}
		c.Client.Meta[name] = value
	}
	return nil
}
