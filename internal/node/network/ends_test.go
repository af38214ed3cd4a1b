// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import "testing"

// remove removes a network, and fails if something of it remains when the removal returns.
func (m *machine) remove(f *Fabric, alloc string) {
	m.t.Helper()
	if err := f.Release(alloc)(); err != nil {
		m.t.Fatal(err)
	}
	if rest := m.remains(f); len(rest) > 0 {
		m.t.Fatalf("when the removal returns, these remain: %q", rest)
	}
}

func TestNothingOfALinkIsLeftWhenItsRemovalReturns(t *testing.T) {
	m := newMachine(t)
	f := m.fabric()
	for range 20 { // the same names and addresses again
		if _, _, err := f.Up(t.Context(), request(1, 20001)); err != nil {
			t.Fatal(err)
		}
		m.remove(f, allocID(1))
	}
	f.w.ends.late.Wait()
	if f.w.ends.stop != nil || len(f.w.ends.waits) > 0 {
		t.Errorf("nobody waits for the end of a link, and the listener goes on: %v", f.w.ends.waits)
	}
}

// When too many links change, the kernel drops what it tells, and the subscription ends.
func TestALinkIsRemovedWithoutWordOfTheKernel(t *testing.T) {
	m := newMachine(t)
	f := m.fabric()
	e := &f.w.ends
	var never <-chan struct{}
	if err := f.w.inHost(func() error { never = e.wait(1 << 20); return nil }); err != nil || never == nil {
		t.Fatal("no subscription", err)
	}
	e.end(e.stop)
	e.late.Wait()
	select {
	case <-never:
		t.Error("the end of the subscription counts as the end of a link")
	default:
	}
	for range 3 { // listens again
		if _, _, err := f.Up(t.Context(), request(1, 20001)); err != nil {
			t.Fatal(err)
		}
		m.remove(f, allocID(1))
	}
	e.forget(1 << 20)
}
