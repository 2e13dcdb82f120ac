// Package store looks up values.
package store

import "errors"

// ErrMissing says that there is no such key.
var ErrMissing = errors.New("missing key")

// Lookup gives the value of a key, or ErrMissing.
func Lookup(values map[string]string, key string) (string, error) {
	value, ok := values[key]
	if !ok {
		return "", ErrMissing
	}
	return value, nil
}
