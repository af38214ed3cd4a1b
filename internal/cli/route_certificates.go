// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"strings"
	"time"

	"github.com/reeve-run/reeve/internal/cli/term"
)

func routeCertificatesCommand(*cli) *command {
	return &command{
		use:   "certificates",
		short: "List the certificates of the agent's router",
		long: `List the certificates that the router of the answering agent has for HTTPS, with
their names and expiry. "Problem" says why the newest content of a file or
variable is not in use, or that the certificate is about to expire.`,
		format: true,
		run: func(r *call) error {
			s, err := r.cl.Status().Router(r.ctx)
			if err != nil {
				return err
			}
			return r.show(s.Certificates, func(p *term.Page) {
				switch {
				case s.HTTPS == "":
					p.Line("The router does not serve HTTPS: start the agent with -router-https.")
					return
				case len(s.Certificates) == 0:
					p.Line("The router has no certificates: add blocks certificate to its configuration.")
					return
				}
				var rows [][]string
				for _, c := range s.Certificates {
					expires := "-"
					if c.Expires != 0 {
						expires = time.Unix(0, c.Expires).UTC().Format(time.RFC3339)
					}
					problem := "-"
					switch {
					case c.Problem != "":
						problem = p.Style.Red(c.Problem)
					case c.Warning != "":
						problem = p.Style.Yellow(c.Warning)
					}
					rows = append(rows, []string{cmp.Or(strings.Join(c.Names, ", "), "-"), c.Source, expires, problem})
				}
				p.Table([]string{"Names", "Source", "Expires", "Problem"}, rows)
			})
		},
	}
}
