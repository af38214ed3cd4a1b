// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/device"
	"github.com/reeve-run/reeve/internal/node/driver"
)

func TestTheHolderOfDevicesGetsTheirEdits(t *testing.T) {
	held := []*api.AllocatedDevice{{Vendor: "v", Type: "t", Name: "n", DeviceIDs: []string{"0"}}}
	a := &api.Allocation{AllocatedResources: &api.AllocatedResources{Tasks: map[string]*api.AllocatedTask{"holder": {Devices: held}, "other": {}}}}
	gone := errors.New("gone")
	h := &Host{Devices: func(of []*api.AllocatedDevice) (device.Edits, error) {
		if diff := cmp.Diff(held, of); diff != "" {
			t.Errorf("asked for other devices (-want +got):\n%s", diff)
		}
		return device.Edits{Nodes: []driver.Device{{Source: "/dev/null"}}, Mounts: []driver.Mount{{Source: "/usr"}}, Env: []string{"DRIVER=7", "SET=theirs"}}, gone
	}}
	if err := h.addDevices(&driver.Task{}, a, &api.Task{Name: "holder"}); err != gone {
		t.Errorf("error %v, want that of the device", err)
	}
	gone = nil
	for name, want := range map[string]driver.Task{
		"holder": {Env: []string{"SET=ours", "DRIVER=7"}, Devices: []driver.Device{{Source: "/dev/null"}}, Mounts: []driver.Mount{{Source: "/data"}, {Source: "/usr"}}},
		"other":  {Env: []string{"SET=ours"}, Mounts: []driver.Mount{{Source: "/data"}}},
	} {
		got := driver.Task{Env: []string{"SET=ours"}, Mounts: []driver.Mount{{Source: "/data"}}}
		if err := h.addDevices(&got, a, &api.Task{Name: name}); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool {
			return p.String() == "PinImage" || p.String() == "Own" || p.String() == "Notify" || p.String() == "Progress"
		}, cmp.Ignore())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
