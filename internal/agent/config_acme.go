// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/acme"
)

// fileACME is the acme block of the router block.
type fileACME struct {
	Domains    []string `hcl:"domains,optional"`
	RouteHosts []string `hcl:"route_hosts,optional"`
	Email      string   `hcl:"email,optional"`
	Agreed     bool     `hcl:"terms_agreed,optional"`
	Directory  string   `hcl:"directory_url,optional"`
	CA         string   `hcl:"ca_file,optional"`
	Variables  string   `hcl:"variables,optional"`
	Namespace  string   `hcl:"namespace,optional"`
	Challenges []string `hcl:"challenges,optional"`
}

// config returns the block with its defaults.
func (f *fileACME) config() *acme.Config {
	return &acme.Config{
		Domains: f.Domains, RouteHosts: f.RouteHosts, Email: f.Email, Agreed: f.Agreed, CA: f.CA, Challenges: f.Challenges,
		Directory: cmp.Or(f.Directory, acme.DefaultDirectory), Prefix: cmp.Or(f.Variables, acme.DefaultPrefix), Namespace: cmp.Or(f.Namespace, api.DefaultNamespace),
	}
}

// acmeProblems returns errors of the acme block.
func (r *Router) acmeProblems() (all []string) {
	if r.ACME == nil {
		return nil
	}
	for _, p := range r.ACME.Problems() {
		all = append(all, "router: "+p)
	}
	if r.HTTPSAddr == "" {
		all = append(all, "router: acme: without https, no client receives the certificates: set https = \"0.0.0.0:443\", or remove the block")
	}
	if r.TokenFile == "" {
		all = append(all, "router: acme: the certificates are stored in variables, with an access token: set token_file to a file with one")
	}
	return all
}
