// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"slices"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// pinTester has a job whose allocations a1 and a2 are on the nodes n1 and n2.
type pinTester struct{ *tester }

func newPinTester(t *testing.T, image string) *pinTester {
	p := &pinTester{newTester(t)}
	p.do(&RegisterJob{Job: containerJob(image, 50)})
	p.place(pinnedAllocation("a1", "n1", nil), pinnedAllocation("a2", "n2", nil))
	return p
}

// place places allocations of the current version.
func (p *pinTester) place(list ...*api.Allocation) {
	p.t.Helper()
	p.do(&CommitPlacement{Placement: &Placement{Job: p.job("web"), Place: list}})
}

func pin(node, alloc, image, digest string) *PinImage {
	return &PinImage{NodeID: node, AllocID: alloc, Task: "main", Image: image, Digest: digestOf(digest), Time: 1}
}

// digest returns the first digit of the pin of an allocation; "" if it has none.
func (p *pinTester) digest(alloc string) string {
	v := p.Snapshot()
	found := v.ImagePin(v.Allocation(alloc), "main", pinnedImage)
	if found == nil {
		return ""
	}
	return found.Digest[len("sha256:"):][:1]
}

func (p *pinTester) want(what, alloc, digest string) {
	p.t.Helper()
	if got := p.digest(alloc); got != digest {
		p.t.Errorf("%s: %s is pinned to %q, not %q", what, alloc, got, digest)
	}
}

func (p *pinTester) wantPins(what string, want int) {
	p.t.Helper()
	if got := slices.Collect(p.Snapshot().ImagePins()); len(got) != want {
		p.t.Errorf("%s: %d pins, not %d: %+v", what, len(got), want, got)
	}
}

func TestTheFirstPinOfAVersionStays(t *testing.T) {
	p := newPinTester(t, pinnedImage)
	p.do(pin("n1", "a1", pinnedImage, "a"), pin("n2", "a2", pinnedImage, "b")) // two nodes at once: one entry
	p.do(pin("n2", "a2", pinnedImage, "c"))
	p.want("the node that was first", "a1", "a")
	p.want("the other node", "a2", "a")
	p.wantPins("one version", 1)

	p.do(&RegisterJob{Job: func() *api.Job { j := containerJob(pinnedImage, 50); j.Meta = map[string]string{"a": "b"}; return j }()})
	p.place(pinnedAllocation("b1", "n1", nil))
	p.want("a new version", "b1", "")
	p.want("the old version", "a1", "a")
	p.do(pin("n1", "b1", pinnedImage, "b"))
	p.want("a new version", "b1", "b")
	p.want("the old version", "a2", "a")
}

func TestAnInstanceThatIsUpdatedInPlaceKeepsItsImage(t *testing.T) {
	p := newPinTester(t, pinnedImage)
	p.do(pin("n1", "a1", pinnedImage, "a"))
	p.do(&RegisterJob{Job: containerJob(pinnedImage, 60)})
	p.place(pinnedAllocation("a1", "n1", nil), pinnedAllocation("a2", "n2", nil), pinnedAllocation("a3", "n3", nil))
	if v := p.Snapshot().Allocation("a1").JobVersion(); v != 1 {
		t.Fatalf("the instance has version %d", v)
	}
	p.want("updated in place", "a1", "a")
	p.do(pin("n3", "a3", pinnedImage, "b"))
	p.want("a new instance of the version", "a3", "a")

	// A pin that the new version has already stays.
	p.do(&RegisterJob{Job: containerJob(pinnedImage, 70)})
	p.place(pinnedAllocation("c1", "n1", nil))
	p.do(pin("n1", "c1", pinnedImage, "c"))
	p.place(pinnedAllocation("a1", "n1", nil))
	p.want("pinned before the update", "a1", "c")
}

func TestARollbackRunsTheImagesOfItsVersion(t *testing.T) {
	p := newPinTester(t, pinnedImage)
	p.do(pin("n1", "a1", pinnedImage, "a"))
	changed := containerJob(pinnedImage, 50)
	changed.Meta = map[string]string{"a": "b"}
	p.do(&RegisterJob{Job: changed})
	p.place(pinnedAllocation("b1", "n1", nil))
	p.do(pin("n1", "b1", pinnedImage, "b"))

	p.do(&RegisterJob{Job: containerJob(pinnedImage, 50)}) // as a revert does
	p.place(pinnedAllocation("c1", "n1", nil))
	if v := p.Snapshot().Allocation("c1").JobVersion(); v != 2 {
		t.Fatalf("the instance has version %d", v)
	}
	p.want("after the rollback", "c1", "a")

	// A stopped job resolves again when it is run again.
	p.do(&DeregisterJob{Namespace: "default", ID: "web", Time: 1})
	p.do(&RegisterJob{Job: containerJob(pinnedImage, 50)})
	p.place(pinnedAllocation("d1", "n1", nil))
	p.want("run again after a stop", "d1", "")
}

func TestPinsEndWithTheirVersions(t *testing.T) {
	p := newPinTester(t, pinnedImage)
	p.do(pin("n1", "a1", pinnedImage, "a"))
	for i := range 12 {
		p.do(&RegisterJob{Job: containerJob(pinnedImage, 51+i)})
	}
	p.wantPins("the version is not kept, but instances of it run", 1)
	for id, node := range map[string]string{"a1": "n1", "a2": "n2"} {
		p.do(&UpdateAllocations{NodeID: node, Allocations: []*api.Allocation{{ID: id, ClientStatus: api.AllocClientComplete}}, Time: 2})
		p.do(&Collect{Allocations: []string{id}})
	}
	p.do(&RegisterJob{Job: containerJob(pinnedImage, 90)})
	if p.Snapshot().Allocation("a1") == nil {
		p.wantPins("neither the version nor an instance exists", 0)
	} else {
		t.Fatal("the allocations were not collected")
	}

	p.place(pinnedAllocation("b1", "n1", nil))
	p.do(pin("n1", "b1", pinnedImage, "b"))
	p.wantPins("a new pin", 1)
	p.do(&UpdateAllocations{NodeID: "n1", Allocations: []*api.Allocation{{ID: "b1", ClientStatus: api.AllocClientComplete}}, Time: 2})
	p.do(&DeregisterJob{Namespace: "default", ID: "web", Purge: true, Time: 3})
	p.wantPins("the job was purged", 0)
}

func TestANodePinsOnlyForItsOwnTasks(t *testing.T) {
	p := newPinTester(t, pinnedImage)
	p.refuse(api.CodeNotFound, `"a2" not found on node n1`, pin("n1", "a2", pinnedImage, "a"))
	p.refuse(api.CodeNotFound, "not found on node", pin("", "a1", pinnedImage, "a"))
	p.refuse(api.CodeNotFound, "not found on node", pin("n1", "gone", pinnedImage, "a"))
	p.refuse(api.CodeInvalid, "is not the one of task", pin("n1", "a1", "registry.example.com/web:2", "a"))
	p.refuse(api.CodeInvalid, "is not the one of task", pin("n1", "a1", "evil.example.com/web:1", "a"))
	other := pin("n1", "a1", pinnedImage, "a")
	other.Task = "other"
	p.refuse(api.CodeNotFound, `task "other"`, other)
	p.do(&UpdateAllocations{NodeID: "n1", Allocations: []*api.Allocation{{ID: "a1", ClientStatus: api.AllocClientFailed}}, Time: 2})
	p.refuse(api.CodeConflict, "has ended", pin("n1", "a1", pinnedImage, "a"))
	p.wantPins("nothing was pinned", 0)
}

// TestANodeCannotMakePinsWithoutEnd pins many images for a task whose image has a variable.
func TestANodeCannotMakePinsWithoutEnd(t *testing.T) {
	p := newPinTester(t, "registry.example.com/web-${attr.cpu.arch}")
	p.refuse(api.CodeInvalid, "is not the one of task", pin("n1", "a1", "evil.example.com/web:1", "a"))
	for i := range 3 * pinsPerTask {
		p.do(pin("n1", "a1", fmt.Sprintf("registry.example.com/web-%d", i), "a"))
	}
	p.wantPins("as many as permitted", pinsPerTask)
}
