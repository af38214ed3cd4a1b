// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Limits of variables.
const (
	MaxVariableBytes = 64 << 10 // of all keys and values together
	maxVariableItems = 1024
	maxVariableKey   = 128 // bytes
	MinLockTTL       = 10 * time.Second
	MaxLockTTL       = 24 * time.Hour
	DefaultLockTTL   = 15 * time.Second // also of the lock's delay
)

const variablePathRule = `must be 1 to 128 letters, digits, "-", "_", "~" and "/"`

var variablePath = regexp.MustCompile(`^[a-zA-Z0-9_~/-]{1,128}$`)

// A Variable is a set of keys with values under a path of a namespace. Servers store keys and values
// encrypted.
type Variable struct {
	VariableMetadata
	Items map[string]string
}

// A VariableMetadata is a variable without its keys and values.
type VariableMetadata struct {
	Namespace   string
	Path        string
	CreateIndex uint64
	ModifyIndex uint64        // also the fencing number of the lock with which it was acquired
	CreateTime  int64         // Unix time in nanoseconds
	ModifyTime  int64         // Unix time in nanoseconds
	Lock        *VariableLock `json:",omitempty"` // nil: it has no holder
}

// A VariableLock gives its holder the only right to change a variable.
type VariableLock struct {
	// ID proves the holder. Only who may write the variable sees it.
	ID        string
	TTL       string // duration, after which the lock ends unless its holder renews it
	LockDelay string // duration, for which servers refuse the lock to others after it ended in this way
}

// A VariableConflict says why a variable was not changed, and how it is stored.
type VariableConflict struct {
	*Variable // without Items if the caller may not read it
	Code      ErrorCode
	Message   string
}

// Copy returns a copy of the metadata that shares nothing.
func (m *VariableMetadata) Copy() *VariableMetadata {
	c := *m
	if m.Lock != nil {
		lock := *m.Lock
		c.Lock = &lock
	}
	return &c
}

// IsVariablePath reports whether a path may be that of a variable.
func IsVariablePath(path string) bool {
	return variablePath.MatchString(path) && !strings.HasPrefix(path, "/") && !strings.HasSuffix(path, "/") && !strings.Contains(path, "//")
}

// Validate reports everything that is wrong with the variable, as one *Error of CodeInvalid; nil if it
// is valid. No message repeats a value.
func (v *Variable) Validate() error {
	var c complaints
	switch {
	case v.Path == "":
		c.add("Path is missing")
	case !IsVariablePath(v.Path):
		c.add("Path: %.140q %s, without \"/\" at its ends", v.Path, variablePathRule)
	case isReservedPath(v.Path):
		c.add("Path: %q is reserved: below nomad/, only nomad/jobs, which the tasks of a job may read, and nomad/job-templates are for users", v.Path)
	}
	if len(v.Items) > maxVariableItems {
		c.add("Items: has %d keys; at most %d are allowed", len(v.Items), maxVariableItems)
	}
	size := 0
	for _, key := range slices.Sorted(maps.Keys(v.Items)) {
		size += len(key) + len(v.Items[key])
		if (key == "" || len(key) > maxVariableKey) && len(c) < 8 {
			c.add("Items: the key %.140q must have 1 to %d bytes", key, maxVariableKey)
		}
	}
	if size > MaxVariableBytes {
		c.add("Items: keys and values have %d bytes together; at most %d are allowed: store larger content elsewhere, and its address here", size, MaxVariableBytes)
	}
	return c.err("the variable is not valid")
}

func isReservedPath(path string) bool {
	if path != "nomad" && !strings.HasPrefix(path, "nomad/") {
		return false
	}
	for _, free := range []string{"nomad/jobs", "nomad/job-templates"} {
		if path == free || strings.HasPrefix(path, free+"/") {
			return false
		}
	}
	return true
}

// Normalize fills in the defaults of a lock that is to be acquired, or reports every invalid field.
func (l *VariableLock) Normalize() error {
	var c complaints
	for _, d := range []struct {
		field string
		text  *string
		min   time.Duration
	}{{"TTL", &l.TTL, MinLockTTL}, {"LockDelay", &l.LockDelay, 0}} {
		given, err := time.ParseDuration(*d.text)
		switch {
		case *d.text == "":
			given = DefaultLockTTL
		case err != nil:
			c.add("Lock: %s: %.64q is not a duration such as 30s", d.field, *d.text)
			continue
		case given < d.min || given > MaxLockTTL:
			c.add("Lock: %s: %s is not between %s and %s", d.field, given, d.min, MaxLockTTL)
			continue
		}
		*d.text = given.String()
	}
	return c.err("the lock is not valid")
}

// lockDuration reads a duration that Normalize accepted.
func lockDuration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		return DefaultLockTTL
	}
	return d
}

// Life returns how long the lock lasts without a renewal.
func (l *VariableLock) Life() time.Duration { return lockDuration(l.TTL) }

// Delay returns for how long servers refuse the lock after it ended without a release.
func (l *VariableLock) Delay() time.Duration { return lockDuration(l.LockDelay) }

// String returns the path with its namespace, for messages.
func (m *VariableMetadata) String() string {
	if m.Namespace == DefaultNamespace {
		return fmt.Sprintf("%q", m.Path)
	}
	return fmt.Sprintf("%q in namespace %q", m.Path, m.Namespace)
}
