// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/certs"
)

// fileCertificate is a certificate block of the router block.
type fileCertificate struct {
	Cert      string `hcl:"cert_file,optional"`
	Key       string `hcl:"key_file,optional"`
	Variable  string `hcl:"variable,optional"`
	Namespace string `hcl:"namespace,optional"`
}

// source returns the place that the block names.
func (c *fileCertificate) source() (certs.Source, error) {
	switch files := c.Cert != "" || c.Key != ""; {
	case c.Variable != "" && files:
		return certs.Source{}, errors.New("set either variable, or cert_file and key_file")
	case c.Variable != "" && !api.IsVariablePath(c.Variable):
		return certs.Source{}, fmt.Errorf("variable = %.140q: must be the path of a variable: 1 to 128 letters, digits, \"-\", \"_\", \"~\" and \"/\", without \"/\" at its ends", c.Variable)
	case c.Variable != "":
		return certs.Source{Variable: c.Variable, Namespace: cmp.Or(c.Namespace, api.DefaultNamespace)}, nil
	case c.Namespace != "":
		return certs.Source{}, errors.New("namespace belongs to variable: add variable, or remove namespace")
	case c.Cert == "" || c.Key == "":
		return certs.Source{}, errors.New("cert_file and key_file are needed, or variable")
	}
	return certs.Source{Cert: c.Cert, Key: c.Key}, nil
}

// tokenProblems returns errors about the token with which the router reads variables.
func (r *Router) tokenProblems() []string {
	if r.TokenFile == "" && slices.ContainsFunc(r.Certificates, func(s certs.Source) bool { return s.Variable != "" }) {
		return []string{"router: certificate: variable: a variable is read with an access token: set token_file to a file with one"}
	}
	return nil
}
