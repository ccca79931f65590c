package transport

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
)

// credentials are what an HTTP remote is shown, one source after the other.
type credentials struct {
	r            *Remote
	user, secret string
	bearer       bool
	prepared     bool
	tried        int
	helper       *gitCredential // where user and secret come from, if from there
}

// prepare looks for credentials that were given outright: those are final.
func (c *credentials) prepare(ctx context.Context) error {
	if c.prepared {
		return nil
	}
	c.prepared = true
	auth, addr := c.r.opts.Auth, c.r.addr
	switch {
	case auth.Token != "":
		c.use(auth.User, auth.Token)
		c.bearer = auth.Bearer
		return nil
	case auth.Lookup != nil && addr.user == "":
		user, token, err := auth.Lookup(ctx, addr.String())
		if err != nil {
			return faultOf(ErrAuth, err, "mend the token store")
		}
		if token != "" {
			c.use(user, token)
			c.bearer = auth.Bearer
			return nil
		}
	}
	if addr.secret != "" {
		c.use(addr.user, addr.secret)
	}
	return nil
}

// defaultUser goes with a token: every forge takes it.
const defaultUser = "x-access-token"

func (c *credentials) use(user, secret string) {
	c.user, c.secret = orDefault(user, defaultUser), secret
	c.r.hide(secret, base64.StdEncoding.EncodeToString([]byte(c.user+":"+secret)))
}

// given says whether the remote was shown any.
func (c *credentials) given() bool { return c.user != "" || c.secret != "" }

func (c *credentials) apply(req *http.Request) {
	switch {
	case !c.given():
	case c.bearer:
		req.Header.Set("Authorization", "Bearer "+c.secret)
	default:
		req.SetBasicAuth(c.user, c.secret)
	}
}

// next turns to the next source after the remote asked for better credentials.
func (c *credentials) next(ctx context.Context, base string) bool {
	if c.helper != nil {
		c.helper.reject(ctx)
		c.helper = nil
	}
	if c.tried == 0 && c.given() {
		return false
	}
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	for {
		c.tried++
		switch c.tried {
		case 1:
			if c.r.opts.Auth.NoHelpers {
				continue
			}
			if user, secret, ok := readNetrc(c.r.netrcFile(), u.Hostname(), c.r.addr.user); ok {
				c.use(user, secret)
				return true
			}
		case 2:
			if c.r.opts.Auth.NoHelpers {
				continue
			}
			if h, ok := fillCredential(ctx, u, c.r.addr.user); ok {
				c.helper = h
				c.use(h.user, h.secret)
				return true
			}
		case 3:
			// Forges take a token for the user's name.
			if c.r.addr.user != "" && c.r.addr.secret == "" {
				c.user, c.secret = c.r.addr.user, ""
				return true
			}
		default:
			return false
		}
	}
}

// approve tells a helper that its credentials are good.
func (c *credentials) approve(ctx context.Context) {
	if c.helper != nil {
		c.helper.approve(ctx)
		c.helper = nil
	}
}
