// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/uiproxy"
)

// A uiOpening is a web UI for which a code was made.
type uiOpening struct {
	Address   string    // of the page, with a code that works once
	ExpiresAt time.Time // of the code
	Proxy     bool      // reports whether this command serves the address
}

// uiFlags are the values of the flags of "reeve ui".
type uiFlags struct {
	noOpen bool
	port   int
	proxy  bool
}

const uiExitCodes = `0  a browser has the page, or the address was printed; Ctrl-C ended the proxy
1  the cluster gave no code, the object does not exist, no browser came for the
   page within a minute, or the proxy could not start; stderr has the reason`

func uiCommand(c *cli) *command {
	var set uiFlags
	return &command{
		use:   "ui [PAGE [OBJECT]]",
		short: "Open the web UI in the browser, logged in",
		long: `Open the web UI of the current cluster in the browser. The browser gets a code
that works once, within a minute, and becomes a session with the rights of your
token: it ends after 8 hours without use, and after 24 hours.

PAGE is the name of a page, such as jobs or topology. "job NAME", "node ID" and
"alloc ID" open the page of an object.

Browsers do not know a cluster's own authority. For such a cluster, the command
is also a proxy on this machine, which verifies the servers, until Ctrl-C. It
gives no rights: the browser needs its session there, too. Without a browser, as
on a server, the command prints the address. To open it on another machine,
forward the port: ssh -L 4700:127.0.0.1:4700 SERVER reeve ui -port 4700`,
		example: `reeve ui
reeve ui job web
reeve ui alloc 3f2a
reeve ui topology -no-open
BROWSER=firefox reeve ui`,
		exitCodes: uiExitCodes,
		format:    true,
		ownArgs:   true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&set.noOpen, "no-open", false, "print the address; open no browser. -json and -t open none either")
			f.IntVar(&set.port, "port", 0, "serve the proxy on `PORT` of this machine (default: a free one)")
			f.BoolVar(&set.proxy, "proxy", false, "be a proxy, also if the browser needs none; -proxy=false: be none, because the browser knows the cluster's authority")
		},
		check: func(r *call) error {
			if set.port < 0 || set.port > 65535 {
				return usagef("-port %d: must be from 1 to 65535", set.port)
			}
			if !r.flags.Changed("proxy") {
				set.proxy = set.port != 0
			} else if !set.proxy && set.port != 0 {
				return usagef("-port is the port of the proxy, which -proxy=false excludes")
			}
			return nil
		},
		run: func(r *call) error {
			page, err := r.uiPage()
			if err != nil {
				return err
			}
			if !r.flags.Changed("proxy") {
				set.proxy = set.proxy || c.needsProxy(r.cl)
			} else if !set.proxy && c.isSocket() {
				return usagef("-proxy=false: browsers cannot connect to %s", c.address())
			}
			return r.openUI(page, set)
		},
	}
}

// openUI makes a code, and opens a page with it.
func (r *call) openUI(page string, set uiFlags) error {
	served, err := r.cl.UI().IsServed(r.ctx)
	if err != nil {
		return err
	}
	if !served {
		return api.Errorf(api.CodeNotFound, "the agent at %s does not serve the web UI: ui { enabled = false } is in its configuration, or it has an earlier version", r.cl.Address())
	}
	config := uiproxy.Config{Port: set.port}
	if set.proxy {
		config.Target, config.Transport = r.cl.Base(), r.cl.Transport()
	}
	p, err := uiproxy.Listen(config)
	if err != nil {
		return err
	}
	defer p.Close()
	code, err := r.cl.UI().Code(r.ctx)
	if err != nil {
		return err
	}
	root := r.cl.Address()
	if set.proxy {
		root = p.Address()
	}
	o := &uiOpening{Address: root + page + "#code=" + url.QueryEscape(code.Code), ExpiresAt: code.ExpiresAt, Proxy: set.proxy}
	command := r.browser()
	if !r.format.forPeople() || set.noOpen || command == nil {
		if err := r.printUI(o, set.noOpen); err != nil || !set.proxy {
			return err
		}
		return unlessEnded(r.ctx, p.Serve(r.ctx))
	}
	return r.browse(p, o, root+page, command)
}

// printUI prints the address of a page for a browser that the user opens.
func (r *call) printUI(o *uiOpening, asked bool) error {
	if !r.format.forPeople() {
		return r.show(o, func(*term.Page) {})
	}
	fmt.Fprintln(r.Stdout, o.Address)
	if !asked {
		fmt.Fprintln(r.Stderr, "This machine shows no browser: open the address on one that reaches it.")
	}
	fmt.Fprintf(r.Stderr, "The address works once, until %s.\n", o.ExpiresAt.Local().Format(time.TimeOnly))
	r.sayProxy(o)
	return nil
}

// sayProxy says how long the proxy serves.
func (r *call) sayProxy(o *uiOpening) {
	if o.Proxy {
		fmt.Fprintln(r.Stderr, "This command serves the web UI to browsers of your user on this machine. Press Ctrl-C to end.")
	}
}

// errOpened ends the server that only sends a browser to the page.
var errOpened = errors.New("the browser has the page")

// browse opens a browser, and serves the proxy until Ctrl-C. Without a proxy, it returns when the browser
// has come.
func (r *call) browse(p *uiproxy.Proxy, o *uiOpening, shown string, command []string) error {
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	start, opened := p.Start(o.Address)
	failed := runBrowser(ctx, append(command, start))
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx) }()
	late := time.NewTimer(time.Until(o.ExpiresAt))
	defer late.Stop()
	for {
		select {
		case <-opened:
			opened = nil
			late.Stop()
			fmt.Fprintf(r.Stderr, "Opened %s in the browser. \"reeve ui -no-open\" prints an address for another one.\n", shown)
			r.sayProxy(o)
			if !o.Proxy {
				cancel(errOpened)
			}
		case err := <-failed:
			failed = nil
			if err != nil && opened != nil {
				cancel(api.Errorf(api.CodeUnavailable, "open the browser with %s: %v; name another program in BROWSER, or use -no-open", command[0], err))
			}
		case <-late.C:
			cancel(api.Errorf(api.CodeUnavailable, "%s did not open the page within %s: name another program in BROWSER, or use -no-open", command[0], api.UICodeTTL))
		case err := <-served:
			var reason *api.Error
			if cause := context.Cause(ctx); errors.As(cause, &reason) {
				return reason
			}
			return err
		}
	}
}

// needsProxy reports whether a browser could not reach the agent, or would not trust it.
func (c *cli) needsProxy(cl *client.Client) bool {
	own := c.used != nil || c.Getenv("REEVE_CACERT") != "" || c.Getenv("NOMAD_CACERT") != ""
	return c.isSocket() || own && cl.Base().Scheme == "https"
}
