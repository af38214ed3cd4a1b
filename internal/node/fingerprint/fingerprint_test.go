// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package fingerprint

import (
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func TestMachineHasWhatJobFilesAskFor(t *testing.T) {
	m := Measure(Options{DataDir: t.TempDir(), Version: "1.2.3", Address: "127.0.0.1"})
	for _, name := range []string{
		"kernel.name", "kernel.version", "kernel.landlock", "cpu.arch", "cpu.numcores", "cpu.totalcompute", "memory.totalbytes", "unique.hostname",
		"unique.network.ip-address", "unique.storage.bytesfree", "reeve.version", "nomad.version", "reeve.binary",
	} {
		if m.Attributes[name] == "" {
			t.Errorf("attribute %s is missing", name)
		}
	}
	if m.Attributes["cpu.arch"] != runtime.GOARCH || m.Attributes["reeve.version"] != "1.2.3" || m.Address != "127.0.0.1" {
		t.Errorf("attributes = %v", m.Attributes)
	}
	r := m.Resources
	if r.CPU.CPUShares <= 0 || r.Memory.MemoryMB <= 0 || r.Disk.DiskMB <= 0 || len(r.Networks) != 1 || r.Networks[0].IP != "127.0.0.1" {
		t.Errorf("resources = %+v", r)
	}
	for _, again := range []*Machine{Measure(Options{DataDir: "/", Version: "1.2.3", Address: "127.0.0.1"})} {
		if again.Attributes["cpu.totalcompute"] != m.Attributes["cpu.totalcompute"] {
			t.Error("two looks at one machine differ in cpu.totalcompute")
		}
	}
}

func TestParsers(t *testing.T) {
	model, mhz := parseCPUInfo("processor\t: 0\nmodel name\t: Some CPU @ 2.40GHz\ncpu MHz\t\t: 1234.5\n")
	if model != "Some CPU @ 2.40GHz" || mhz != 2400 {
		t.Errorf("cpu = %q, %v MHz", model, mhz)
	}
	if _, mhz = parseCPUInfo("model name: X\ncpu MHz : 2649.998\ncpu MHz : 2951.2\n"); mhz != 3000 {
		t.Errorf("%v MHz; want the highest, rounded", mhz)
	}
	if got := meminfo("MemTotal:       24684092 kB\nHugePages_Total:       0\n")["MemTotal"]; got != 24684092<<10 {
		t.Errorf("memory = %d", got)
	}
	if d := cmp.Diff(map[string]string{"ID": "debian", "VERSION_ID": "13"}, parseRelease("ID=debian\nVERSION_ID=\"13\"\n")); d != "" {
		t.Errorf("release (-want +got):\n%s", d)
	}
	routes := "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n" +
		"docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n" + "eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
	if got := defaultInterface(routes); got != "eth0" {
		t.Errorf("default route over %q", got)
	}
}

// A load is since the last look, so that an operator sees what happens now.
func TestMeterMeasuresLoadSinceTheLastLook(t *testing.T) {
	m, now := NewMeter(t.TempDir()), time.Unix(1000, 0)
	for _, look := range []struct {
		after time.Duration
		stat  string
		want  api.HostCPUStats
	}{
		{0, "cpu  100 0 50 850 0 0 0 0 0 0\ncpu0 100 0 50 850 0 0 0 0 0 0\nintr 1\n", api.HostCPUStats{CPU: "cpu0", User: 10, System: 5, Idle: 85, TotalPercent: 15, TotalTicks: 300}},
		{10 * time.Second, "cpu0 140 0 60 900 0 0 0 0 0 0\n", api.HostCPUStats{CPU: "cpu0", User: 40, System: 10, Idle: 50, TotalPercent: 50, TotalTicks: 1000}},
		{time.Millisecond, "cpu0 141 0 60 900 0 0 0 0 0 0\n", api.HostCPUStats{CPU: "cpu0", User: 40, System: 10, Idle: 50, TotalPercent: 50, TotalTicks: 1000}},
		{time.Second, "cpu0 150 0 60 990 0 0 0 0 0 0\n", api.HostCPUStats{CPU: "cpu0", User: 10, Idle: 90, TotalPercent: 10, TotalTicks: 200}},
	} {
		now = now.Add(look.after)
		if d := cmp.Diff([]*api.HostCPUStats{&look.want}, m.readCPU(look.stat, 2000, now)); d != "" {
			t.Errorf("after %s (-want +got):\n%s", look.after, d)
		}
	}
}

func TestMeterReadsThisMachine(t *testing.T) {
	s := NewMeter(t.TempDir()).Read(1000, time.Now())
	if s.Memory.Total == 0 || len(s.CPU) == 0 || s.Uptime == 0 || s.AllocDirStats == nil || s.AllocDirStats.Size == 0 || s.CPUTicksConsumed == 0 || s.Timestamp == 0 {
		t.Errorf("stats = %+v", s)
	}
}
