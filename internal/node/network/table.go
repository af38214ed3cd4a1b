// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"net/netip"
	"sync"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"
)

// A table is the node's rules in the kernel: one table for packets, and one for the frames of the
// bridge. Both have the bridge's name.
type table struct {
	node            string
	bridge          string
	c               *nftables.Conn
	packets, frames *nftables.Table
	sets            map[string]*nftables.Set
}

// openTable prepares the tables of the calling thread's namespace, or of that at the descriptor ns.
func openTable(node, bridge string, ns int) (*table, error) {
	options := []nftables.ConnOption{nftables.AsLasting()}
	if ns >= 0 {
		options = append(options, nftables.WithNetNSFd(ns))
	}
	c, err := nftables.New(options...)
	if err != nil {
		return nil, explain("open nf_tables", err)
	}
	t := &table{
		node: node, bridge: bridge, c: c, sets: map[string]*nftables.Set{},
		packets: &nftables.Table{Name: bridge, Family: nftables.TableFamilyINet}, frames: &nftables.Table{Name: bridge, Family: nftables.TableFamilyBridge},
	}
	for _, f := range families {
		for name, k := range kinds(f) {
			s := &nftables.Set{Table: t.packets, Name: name + f, KeyType: concatenation(k.key), IsMap: k.value != nil, Concatenation: len(k.key) > 1}
			if name == setSources {
				s.Table = t.frames
			}
			if s.IsMap {
				s.DataType = concatenation(k.value)
			}
			t.sets[s.Name] = s
		}
	}
	return t, nil
}

func concatenation(types []nftables.SetDatatype) nftables.SetDatatype {
	if len(types) == 1 {
		return types[0]
	}
	return nftables.MustConcatSetType(types...)
}

// replace replaces all rules and entries in one transaction.
func (t *table) replace(gateways []netip.Prefix, elements []element) error {
	for _, table := range []*nftables.Table{t.packets, t.frames} {
		t.c.AddTable(table) // so that it exists and can be deleted
		t.c.DelTable(table)
		t.c.AddTable(table)
	}
	if err := t.addSets(); err != nil {
		return err
	}
	for _, c := range chains(t.node, t.bridge, func(name string) *nftables.Set { return t.sets[name] }) {
		c.chain.Table = t.packets
		if c.bridge {
			c.chain.Table = t.frames
		}
		t.c.AddChain(&c.chain)
		for _, r := range c.rules {
			t.c.AddRule(&nftables.Rule{Table: c.chain.Table, Chain: &c.chain, Exprs: r})
		}
	}
	if err := t.put(append(gatewayElements(gateways), elements...), t.c.SetAddElements); err != nil {
		return err
	}
	return explain("set the rules of bridge "+t.bridge, t.c.Flush())
}

// numbering guards the variable of package nftables that numbers sets.
var numbering sync.Mutex

// addSets adds the sets to the transaction.
func (t *table) addSets() error {
	numbering.Lock()
	defer numbering.Unlock()
	for _, f := range families {
		for name := range kinds(f) {
			s := t.sets[name+f]
			s.ID = 0
			if err := t.c.AddSet(s, nil); err != nil {
				return explain("describe the set "+s.Name, err)
			}
		}
	}
	return nil
}

// isWhole reports whether the rules are in the kernel, as far as their number tells.
func (t *table) isWhole() bool {
	for _, c := range chains(t.node, t.bridge, func(name string) *nftables.Set { return t.sets[name] }) {
		c.chain.Table = t.packets
		if c.bridge {
			c.chain.Table = t.frames
		}
		rules, err := t.c.GetRules(c.chain.Table, &c.chain)
		if err != nil || len(rules) != len(c.rules) {
			return false
		}
	}
	return true
}

// put adds messages for elements with the verb, which adds or deletes them.
func (t *table) put(elements []element, verb func(*nftables.Set, []nftables.SetElement) error) error {
	bySet := map[string][]nftables.SetElement{}
	for _, e := range elements {
		x := nftables.SetElement{Key: []byte(e.key)}
		if e.value != "" {
			x.Val = []byte(e.value)
		}
		bySet[e.set] = append(bySet[e.set], x)
	}
	for name, list := range bySet {
		if err := verb(t.sets[name], list); err != nil {
			return explain("change the set "+name, err)
		}
	}
	return nil
}

// add adds entries in one transaction.
func (t *table) add(elements []element) error {
	if len(elements) == 0 {
		return nil
	}
	if err := t.put(elements, t.c.SetAddElements); err != nil {
		return err
	}
	return explain("add the allocation to the rules", t.c.Flush())
}

// remove removes entries, as far as they exist.
func (t *table) remove(elements []element) error {
	if len(elements) == 0 {
		return nil
	}
	if err := t.put(elements, t.c.SetDeleteElements); err != nil {
		return err
	}
	err := t.c.Flush()
	if err == nil || !errors.Is(err, unix.ENOENT) {
		return explain("remove the allocation from the rules", err)
	}
	present, err := t.list()
	if err != nil {
		return nil // the table does not exist
	}
	var rest []element
	for _, e := range elements {
		if v, ok := present[element{set: e.set, key: e.key}]; ok && v == e.value {
			rest = append(rest, e)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	if err := t.put(rest, t.c.SetDeleteElements); err != nil {
		return err
	}
	return explain("remove the allocation from the rules", t.c.Flush())
}

// list returns the values of all entries, by set and key.
func (t *table) list() (map[element]string, error) {
	all := map[element]string{}
	for name, s := range t.sets {
		list, err := t.c.GetSetElements(s)
		if err != nil {
			return nil, explain("list the rules of bridge "+t.bridge, err)
		}
		for _, e := range list {
			all[element{set: name, key: string(e.Key)}] = string(e.Val)
		}
	}
	return all, nil
}

func (t *table) close() { t.c.CloseLasting() }
