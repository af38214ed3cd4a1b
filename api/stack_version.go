// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A StackVersion is the version of a stack: major.minor.patch. Its JSON form is the
// string "1.2.0". A number is at most 2^31-1.
type StackVersion struct{ Major, Minor, Patch uint32 }

// A FeatureVersion is the part of a version that callers can rely on: major.minor. Its
// JSON form is the string "1.2".
type FeatureVersion struct{ Major, Minor uint32 }

// ParseStackVersion parses "1.2.0".
func ParseStackVersion(text string) (StackVersion, error) {
	n, err := parseVersion(text, 3)
	if err != nil {
		return StackVersion{}, fmt.Errorf("version %q: %w", Printable(text, 64), err)
	}
	return StackVersion{n[0], n[1], n[2]}, nil
}

// ParseFeatureVersion parses "1.2".
func ParseFeatureVersion(text string) (FeatureVersion, error) {
	n, err := parseVersion(text, 2)
	if err != nil {
		return FeatureVersion{}, fmt.Errorf("version %q: %w", Printable(text, 64), err)
	}
	return FeatureVersion{n[0], n[1]}, nil
}

// parseVersion parses a given number of decimal numbers that are separated by dots.
func parseVersion(text string, count int) ([]uint32, error) {
	form := "major.minor.patch, such as 1.2.0"
	if count == 2 {
		form = "major.minor, such as 1.2"
	}
	parts := strings.Split(text, ".")
	if len(parts) != count {
		return nil, fmt.Errorf("must be %s", form)
	}
	numbers := make([]uint32, count)
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil || n > math.MaxInt32 || strconv.FormatUint(n, 10) != part {
			return nil, fmt.Errorf("must be %s: numbers up to %d without leading zeros", form, math.MaxInt32)
		}
		numbers[i] = uint32(n)
	}
	return numbers, nil
}

func (v StackVersion) String() string {
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// Feature returns the version without its patch.
func (v StackVersion) Feature() FeatureVersion { return FeatureVersion{v.Major, v.Minor} }

// Compare orders versions by their numbers, as cmp.Compare does.
func (v StackVersion) Compare(other StackVersion) int {
	return cmp.Or(cmp.Compare(v.Major, other.Major), cmp.Compare(v.Minor, other.Minor), cmp.Compare(v.Patch, other.Patch))
}

// Satisfies reports whether a caller that wants a feature version can use this version:
// the major version is the same, and the minor version is at least the wanted one.
func (v StackVersion) Satisfies(want FeatureVersion) bool {
	return v.Major == want.Major && v.Minor >= want.Minor
}

// IsZero reports whether the version is not set. Version 0.0.0 is not a valid version of a stack.
func (v StackVersion) IsZero() bool { return v == StackVersion{} }

// MarshalText returns the form "1.2.0", or nothing for a version that is not set.
func (v StackVersion) MarshalText() ([]byte, error) {
	if v.IsZero() {
		return nil, nil
	}
	return []byte(v.String()), nil
}

// UnmarshalText parses the form "1.2.0"; an empty text unsets the version.
func (v *StackVersion) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*v = StackVersion{}
		return nil
	}
	*v, err = ParseStackVersion(string(text))
	return err
}

func (v FeatureVersion) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Compare orders versions by their numbers, as cmp.Compare does.
func (v FeatureVersion) Compare(other FeatureVersion) int {
	return cmp.Or(cmp.Compare(v.Major, other.Major), cmp.Compare(v.Minor, other.Minor))
}

// MarshalText returns the form "1.2".
func (v FeatureVersion) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText parses the form "1.2".
func (v *FeatureVersion) UnmarshalText(text []byte) (err error) {
	*v, err = ParseFeatureVersion(string(text))
	return err
}
