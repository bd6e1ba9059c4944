package gateway

import (
	"slices"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// methods is the whole surface; protocol.Methods has the scope of each.
func (g *Gateway) methods() []method.Method {
	return slices.Concat(
		g.coreMethods(),
		g.edgeMethods(),
	)
}

// coreMethods look after the gateway, its settings and what it has.
func (g *Gateway) coreMethods() []method.Method {
	return []method.Method{
		method.Plain(protocol.MethodDoctor, g.doctor),
	}
}

// edgeMethods are about people and deliveries on messaging networks.
func (g *Gateway) edgeMethods() []method.Method {
	return []method.Method{
		method.Plain(protocol.MethodChannelsStatus, g.channelsStatus),
		method.Plain(protocol.MethodContactsList, g.contactsList),
		method.Plain(protocol.MethodContactsResolve, g.contactsResolve),
		method.Plain(protocol.MethodContactsRemove, g.contactsRemove),
		method.Plain(protocol.MethodContactsSet, g.contactsSet),
		method.Plain(protocol.MethodDeliveriesList, g.deliveriesList),
		method.Plain(protocol.MethodDeliveriesResolve, g.deliveriesResolve),
	}
}

// errors are what may leave the gateway of errors.
func (g *Gateway) errors() method.Errors {
	return method.Errors{Hide: &g.redactor, Damaged: method.DamagedWords}
}
