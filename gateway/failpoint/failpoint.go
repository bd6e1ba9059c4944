// Package failpoint marks places where the crash tests kill the process. In a
// normal build Hit does nothing and is compiled away; with the build tag
// failpoint it obeys the environment variable HEARTH_FAILPOINT. It is for
// tests of durability only and carries no behaviour of the product.
package failpoint
