// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package fingerprint

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
)

// minPeriod is the shortest period over which a load is measured: over shorter ones, the
// kernel's ticks are too coarse.
const minPeriod = time.Second

// A Meter measures the machine's usage. A load covers the time since the previous
// measurement; the first one covers the time since the machine booted.
type Meter struct {
	dataDir string

	mu   sync.Mutex
	at   time.Time // time of last
	last map[string]coreTicks
	cpu  []*api.HostCPUStats // result at that time
}

// NewMeter returns a meter of this machine and of dataDir's file system.
func NewMeter(dataDir string) *Meter { return &Meter{dataDir: dataDir} }

// Read measures the usage. A core has perCore MHz.
func (m *Meter) Read(perCore int64, now time.Time) *api.HostStats {
	s := &api.HostStats{
		Memory: memoryStats(), AllocDirStats: diskStats(m.dataDir),
		Timestamp: now.UnixNano(),
	}
	s.CPU = m.readCPU(readFile("/proc/stat"), perCore, now)
	for _, c := range s.CPU {
		s.CPUTicksConsumed += c.TotalTicks
	}
	if up, _, ok := strings.Cut(readLine("/proc/uptime"), " "); ok {
		seconds, _ := strconv.ParseFloat(up, 64)
		s.Uptime = uint64(seconds)
	}
	s.DiskStats = []*api.HostDiskStats{}
	if s.AllocDirStats != nil {
		s.DiskStats = append(s.DiskStats, s.AllocDirStats)
	}
	return s
}

// readCPU parses /proc/stat. It returns one entry per core.
func (m *Meter) readCPU(text string, perCore int64, now time.Time) []*api.HostCPUStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cpu != nil && now.Sub(m.at) < minPeriod {
		return m.cpu
	}
	seen, all := map[string]coreTicks{}, []*api.HostCPUStats{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 8 || !strings.HasPrefix(f[0], "cpu") || f[0] == "cpu" {
			continue
		}
		ticks := parseTicks(f[1:8])
		seen[f[0]] = ticks
		spent := ticks.since(m.last[f[0]])
		if spent.sum() == 0 {
			continue
		}
		all = append(all, spent.shares(f[0], perCore))
	}
	m.last, m.cpu, m.at = seen, all, now
	return all
}

// coreTicks holds a core's time by kind, in the kernel's ticks: user, nice, system, idle,
// iowait, irq, softirq.
type coreTicks [7]float64

func parseTicks(fields []string) (t coreTicks) {
	for i := range t {
		t[i], _ = strconv.ParseFloat(fields[i], 64)
	}
	return t
}

// since returns the ticks since an earlier measurement.
func (t coreTicks) since(earlier coreTicks) coreTicks {
	for i := range t {
		t[i] = max(0, t[i]-earlier[i]) // the kernel's iowait sometimes decreases
	}
	return t
}

func (t coreTicks) sum() (sum float64) {
	for _, n := range t {
		sum += n
	}
	return sum
}

// shares converts ticks into percentages of one core.
func (t coreTicks) shares(core string, perCore int64) *api.HostCPUStats {
	percent := 100 / t.sum()
	s := &api.HostCPUStats{
		CPU:    core,
		User:   percent * (t[0] + t[1]),
		System: percent * (t[2] + t[5] + t[6]),
		Idle:   percent * (t[3] + t[4]),
	}
	s.TotalPercent = s.User + s.System
	s.TotalTicks = s.TotalPercent / 100 * float64(perCore)
	return s
}

func memoryStats() *api.HostMemoryStats {
	m := meminfo(readFile("/proc/meminfo"))
	total, free, available := uint64(m["MemTotal"]), uint64(m["MemFree"]), uint64(m["MemAvailable"])
	return &api.HostMemoryStats{Total: total, Free: free, Available: available, Used: total - available}
}

func diskStats(dir string) *api.HostDiskStats {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil || st.Blocks == 0 {
		return nil
	}
	block := uint64(st.Bsize)
	d := &api.HostDiskStats{
		Device: dir, Mountpoint: dir,
		Size: st.Blocks * block, Available: st.Bavail * block, Used: (st.Blocks - st.Bfree) * block,
	}
	d.UsedPercent = 100 * float64(d.Used) / float64(d.Size)
	if st.Files > 0 {
		d.InodesUsedPercent = 100 * float64(st.Files-st.Ffree) / float64(st.Files)
	}
	return d
}
