// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ParseExternalRoots returns the authorities of a PEM text, which sign certificates outside of
// the cluster. Text around the certificates is ignored. The authorities may be intermediate
// ones, and may have any kind of key.
//
// The name ROLE.REGION.reeve among a certificate's DNS names gives its owner's role. Nomad's
// names server.REGION.nomad and client.REGION.nomad do the same. An empty region accepts every
// region, which only clients should.
func ParseExternalRoots(rootsPEM []byte, region string) (*Roots, error) {
	certs, err := ParseChain(dropText(rootsPEM))
	if err != nil {
		return nil, fmt.Errorf("read authorities: %w", err)
	}
	for i, c := range certs {
		if !c.IsCA || !c.BasicConstraintsValid {
			return nil, fmt.Errorf("read authorities: certificate %d, of %s, is not the certificate of an authority", i+1, show(c.Subject.CommonName))
		}
	}
	r := newRoots(certs)
	r.external, r.region = true, region
	return r, nil
}

// dropText returns PEM blocks without the text around them. A block that does not end keeps
// its text, so that it is noticed.
func dropText(text []byte) []byte {
	var blocks []byte
	for {
		begin := bytes.Index(text, []byte("-----BEGIN "))
		if begin < 0 {
			return blocks
		}
		text = text[begin:]
		end := bytes.Index(text, []byte("-----END "))
		if end < 0 {
			return append(blocks, text...)
		}
		line := bytes.IndexByte(text[end:], '\n')
		if line < 0 {
			return append(blocks, text...)
		}
		blocks, text = append(blocks, text[:end+line+1]...), text[end+line+1:]
	}
}

// externalSubject returns what a certificate of an external authority says about its owner.
// The role is a DNS name. The id is the name of the machine, so that the member keeps its id
// when its certificate is replaced.
func (r *Roots) externalSubject(leaf *x509.Certificate) (Identity, error) {
	who := show(leaf.Subject.CommonName)
	var roles []Role
	for _, name := range leaf.DNSNames {
		if role, ok := r.roleOf(name); ok && !slices.Contains(roles, role) {
			roles = append(roles, role)
		}
	}
	switch {
	case len(roles) == 0:
		region := r.region
		if region == "" {
			region = "REGION"
		}
		return Identity{}, refuse(ReasonRole, "the certificate of %s gives its owner no role: add the DNS name server.%s.reeve or node.%s.reeve to it", who, region, region)
	case len(roles) > 1:
		return Identity{}, refuse(ReasonRole, "the certificate of %s gives its owner the roles of a server and of a node: issue one certificate for each", who)
	}
	id, err := machineOf(leaf)
	if err != nil {
		return Identity{}, refuse(ReasonMalformed, "the certificate of %s %v", who, err)
	}
	return Identity{ID: id, Role: roles[0]}, nil
}

// roleOf returns the role that a DNS name gives.
func (r *Roots) roleOf(name string) (Role, bool) {
	region, role, ok := cutRole(name)
	if !ok || r.region != "" && !strings.EqualFold(region, r.region) {
		return "", false
	}
	return role, true
}

// cutRole splits a name such as server.global.reeve.
func cutRole(name string) (region string, role Role, ok bool) {
	name = strings.ToLower(name)
	for _, form := range []struct {
		prefix, suffix string
		role           Role
	}{
		{"server.", ".reeve", RoleServer}, {"node.", ".reeve", RoleNode},
		{"server.", ".nomad", RoleServer}, {"client.", ".nomad", RoleNode},
	} {
		rest, ok1 := strings.CutPrefix(name, form.prefix)
		region, ok2 := strings.CutSuffix(rest, form.suffix)
		if ok1 && ok2 && isHost(region) {
			return region, form.role, true
		}
	}
	return "", "", false
}

// machineOf returns the name of the only machine that a certificate belongs to: its common
// name, or else its first DNS name or IP address that other machines cannot have.
func machineOf(leaf *x509.Certificate) (string, error) {
	names := append([]string{leaf.Subject.CommonName}, leaf.DNSNames...)
	for _, ip := range leaf.IPAddresses {
		if !ip.IsLoopback() && !ip.IsUnspecified() {
			names = append(names, ip.String())
		}
	}
	for _, name := range names {
		_, _, isRole := cutRole(name)
		if id := strings.ReplaceAll(name, ":", "-"); !isRole && name != "localhost" && isID(id) {
			return id, nil
		}
	}
	return "", errors.New("names no machine: members of a cluster need different certificates; issue one per machine, with its host name as the common name")
}
