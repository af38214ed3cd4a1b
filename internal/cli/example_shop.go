// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/internal/demo"
)

// exampleShopCommand declares the services of "reeve demo".
func exampleShopCommand(c *cli) *command {
	var listen string
	return &command{
		use:   "example-shop SERVICE",
		short: "A service of a shop, used by \"reeve demo\"",
		long: `Serve HTTP as a service of the demo's shop: web, catalog, inventory, cart,
checkout, payments, ledger, mail or newsletter. A service calls others at
the addresses in its environment, such as CART_URL, and logs one line per
request. Requests carry an id through all services. ERRORS is the percentage
of requests that fail, LATENCY the time that a request takes, and VERSION is
part of each response.`,
		hidden: true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&listen, "listen", "", "listen on `HOST:PORT` instead of the allocation's port")
		},
		offline: true,
		run: func(r *call) error {
			handler, err := demo.Shop(r.args[0], c.Getenv, c.Stdout, c.Now)
			if err != nil {
				return err
			}
			return c.serveExample(r.ctx, listen, handler)
		},
	}
}
