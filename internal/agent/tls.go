// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/kms"
	"github.com/reeve-run/reeve/internal/trust"
)

// A fileTLS names the certificates that an authority outside of the cluster signed.
type fileTLS struct {
	CA   string `hcl:"ca_file,optional"`
	Cert string `hcl:"cert_file,optional"`
	Key  string `hcl:"key_file,optional"`

	// Settings of Nomad's block. Reeve always encrypts, always verifies members by their role,
	// and identifies users by tokens.
	HTTP                 *bool  `hcl:"http,optional"`
	RPC                  *bool  `hcl:"rpc,optional"`
	VerifyServerHostname *bool  `hcl:"verify_server_hostname,optional"`
	VerifyHTTPSClient    *bool  `hcl:"verify_https_client,optional"`
	MinVersion           string `hcl:"tls_min_version,optional"`
}

// merge reads the block tls of a file.
func (c *Config) mergeTLS(path string, f *fileTLS) error {
	if f == nil {
		return nil
	}
	override(&c.TLS.CA, f.CA)
	override(&c.TLS.Cert, f.Cert)
	override(&c.TLS.Key, f.Key)
	isFalse := func(b *bool) bool { return b != nil && !*b }
	switch {
	case isFalse(f.HTTP), isFalse(f.RPC), isFalse(f.VerifyServerHostname):
		return api.Errorf(api.CodeInvalid, "%s: tls: http, rpc and verify_server_hostname cannot be false: members of a cluster always use TLS and verify each other's role; remove the setting, or the block tls", path)
	case f.VerifyHTTPSClient != nil && *f.VerifyHTTPSClient:
		return api.Errorf(api.CodeInvalid, "%s: tls: verify_https_client = true: users are identified by tokens, not by certificates; remove the setting", path)
	case f.MinVersion != "" && f.MinVersion != "tls12" && f.MinVersion != "tls13":
		return api.Errorf(api.CodeInvalid, "%s: tls: tls_min_version = %q: Reeve uses TLS 1.3; remove the setting", path, f.MinVersion)
	}
	return nil
}

// hasFiles reports whether the certificates come from files.
func (c *Config) hasFiles() bool { return c.TLS.CA != "" || c.TLS.Cert != "" || c.TLS.Key != "" }

// openExternal opens the identity in the files of block tls.
func (a *Agent) openExternal() error {
	dir := filepath.Join(a.config.DataDir, identityDir)
	_, err := os.Stat(dir)
	fresh := os.IsNotExist(err)
	files := a.config.TLS
	files.Region, files.Guard = a.config.Region, a.guard
	e, err := trust.OpenExternal(dir, files)
	if failed := (*kms.Error)(nil); errors.As(err, &failed) {
		return err
	}
	if err != nil {
		return api.Errorf(api.CodeInvalid, "%v", err)
	}
	e.Logger = a.log
	m, _ := e.Member()
	if want := a.config.role(); m.Role != want {
		return api.Errorf(api.CodeInvalid, "cert_file %s has the role %s, and this agent is to be a %s: start it as a %s, or use a certificate with the DNS name %s.%s.reeve",
			files.Cert, m.Role, want, m.Role, want, a.config.Region)
	}
	if fresh {
		if err := a.checkDirectory(); err != nil {
			os.RemoveAll(dir) // so that the next attempt says the same
			return err
		}
	}
	if len(m.Servers) == 0 {
		if err := e.SetServers(withPorts(a.config.Join)); err != nil {
			return api.Errorf(api.CodeInvalid, "server_join: %v", err)
		}
	}
	a.trust, a.external = e, e
	return nil
}

// withPorts adds the default port to hosts without one.
func withPorts(hosts []string) []string {
	var addresses []string
	for _, host := range hosts {
		addresses = append(addresses, withPort(host, DefaultPort))
	}
	return addresses
}

// reloadOnHangup reads the files of block tls again at each SIGHUP. Connections continue.
func (a *Agent) reloadOnHangup(ctx context.Context) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
		}
		if err := a.external.Reload(); err != nil {
			continue // it is in the log
		}
		a.log.Info("the files of block tls are in use", "expires", a.external.Expires())
	}
}
