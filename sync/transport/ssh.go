package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"os/user"
	"path"
	"strings"

	"golang.org/x/crypto/ssh"
)

// An sshDialer runs git's services over one ssh connection.
type sshDialer struct {
	r      *Remote
	dog    *watchdog
	client *ssh.Client
}

func (d *sshDialer) watchWith(dog *watchdog) { d.dog = dog }

func (d *sshDialer) close() error {
	if d.client == nil {
		return nil
	}
	err := d.client.Close()
	d.client = nil
	if errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// open starts service in a session of the connection, which it makes when there
// is none or the last one has died.
func (d *sshDialer) open(ctx context.Context, service string) (conversation, error) {
	if d.client != nil {
		c, err := d.start(ctx, service)
		if err == nil || ctx.Err() != nil {
			return c, err
		}
		if _, dead := errors.AsType[*deadSession](err); !dead {
			return nil, err
		}
		d.close()
	}
	client, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	d.client = client
	return d.start(ctx, service)
}

// deadSession: the connection takes no more sessions.
type deadSession struct{ err error }

func (e *deadSession) Error() string { return "the ssh connection is gone: " + e.err.Error() }
func (e *deadSession) Unwrap() error { return e.err }

func (d *sshDialer) start(ctx context.Context, service string) (conversation, error) {
	client := d.client
	stop := context.AfterFunc(ctx, func() { client.Close() })
	defer stop()
	session, err := client.NewSession()
	if err != nil {
		return nil, &deadSession{err}
	}
	p := &sshProcess{session: session, client: client}
	in, inErr := session.StdinPipe()
	out, outErr := session.StdoutPipe()
	session.Stderr = &p.words
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, err
	}
	if err := session.Start(remoteCommand(service, d.r.addr.path)); err != nil {
		session.Close()
		return nil, faultOf(ErrAuth, err, "the account may not run git there")
	}
	return startStream(ctx, p, in, out, d.dog, service)
}

// remoteCommand is the line that a git server's shell, restricted or not,
// understands.
func remoteCommand(service, path string) string {
	return service + " '" + strings.NewReplacer(`'`, `'\''`, `!`, `'\!'`).Replace(path) + "'"
}

// An sshProcess is a service in a session.
type sshProcess struct {
	session *ssh.Session
	client  *ssh.Client
	words   tail
}

func (p *sshProcess) kill() { p.client.Close() }

func (p *sshProcess) wait() (string, error) {
	err := p.session.Wait()
	p.session.Close()
	return p.words.String(), err
}

// connect dials and authenticates.
func (d *sshDialer) connect(ctx context.Context) (*ssh.Client, error) {
	a := d.r.addr
	conf := loadSSHConfig(d.r.home(), a.host)
	if conf.usesProxy() {
		return nil, fault(ErrUnreachable, "ssh's config wants a ProxyJump or ProxyCommand for "+a.host, "use transport: exec")
	}
	host := orDefault(conf.hostName(a.host), a.host)
	addr := net.JoinHostPort(host, orDefault(a.port, orDefault(conf.get("port"), "22")))
	known, err := d.knownHosts(conf)
	if err != nil {
		return nil, err
	}
	name := hostKeyName(conf, addr)
	keys := newKeyring(d.r, conf, host)
	defer keys.close()
	config := &ssh.ClientConfig{
		User:              orDefault(a.user, orDefault(conf.get("user"), loginName())),
		Auth:              []ssh.AuthMethod{ssh.PublicKeysCallback(keys.signers)},
		HostKeyCallback:   known.check(name),
		HostKeyAlgorithms: known.db.HostKeyAlgorithms(name),
		ClientVersion:     "SSH-2.0-vade",
	}
	dialer := net.Dialer{Timeout: connectTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	c, channels, requests, err := ssh.NewClientConn(&watchedConn{conn, d.dog}, addr, config)
	if err != nil {
		conn.Close()
		return nil, keys.explain(err, config.User, addr)
	}
	return ssh.NewClient(c, channels, requests), nil
}

// usesProxy says whether the connection must go another way than straight.
func (c *sshConfig) usesProxy() bool {
	for _, k := range []string{"proxyjump", "proxycommand"} {
		if v := c.get(k); v != "" && !strings.EqualFold(v, "none") {
			return true
		}
	}
	return false
}

// hostName expands %h, which HostName may hold.
func (c *sshConfig) hostName(host string) string {
	return strings.NewReplacer("%%", "%", "%h", host).Replace(c.get("hostname"))
}

func loginName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return path.Base(strings.ReplaceAll(u.Username, `\`, "/"))
}

// hostKeyName is the address under which the host's key is known.
func hostKeyName(c *sshConfig, addr string) string {
	if alias := c.get("hostkeyalias"); alias != "" {
		return net.JoinHostPort(alias, "22")
	}
	return addr
}

// watchedConn tells the watchdog of each byte.
type watchedConn struct {
	net.Conn
	dog *watchdog
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.dog.kick()
	return n, err
}

func (c *watchedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.dog.kick()
	return n, err
}
