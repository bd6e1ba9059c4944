package program

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Bundled makes the channel of an account on a network that comes with Hearth, in
// the program hearth-channels. limits and can hold until that has told its own.
func Bundled(network string, a channel.Account, limits channel.Limits, can ...channel.Ability) (channel.Channel, error) {
	return Beside(bundle, Options{Account: a, Network: network, Argv: []string{network}, Limits: limits, Can: can})
}

// Beside makes the channel of an account in a program that lies beside the running one;
// Argv are its arguments.
func Beside(name string, o Options) (channel.Channel, error) {
	path, err := beside(name)
	if err != nil {
		return nil, err
	}
	o.Argv = append([]string{path}, o.Argv...)
	return New(o)
}

// bundle is the program that holds the networks which come with Hearth, beside the
// running one.
const bundle = "hearth-channels"

// beside finds a program that was installed beside this one.
func beside(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's folder: %w", err)
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	path := filepath.Join(filepath.Dir(self), name+filepath.Ext(self))
	if st, err := os.Stat(path); err != nil || st.IsDir() {
		return "", fmt.Errorf("the program %s is not beside %s. It comes with Hearth's packages, or one of its own "+
			"(docs/channels); put it there and restart Hearth", name, self)
	}
	return path, nil
}
