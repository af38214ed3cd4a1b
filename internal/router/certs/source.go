// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
)

// A Source names the place of one certificate: two files, or a variable.
type Source struct {
	Cert string // file of the certificate, then its intermediate authorities
	Key  string // file of its private key

	Variable  string // path of a variable with the items ItemCertificate and ItemKey
	Namespace string // of the variable

	Renewal string // instruction that replaces the certificate; "": the one for files or variables
}

// Items of a variable with a certificate, both in PEM.
const (
	ItemCertificate = "certificate" // the certificate, then its intermediate authorities
	ItemKey         = "key"         // its private key
)

func (s Source) isVariable() bool { return s.Variable != "" }

// String returns the source for users.
func (s Source) String() string {
	switch {
	case !s.isVariable():
		return s.Cert
	case s.Namespace == api.DefaultNamespace:
		return "variable " + s.Variable
	}
	return fmt.Sprintf("variable %s in namespace %s", s.Variable, s.Namespace)
}

// renewal returns the instruction that replaces the certificate.
func (s Source) renewal() string {
	switch {
	case s.Renewal != "":
		return s.Renewal
	case !s.isVariable():
		return "replace the files"
	}
	return "store a new one with: reeve var put -namespace " + s.Namespace + " " + s.Variable + " certificate=@FILE.pem key=@FILE.key"
}
