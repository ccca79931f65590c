//go:build !linux

package conformance

import "context"

// usage is not told here.
func (k *kit) usage() usage { return usage{} }

func (k *kit) environment(context.Context) error { return skip("there is no /proc here") }
