// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"fmt"
	"strconv"
	"time"
)

// ConfigString returns a string of a task's config block; "" if it is not set.
func (t *Task) ConfigString(key string) (string, error) {
	switch v := t.Config[key].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", fmt.Errorf("config %s must be a string, not %v", key, v)
	}
}

// ConfigStrings returns a list of strings.
func (t *Task) ConfigStrings(key string) ([]string, error) {
	switch v := t.Config[key].(type) {
	case nil:
		return nil, nil
	case []string:
		return v, nil
	case []any:
		list := make([]string, len(v))
		for i, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, fmt.Errorf("config %s must be a list of strings; entry %d is %v", key, i+1, e)
			}
			list[i] = s
		}
		return list, nil
	default:
		return nil, fmt.Errorf("config %s must be a list of strings, not %v", key, v)
	}
}

// ConfigInt returns an integer, which may be written as a string.
func (t *Task) ConfigInt(key string) (int, error) {
	switch v := t.Config[key].(type) {
	case nil:
		return 0, nil
	case int:
		return v, nil
	case int64:
		return int(v), nil
	case float64:
		if v == float64(int(v)) {
			return int(v), nil
		}
	case string:
		if n, err := strconv.Atoi(v); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("config %s must be a whole number, not %v", key, t.Config[key])
}

// ConfigBool returns a boolean, which may be written as a string.
func (t *Task) ConfigBool(key string) (bool, error) {
	switch v := t.Config[key].(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case string:
		if b, err := strconv.ParseBool(v); err == nil {
			return b, nil
		}
	}
	return false, fmt.Errorf("config %s must be true or false, not %v", key, t.Config[key])
}

// ConfigDuration returns a duration: "10s", or a number of nanoseconds.
func (t *Task) ConfigDuration(key string) (time.Duration, error) {
	if s, ok := t.Config[key].(string); ok {
		if d, err := time.ParseDuration(s); err == nil {
			return d, nil
		}
		if s == "" {
			return 0, nil
		}
	}
	n, err := t.ConfigInt(key)
	if err != nil {
		return 0, fmt.Errorf("config %s must be a duration such as \"10s\", not %v", key, t.Config[key])
	}
	return time.Duration(n), nil
}
