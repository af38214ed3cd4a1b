// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/contexts"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/trust"
)

// connect returns a client of the cluster that flags and environment select.
func (c *cli) connect() (*client.Client, error) {
	config, err := c.clientConfig()
	if err != nil {
		return nil, err
	}
	return client.New(config)
}

// clientConfig returns the configuration of clients of that cluster.
func (c *cli) clientConfig() (config client.Config, err error) {
	if c.wait, err = c.serverWait(); err != nil {
		return config, err
	}
	token, err := c.token()
	if err != nil {
		return config, err
	}
	config = client.Config{Address: c.address(), Token: token, Namespace: c.namespace(), Region: c.region()}
	if err := c.addTrust(&config); err != nil {
		return config, err
	}
	c.sent = config.Token
	return config, nil
}

// addTrust adds to the configuration how the servers of a context are verified, and the
// context's address and token unless others are given. A context applies to its own servers,
// and to commands without an address.
func (c *cli) addTrust(config *client.Config) error {
	dir, err := contexts.Dir(c.Getenv)
	if err != nil {
		return nil // no place for contexts, so there are none
	}
	file, err := contexts.Load(dir)
	if err != nil {
		return err
	}
	used := c.contextFor(file, config.Address)
	if used == nil {
		return nil
	}
	roots, err := pki.ParseRoots([]byte(used.Roots))
	if err != nil {
		return api.Errorf(api.CodeInvalid, "context %s: %v; log in again with: reeve login %s", used.Name, err, used.Servers[0])
	}
	c.used, config.TLS = used, trust.UserConfig(roots)
	c.outdated = watchRoots(config.TLS, roots)
	config.Token = cmp.Or(config.Token, used.Token)
	if config.Address == "" {
		config.Address, config.Dial = "https://"+used.Servers[0], dialAny(used.Servers)
	}
	return nil
}

// contextFor returns the context of an address, the current one without an address, or nil.
func (c *cli) contextFor(file *contexts.File, address string) *contexts.Context {
	host, secure := strings.CutPrefix(address, "https://")
	for i, context := range file.Contexts {
		current := address == "" && context.Name == file.Current
		if len(context.Servers) > 0 && (current || secure && slices.Contains(context.Servers, strings.TrimSuffix(host, "/"))) {
			return &file.Contexts[i]
		}
	}
	return nil
}

// serverDialTimeout bounds the connection to one of several servers.
const serverDialTimeout = 3 * time.Second

// dialAny returns a function that connects to the first server that accepts, regardless of the
// address: each verifies itself as a server of the cluster.
func dialAny(servers []string) func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: serverDialTimeout, KeepAlive: 15 * time.Second}
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		var errs []error
		for _, server := range servers {
			conn, err := dialer.DialContext(ctx, network, server)
			if err == nil {
				return conn, nil
			}
			errs = append(errs, err)
		}
		return nil, errors.Join(errs...)
	}
}

// withResources returns options of lists of allocations that include ports.
func withResources() *client.QueryOptions {
	return &client.QueryOptions{Params: url.Values{"resources": {"true"}}}
}

// listAll reads all pages of a list.
func listAll[T any](ctx context.Context, q client.QueryOptions,
	list func(context.Context, *client.QueryOptions) ([]T, *client.QueryMeta, error),
) ([]T, error) {
	all := []T{}
	for {
		page, meta, err := list(ctx, &q)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if meta == nil || meta.NextToken == "" || q.PerPage > 0 {
			return all, nil
		}
		q.NextToken = meta.NextToken
	}
}
