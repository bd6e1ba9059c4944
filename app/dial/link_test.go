package dial

import "testing"

func TestAt(t *testing.T) {
	const link = "http://127.0.0.1:1/#launch=abcd"
	for where, want := range map[string]string{
		"": link, "chat": link, "undelivered": link + "&go=undelivered",
		"settings/usage": link + "&go=settings%2Fusage", "chat/a%3Ab%2Fc": link + "&go=chat%2Fa%253Ab%252Fc",
	} {
		if got := At(link, where); got != want {
			t.Errorf("%q: %s, want %s", where, got, want)
		}
	}
	if got := At("http://127.0.0.1:1/", "undelivered"); got != "http://127.0.0.1:1/" {
		t.Errorf("a link without a code: %s", got)
	}
}
