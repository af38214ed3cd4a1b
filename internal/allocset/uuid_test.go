// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocset

import (
	"bytes"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// Every digit of a UUID has its place in the packed form, and no other text is packed.
func TestPackID(t *testing.T) {
	const id = "01234567-89ab-cdef-fedc-ba9876543210"
	packed := PackID(id)
	want := []byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10}
	if !bytes.Equal(packed, want) {
		t.Fatalf("PackID(%s) = %x, want %x", id, packed, want)
	}
	if got := UnpackID(packed); got != id {
		t.Errorf("UnpackID(%x) = %s, want %s", packed, got, id)
	}
	for i := range id {
		for _, c := range []string{"g", "A", "-", "/", ":", "`", "\x00", "\xff"} {
			other := id[:i] + c + id[i+1:]
			if other == id {
				continue
			}
			if got := UnpackID(PackID(other)); got != other {
				t.Errorf("UnpackID(PackID(%q)) = %q: a text that is no UUID must stay as it is", other, got)
			}
		}
	}
	for _, other := range []string{"", "job", id[:35], id + "0", strings.ToUpper(id)} {
		if got := UnpackID(PackID(other)); got != other {
			t.Errorf("UnpackID(PackID(%q)) = %q: a text that is no UUID must stay as it is", other, got)
		}
	}
}

// The encoder writes a name as the instance's index exactly if decoding returns the same name.
func TestNamesSurviveEncoding(t *testing.T) {
	for _, name := range []string{
		"web.api[0]", "web.api[7]", "web.api[1234567]", "web.api[00]", "web.api[+1]", "web.api[-1]", "web.api[]", "web.api[0]]",
		"web.api", "web.apis[0]", "webapi[0]", "web.[0]", "other.api[0]", "[0]", "", "web.api[0", "web.api[99999999999999999999]",
	} {
		a := &api.Allocation{ID: "01234567-89ab-cdef-fedc-ba9876543210", JobID: "web", Group: "api", Name: name}
		decoded, err := Decode(Encode([]*api.Allocation{a}))
		if err != nil || len(decoded) != 1 {
			t.Errorf("%q: decoded %d allocations, error %v", name, len(decoded), err)
		} else if decoded[0].Name != name {
			t.Errorf("the name %q is %q after encoding and decoding", name, decoded[0].Name)
		}
	}
}

// The allocations of a set share memory, and none overwrites another, even if the set is
// larger than expected.
func TestAllocationsOfASetAreSeparate(t *testing.T) {
	e := NewEncoder(1)
	ids := []string{"01234567-89ab-cdef-fedc-ba9876543210", "short", "fedcba98-7654-3210-0123-456789abcdef"}
	for _, id := range ids {
		e.Add(&api.Allocation{ID: id, Name: id})
	}
	first := e.Set().Allocations[0].Id
	_ = append(first, "overwritten by an append"...)
	decoded, err := Decode(e.Set())
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range decoded {
		if a.ID != ids[i] || a.Name != ids[i] {
			t.Errorf("allocation %d is %s (%s) after decoding, want %s", i, a.ID, a.Name, ids[i])
		}
	}
}
