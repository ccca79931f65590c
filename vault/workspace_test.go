package vault

import "testing"

func TestParseWorkspace(t *testing.T) {
	for want, remotes := range map[string][]string{
		"github.com/acme/shop": {
			"git@github.com:acme/shop.git", "git@github.com:acme/shop", "git@GitHub.com:/Acme/Shop.git/", "ssh://git@github.com/acme/shop.git",
			"ssh://git@github.com:22/acme/shop", "ssh://git@ssh.github.com:443/acme/shop.git", "https://github.com/acme/shop", "https://github.com/acme/shop.git",
			"https://github.com/acme/shop/", "https://user:pa55@github.com:443/acme//shop.git", "https://ghp_x@github.com/acme/shop", "http://www.github.com/acme/shop",
			"git://github.com/acme/shop.git", "git+ssh://git@github.com/acme/shop.git", "github.com:acme/shop", "  https://github.com/acme/shop\n",
			"HTTPS://GITHUB.COM/ACME/SHOP.GIT", "https://github.com/acme/sho%70?x=1#y", "https://github.com./acme/shop",
		},
		"gitlab.com/a/b/c":            {"git@gitlab.com:a/b/c.git", "https://gitlab.com/a/b/c", "ssh://git@altssh.gitlab.com:443/a/b/c.git"},
		"dev.azure.com/org/proj/repo": {"https://org@dev.azure.com/org/proj/_git/repo", "git@ssh.dev.azure.com:v3/org/proj/repo"},
		"[::1]/a/b":                   {"ssh://git@[::1]:2222/a/b.git", "git@[::1]:a/b.git"},
		"localhost/x":                 {"http://localhost:3000/x.git"},
		"/srv/git/Shop":               {"/srv/git/Shop.git", "file:///srv/git/Shop.git/", "file://localhost/srv/git/Shop", "/srv/git/x/../Shop/.git"},
		"C:/git/shop":                 {`C:\git\shop.git`, "C:/git/shop"},
		"":                            {"", "../shop", "shop", "https://", "https://github.com/", "github.com:", "/", "file:///", "a\nb"},
	} {
		for _, remote := range remotes {
			if got := ParseWorkspace(remote); got != want {
				t.Errorf("ParseWorkspace(%q) = %q, want %q", remote, got, want)
			}
		}
	}
}

func FuzzParseWorkspace(f *testing.F) {
	f.Add("git@github.com:acme/shop.git")
	f.Add("https://u:p@h:1/a%2fb?c#d")
	f.Fuzz(func(t *testing.T, remote string) { ParseWorkspace(remote) })
}
