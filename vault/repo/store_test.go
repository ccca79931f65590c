package repo_test

import (
	"testing"

	"vademecum/vault/repo"
	"vademecum/vault/repo/repotest"
)

func TestStores(t *testing.T) {
	t.Parallel()
	t.Run("Memory", func(t *testing.T) {
		repotest.Run(t, func(*testing.T) repo.Store { return repo.NewMemory() })
	})
	t.Run("GitDir", func(t *testing.T) {
		repotest.Run(t, func(t *testing.T) repo.Store {
			g, _ := initRepo(t)
			return g
		})
	})
	t.Run("Plain", func(t *testing.T) { // without RawStore
		repotest.Run(t, func(*testing.T) repo.Store { return struct{ repo.Store }{repo.NewMemory()} })
	})
}
