package providertest

import (
	"testing"

	"vademecum/providers"
)

func TestMemory(t *testing.T) {
	Run(t, Config{New: func(*testing.T) providers.Provider { return NewMemory("memory") }})
}
