// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package fingerprint

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
)

// assumedMHz is the frequency of cores whose frequency is unknown.
const assumedMHz = 1000

func (m *Machine) cpu() {
	cores := runtime.NumCPU()
	model, mhz := coreSpeed()
	total := int64(math.Floor(mhz)) * int64(cores)
	m.set("cpu.modelname", model)
	m.setInt("cpu.numcores", int64(cores))
	m.set("cpu.frequency", fmt.Sprintf("%.0f", math.Floor(mhz)))
	m.setInt("cpu.totalcompute", total)
	m.setInt("cpu.usablecompute", total)
	m.setInt("cpu.reservablecores", int64(cores))
	m.Resources.CPU.CPUShares = total
	m.Resources.CPU.TotalCPUCores = uint16(cores)
	for i := range cores {
		m.Resources.CPU.ReservableCPUCores = append(m.Resources.CPU.ReservableCPUCores, uint16(i))
	}
}

// CoreMHz returns the speed of one core, in which tasks reserve processor time.
func CoreMHz() int64 {
	_, mhz := coreSpeed()
	return int64(math.Floor(mhz))
}

func coreSpeed() (model string, mhz float64) {
	model, mhz = parseCPUInfo(readFile("/proc/cpuinfo"))
	// Prefer the nominal frequency of the core: the one in /proc/cpuinfo varies with the
	// load.
	for _, name := range []string{"base_frequency", "cpuinfo_max_freq"} {
		if khz, err := strconv.ParseFloat(readLine("/sys/devices/system/cpu/cpu0/cpufreq/"+name), 64); err == nil && khz > 0 {
			return model, khz / 1000
		}
	}
	if mhz <= 0 {
		mhz = assumedMHz
	}
	return model, mhz
}

// parseCPUInfo parses /proc/cpuinfo. It returns the first core's model and the highest
// frequency, rounded so that it is stable between measurements.
func parseCPUInfo(text string) (model string, mhz float64) {
	for line := range strings.Lines(text) {
		k, v, _ := strings.Cut(line, ":")
		v = strings.TrimSpace(v)
		switch strings.TrimSpace(k) {
		case "model name":
			if model == "" {
				model = v
			}
		case "cpu MHz":
			if f, err := strconv.ParseFloat(v, 64); err == nil {
				mhz = max(mhz, math.Round(f/100)*100)
			}
		}
	}
	// "... @ 2.40GHz" is constant.
	if _, after, ok := strings.Cut(model, "@ "); ok {
		if f, err := strconv.ParseFloat(strings.TrimSuffix(after, "GHz"), 64); err == nil {
			mhz = f * 1000
		}
	}
	return model, mhz
}

// meminfo parses /proc/meminfo, in bytes.
func meminfo(text string) map[string]int64 {
	values := map[string]int64{}
	for line := range strings.Lines(text) {
		k, v, _ := strings.Cut(line, ":")
		n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB")), 10, 64)
		if err == nil {
			values[k] = n << 10
		}
	}
	return values
}

// parseRelease parses /etc/os-release.
func parseRelease(text string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			values[k] = strings.Trim(v, `"'`)
		}
	}
	return values
}
