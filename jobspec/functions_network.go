// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func networkFunctions() map[string]function.Function {
	number := func(name string) function.Parameter { return function.Parameter{Name: name, Type: cty.Number} }
	return map[string]function.Function{
		"cidrhost": function.New(&function.Spec{
			Params: []function.Parameter{text("prefix"), number("host")},
			Type:   function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				return networkText(cidrHost(args[0].AsString(), args[1].AsBigFloat()))
			},
		}),
		"cidrnetmask": textFunc(func(a []string) (string, error) { return cidrNetmask(a[0]) }, "prefix"),
		"cidrsubnet": function.New(&function.Spec{
			Params: []function.Parameter{text("prefix"), number("bits"), number("network")},
			Type:   function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				return networkText(cidrSubnet(args[0].AsString(), args[1].AsBigFloat(), args[2].AsBigFloat()))
			},
		}),
		"cidrsubnets": function.New(&function.Spec{
			Params:   []function.Parameter{text("prefix")},
			VarParam: &function.Parameter{Name: "bits", Type: cty.Number},
			Type:     function.StaticReturnType(cty.List(cty.String)),
			Impl:     cidrSubnets,
		}),
	}
}

func networkText(s string, err error) (cty.Value, error) {
	if err != nil {
		return cty.NilVal, err
	}
	return cty.StringVal(s), nil
}

func parsePrefix(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return p, fmt.Errorf("%q is not a network such as 10.0.0.0/8", shorten(s))
	}
	return p.Masked(), nil
}

// wholeNumber converts a number argument, which must be an integer in range.
func wholeNumber(f *big.Float) (*big.Int, error) {
	if !f.IsInt() || f.MantExp(nil) > 129 {
		return nil, errors.New("takes whole numbers of at most 128 bits")
	}
	i, _ := f.Int(nil)
	return i, nil
}

// cidrHost returns the n-th address of a network; negative n counts from its end.
func cidrHost(prefix string, host *big.Float) (string, error) {
	p, err := parsePrefix(prefix)
	if err != nil {
		return "", err
	}
	n, err := wholeNumber(host)
	if err != nil {
		return "", err
	}
	size := new(big.Int).Lsh(big.NewInt(1), uint(p.Addr().BitLen()-p.Bits()))
	if n.Sign() < 0 {
		n.Add(n, size)
	}
	if n.Sign() < 0 || n.Cmp(size) >= 0 {
		return "", fmt.Errorf("%s has only %s addresses", p, size)
	}
	return offset(p.Addr(), n).String(), nil
}

// offset adds n to an address.
func offset(a netip.Addr, n *big.Int) netip.Addr {
	sum := new(big.Int).Add(new(big.Int).SetBytes(a.AsSlice()), n)
	out := make([]byte, a.BitLen()/8)
	sum.FillBytes(out)
	b, _ := netip.AddrFromSlice(out)
	return b
}

func cidrNetmask(prefix string) (string, error) {
	p, err := parsePrefix(prefix)
	if err != nil {
		return "", err
	}
	if !p.Addr().Is4() {
		return "", errors.New("only IPv4 networks have a netmask")
	}
	mask := ^uint32(0)
	if p.Bits() == 0 {
		mask = 0
	} else {
		mask <<= 32 - p.Bits()
	}
	return netip.AddrFrom4([4]byte{byte(mask >> 24), byte(mask >> 16), byte(mask >> 8), byte(mask)}).String(), nil
}

// cidrSubnet returns the n-th network inside prefix whose length is greater by bits.
func cidrSubnet(prefix string, bits, network *big.Float) (string, error) {
	p, err := parsePrefix(prefix)
	if err != nil {
		return "", err
	}
	longer, err := wholeNumber(bits)
	if err != nil {
		return "", err
	}
	n, err := wholeNumber(network)
	if err != nil {
		return "", err
	}
	width := p.Addr().BitLen()
	if longer.Sign() < 0 || !longer.IsInt64() || longer.Int64() > int64(width-p.Bits()) {
		return "", fmt.Errorf("%s cannot be made %s bits longer", p, longer)
	}
	length := p.Bits() + int(longer.Int64())
	if n.Sign() < 0 || n.BitLen() > int(longer.Int64()) {
		return "", fmt.Errorf("there is no network %s in %s with %s more bits", n, p, longer)
	}
	return netip.PrefixFrom(offset(p.Addr(), n.Lsh(n, uint(width-length))), length).String(), nil
}

// cidrSubnets places networks of the given lengths one after the other.
func cidrSubnets(args []cty.Value, _ cty.Type) (cty.Value, error) {
	p, err := parsePrefix(args[0].AsString())
	if err != nil {
		return cty.NilVal, err
	}
	width := p.Addr().BitLen()
	next := new(big.Int)
	var out []cty.Value
	for _, a := range args[1:] {
		longer, err := wholeNumber(a.AsBigFloat())
		if err != nil {
			return cty.NilVal, err
		}
		if longer.Sign() < 0 || !longer.IsInt64() || longer.Int64() > int64(width-p.Bits()) {
			return cty.NilVal, fmt.Errorf("%s cannot be made %s bits longer", p, longer)
		}
		length := p.Bits() + int(longer.Int64())
		size := new(big.Int).Lsh(big.NewInt(1), uint(width-length))
		// Networks start at a multiple of their size.
		if over := new(big.Int).Mod(next, size); over.Sign() != 0 {
			next.Add(next, size).Sub(next, over)
		}
		end := new(big.Int).Add(next, size)
		if end.BitLen() > width-p.Bits()+1 || end.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(width-p.Bits()))) > 0 {
			return cty.NilVal, fmt.Errorf("the networks do not all fit in %s", p)
		}
		out = append(out, cty.StringVal(netip.PrefixFrom(offset(p.Addr(), next), length).String()))
		next = end
	}
	if len(out) == 0 {
		return cty.ListValEmpty(cty.String), nil
	}
	return cty.ListVal(out), nil
}
