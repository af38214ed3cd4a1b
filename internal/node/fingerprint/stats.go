// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package fingerprint

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
)

// Stats measures what the machine uses now. CPU is the mean since it booted.
func Stats(dataDir string) *api.HostStats {
	s := &api.HostStats{Memory: memoryStats(), CPU: cpuStats(readFile("/proc/stat")), AllocDirStats: diskStats(dataDir)}
	if up, _, ok := strings.Cut(readLine("/proc/uptime"), " "); ok {
		seconds, _ := strconv.ParseFloat(up, 64)
		s.Uptime = uint64(seconds)
	}
	if s.AllocDirStats != nil {
		s.DiskStats = []*api.HostDiskStats{s.AllocDirStats}
	}
	return s
}

func memoryStats() *api.HostMemoryStats {
	m := meminfo(readFile("/proc/meminfo"))
	total, free, available := uint64(m["MemTotal"]), uint64(m["MemFree"]), uint64(m["MemAvailable"])
	return &api.HostMemoryStats{Total: total, Free: free, Available: available, Used: total - available}
}

// cpuStats reads /proc/stat, one entry per core.
func cpuStats(text string) []*api.HostCPUStats {
	var all []*api.HostCPUStats
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 8 || !strings.HasPrefix(f[0], "cpu") || f[0] == "cpu" {
			continue
		}
		var ticks [7]float64
		sum := 0.0
		for i := range ticks {
			ticks[i], _ = strconv.ParseFloat(f[i+1], 64)
			sum += ticks[i]
		}
		if sum == 0 {
			continue
		}
		all = append(all, &api.HostCPUStats{
			CPU:    f[0],
			User:   100 * (ticks[0] + ticks[1]) / sum,
			System: 100 * (ticks[2] + ticks[5] + ticks[6]) / sum,
			Idle:   100 * (ticks[3] + ticks[4]) / sum,
		})
	}
	return all
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
