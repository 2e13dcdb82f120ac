// Package store looks up values.
package store

// Lookup gives the value of a key.
func Lookup(values map[string]string, key string) string { return values[key] }
