package engine

import (
	"testing"
)

func TestSpike(t *testing.T) {
	e := New(Options{CacheDir: t.TempDir()})
	defer e.Close(t.Context())
	for _, code := range []string{"return 1+1", "text('hé€\\ud800'); return ALL_TOOLS", "\nthrow new Error('x')", "return {", "const x = await tools.call('a', {b:1}); return x", "await yield_control('z')", "return await import('qjs:os')", "import('./x')", "let n=0; function f(){ n++; f() } try{ f() } catch(e) { return [n, String(e)] }",
		"let s=''; for(let i=0;i<200000;i++) s+='x'; return s.length", "const a={}; a.a=a; a.b=5n; return a", "return 5n", "return new Map", "return ()=>1", "throw null", "return Math.random()", "x.y", "null.z()", "const a=[]; for(;;) a.push(new Array(1000).fill(0))", "await new Promise(()=>{})"} {
		v, st, err := e.Start(t.Context(), Program{Code: code})
		t.Logf("%q: done=%v value=%s calls=%v yield=%v out=%v err=%#v %v", code, st.Done, st.Value, st.Calls, st.Yielding, st.Output, err, err)
		if v != nil {
			v.Close()
		}
	}
}
