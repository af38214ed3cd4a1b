// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router"
)

// Router configures the part that routes traffic to instances.
type Router struct {
	Enabled   *bool  // nil: enabled only with Dev
	TokenFile string // file with the access token for variables
	router.Config
}

// DefaultRouterAddr is the default address of a router for HTTP.
const DefaultRouterAddr = "127.0.0.1:8080"

// routes reports whether the agent has a router.
func (c *Config) routes() bool {
	if c.Router.Enabled == nil {
		return c.Dev
	}
	return *c.Router.Enabled
}

// fileRouter is the router block of a configuration file.
type fileRouter struct {
	Enabled         *bool          `hcl:"enabled,optional"`
	Engine          *hcl.Attribute `hcl:"engine,optional"`
	HTTP            string         `hcl:"http,optional"`
	HTTPS           string         `hcl:"https,optional"`
	HTTPSPort       int            `hcl:"https_port,optional"`
	TCPAddress      string         `hcl:"tcp_address,optional"`
	AccessLog       string         `hcl:"access_log,optional"`
	AccessFormat    string         `hcl:"access_log_format,optional"`
	AccessSample    float64        `hcl:"access_log_sample,optional"`
	Trusted         []string       `hcl:"trusted_proxies,optional"`
	StackClients    []string       `hcl:"stack_clients,optional"`
	MaxHeader       int            `hcl:"max_header,optional"`
	MaxBody         int64          `hcl:"max_body,optional"`
	HeaderTimeout   string         `hcl:"header_timeout,optional"`
	BodyTimeout     string         `hcl:"body_timeout,optional"`
	IdleTimeout     string         `hcl:"idle_timeout,optional"`
	ResponseTimeout string         `hcl:"response_timeout,optional"`
	ConnectTimeout  string         `hcl:"connect_timeout,optional"`
	DrainTimeout    string         `hcl:"drain_timeout,optional"`

	TokenFile    string             `hcl:"token_file,optional"`
	Certificates []*fileCertificate `hcl:"certificate,block"`
	ACME         *fileACME          `hcl:"acme,block"`
}

func (r *Router) merge(path string, f *fileRouter) error {
	if f == nil {
		return nil
	}
	if f.Enabled != nil {
		r.Enabled = f.Enabled
	}
	if err := r.mergeEngine(f.Engine); err != nil {
		return err
	}
	override(&r.HTTPAddr, f.HTTP)
	override(&r.HTTPSAddr, f.HTTPS)
	override(&r.HTTPSPort, f.HTTPSPort)
	override(&r.TCPAddress, f.TCPAddress)
	override(&r.TokenFile, f.TokenFile)
	if f.ACME != nil {
		r.ACME = f.ACME.config()
	}
	for i, c := range f.Certificates {
		source, err := c.source()
		if err != nil {
			return api.Errorf(api.CodeInvalid, "%s: router: certificate %d: %v", path, i+1, err)
		}
		r.Certificates = append(r.Certificates, source)
	}
	override(&r.AccessLog, f.AccessLog)
	override(&r.AccessFormat, f.AccessFormat)
	override(&r.AccessSample, f.AccessSample)
	override(&r.MaxHeader, f.MaxHeader)
	override(&r.MaxBody, f.MaxBody)
	for _, n := range []struct {
		name  string
		texts []string
		into  *[]netip.Prefix
	}{{"trusted_proxies", f.Trusted, &r.Trusted}, {"stack_clients", f.StackClients, &r.StackClients}} {
		if n.texts == nil {
			continue
		}
		networks, err := parseNetworks(n.texts)
		if err != nil {
			return api.Errorf(api.CodeInvalid, "%s: router: %s: %v", path, n.name, err)
		}
		*n.into = networks
	}
	for _, d := range []struct {
		name, text string
		into       *time.Duration
	}{
		{"header_timeout", f.HeaderTimeout, &r.HeaderTimeout},
		{"body_timeout", f.BodyTimeout, &r.BodyTimeout},
		{"idle_timeout", f.IdleTimeout, &r.IdleTimeout},
		{"response_timeout", f.ResponseTimeout, &r.ResponseTimeout},
		{"connect_timeout", f.ConnectTimeout, &r.ConnectTimeout},
		{"drain_timeout", f.DrainTimeout, &r.DrainTimeout},
	} {
		if d.text == "" {
			continue
		}
		v, err := time.ParseDuration(d.text)
		if d.into == &r.BodyTimeout && err == nil && v == 0 {
			*d.into = router.NoLimit
			continue
		}
		if err != nil || v <= 0 {
			return api.Errorf(api.CodeInvalid, "%s: router: %s = %q: must be a duration above 0, such as \"30s\"", path, d.name, d.text)
		}
		*d.into = v
	}
	return nil
}

// parseNetworks returns addresses and networks as networks. An empty list is not nil.
func parseNetworks(texts []string) ([]netip.Prefix, error) {
	networks := []netip.Prefix{}
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if a, addrErr := netip.ParseAddr(text); err != nil && addrErr == nil {
			p, err = a.Prefix(a.BitLen())
		}
		if err != nil {
			return nil, fmt.Errorf("%q: must be an address or a network, such as \"10.0.0.0/8\"", text)
		}
		networks = append(networks, p)
	}
	return networks, nil
}

// mergeEngine sets the engine. Its error has the position of the value.
func (r *Router) mergeEngine(attr *hcl.Attribute) error {
	if attr == nil {
		return nil
	}
	var engine string
	at := attr.Expr.Range()
	if diags := gohcl.DecodeExpression(attr.Expr, nil, &engine); diags.HasErrors() || engine != router.EngineFast && engine != router.EngineStandard {
		return api.Errorf(api.CodeInvalid, "%s:%d:%d: router: engine: unknown value; use %q or %q",
			at.Filename, at.Start.Line, at.Start.Column, router.EngineFast, router.EngineStandard)
	}
	r.Engine = engine
	return nil
}

// problems returns what is wrong with the router's configuration.
func (r *Router) problems() (all []string) {
	if r.HTTPAddr != "" {
		_, port, err := net.SplitHostPort(r.HTTPAddr)
		if n, convErr := strconv.Atoi(port); err != nil || convErr != nil || n < 0 || n > 65535 {
			all = append(all, fmt.Sprintf("router: http %q: must be HOST:PORT, as in %s", r.HTTPAddr, DefaultRouterAddr))
		}
	}
	if r.HTTPSAddr != "" {
		_, port, err := net.SplitHostPort(r.HTTPSAddr)
		if n, convErr := strconv.Atoi(port); err != nil || convErr != nil || n < 0 || n > 65535 {
			all = append(all, fmt.Sprintf("router: https %q: must be HOST:PORT, as in 0.0.0.0:8443", r.HTTPSAddr))
		}
	} else if len(r.Certificates) > 0 {
		all = append(all, "router: certificate: without https, no client receives it: set https = \"0.0.0.0:8443\", or remove the block")
	}
	all = append(all, r.tokenProblems()...)
	all = append(all, r.acmeProblems()...)
	if r.HTTPSPort < 0 || r.HTTPSPort > 65535 {
		all = append(all, fmt.Sprintf("router: https_port %d: must be 1 to 65535", r.HTTPSPort))
	}
	if r.TCPAddress != "" && net.ParseIP(r.TCPAddress) == nil {
		all = append(all, fmt.Sprintf("router: tcp_address %q: must be an IP address without a port, as in 127.0.0.1", r.TCPAddress))
	}
	if f := r.AccessFormat; f != "" && f != router.AccessJSON && f != router.AccessCombined {
		all = append(all, fmt.Sprintf("router: access_log_format %q: must be %s or %s", f, router.AccessJSON, router.AccessCombined))
	}
	if e := r.Engine; e != "" && e != router.EngineFast && e != router.EngineStandard {
		all = append(all, fmt.Sprintf("router: engine %q: must be %s or %s", e, router.EngineFast, router.EngineStandard))
	}
	if r.AccessSample < 0 || r.AccessSample > 1 {
		all = append(all, fmt.Sprintf("router: access_log_sample %g: must be above 0 and at most 1", r.AccessSample))
	}
	if r.MaxHeader < 0 || r.MaxHeader > 0 && r.MaxHeader < 1024 {
		all = append(all, fmt.Sprintf("router: max_header %d: must be at least 1024 bytes", r.MaxHeader))
	}
	if r.MaxBody < 0 {
		all = append(all, fmt.Sprintf("router: max_body %d: must be a number of bytes; 0 is no bound", r.MaxBody))
	}
	return all
}
