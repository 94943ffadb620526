"""Texts that try to be more than text: a corpus that every page must show as it is, and do nothing of.

A payload holds a word of its own, `evil` and a number: wherever the word is shown, the signs around it (`core`) must be
there too, or something was taken for markup. Scripts set a variable of that name on `window`, or open a dialog; what is
asked for over the network is at `hostile.example`.
"""

from __future__ import annotations

import re

HOSTILE = (
    "<script>alert(1)</script>",
    '<img src="http://hostile.example/x.png" onerror="alert(1)">',
    "![x](http://hostile.example/y.png)",
    "[click](javascript:alert(1))",
    "</div></div></article><h1>broken out</h1>",
    "$\\text{five}$ and $$x^2$$",
    "\u202edetrevni txet\u202c",
    "<style>body{display:none}</style>",
    '"><svg onload=alert(1)>',
    "<iframe src='http://hostile.example'></iframe>",
    "<details open ontoggle=alert(1)>",
    "&lt;b&gt;not bold&lt;/b&gt; &amp;",
    "{{query}} ${7*7} {% raw %}",
    ":material/home: :red[red] :smile:",
    "www.hostile.example -> <- --",
)
"""A few that stand for all, without a word of their own."""

NAMES = (
    "<b>evil01</b>",
    '<a href="http://hostile.example/">evil02</a>',
    "=HYPERLINK(evil03)",
    "../../etc/evil04",
    "**evil05** _evil06_",
    "[evil07](javascript:alert(7))",
    ":red[evil08] :material/evil09:",
    "$evil10$ `evil11`",
    "<img src=x onerror=window.evil12=1>",
    "?arena=evil13&a=b#c",
    "\u202eevil14\u202c\u200b\u200d",
    "evil15 " + "very long name " * 16,
)
"""For names of systems, judges and folders."""

TEXTS = (
    "<script>window.evil20=1</script>",
    "<SCRIPT SRC=http://hostile.example/evil21.js></SCRIPT>",
    "<svg><script>window.evil22=1</script></svg>",
    "<svg/onload=window.evil23=1>",
    "<svg><animate onbegin=window.evil24=1 attributeName=x dur=1s>",
    "<img src=http://hostile.example/evil25.png srcset='http://hostile.example/2x.png 2x'>",
    "<body onload=window.evil26=1>",
    "<iframe srcdoc='<script>parent.evil27=1</script>'></iframe>",
    "<object data='http://hostile.example/evil28.swf'></object><embed src='http://hostile.example/e'>",
    "<video autoplay onloadstart=window.evil29=1><source src=http://hostile.example/v></video>",
    "<link rel=stylesheet href=http://hostile.example/evil30.css>",
    "<style>@import 'http://hostile.example/evil31.css'; * { display: none }</style>",
    "<div style=\"background: url('http://hostile.example/evil32.png')\">",
    "<meta http-equiv=refresh content='0; url=http://hostile.example/evil33'>",
    "<base href='http://hostile.example/evil34/'>",
    "<form action=http://hostile.example><input autofocus onfocus=window.evil35=1><button>evil36</button></form>",
    "<a href='javascript:window.evil37=1'>evil38</a>",
    "<a href=' &#106;avascript:window.evil39=1' target=_blank>evil40</a>",
    "<math><mi xlink:href='data:x,<script>window.evil41=1</script>'>evil42</math>",
    "<!--<img src='--><img src=x onerror=window.evil43=1>'>",
    "<noscript><p title='</noscript><img src=x onerror=window.evil44=1>'></noscript>",
    "<template><slot onslotchange=window.evil45=1></slot></template>",
    "<xmp><p title='</xmp><img src=x onerror=window.evil46=1>'></xmp>",
    '" onmouseover="window.evil47=1" style="position:fixed;inset:0',
    "' autofocus onfocus='window.evil48=1",
    "</mark></bdi></div></article></section><h1>evil49</h1>",
    "</textarea></title></style></script><b>evil50</b>",
    '![evil51](http://hostile.example/p.png "t")',
    "[evil52](http://hostile.example) <http://hostile.example/evil53> http://hostile.example/evil54",
    "[evil55][r]\n\n[r]: http://hostile.example/ref",
    "# evil56\n\n## evil57",
    "| evil58 | b |\n| --- | --- |\n| evil59 | d |",
    "- evil60\n- [x] evil61\n\n1. evil62",
    "> evil63\n\n    evil64\n\n```js\nwindow.evil65=1\n```",
    "***evil66*** ~~evil67~~ __evil68__ ==evil69==",
    "$$\\frac{evil70}{2}$$ \\(evil71\\) $\\href{javascript:alert(1)}{evil72}$",
    "$\\includegraphics{http://hostile.example/evil73.png}$ \\begin{x}evil74\\end{x}",
    ":blue-background[evil75] :small[evil76] :gray-badge[evil77] :evil78[x]",
    "evil79:smile: :material/delete: :rainbow[evil80] :streamlit:",
    '<- evil81 -> --- ... (c) "evil82"',
    "&lt;script&gt;window.evil83=1&lt;/script&gt; &#60;evil84&#62; &nbsp;evil85&amp;",
    "\u202eevil86\u202c \u2067evil87\u2069 \u2066\u202devil88",
    "zero\u200bevil89\u200c\u200d\ufeff width \u00ad\u2060",
    "a\u0301\u0301\u0301\u0301evil90\U000e0041\U000e0042 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "NUL\x00evil91\x00 and \x1b[31mevil92\x1b[0m \x07",
    '{"evil93": "\\u003cscript>", "__proto__": {"evil94": 1}}',
    "{{constructor.constructor('window.evil95=1')()}} ${evil96} #{evil97} <%= evil98 %>",
    "'; DROP TABLE answers; -- evil99",
    '=cmd|"/c calc"!evil100',
    "%2e%2e%2fevil101 ..\\..\\evil102 file:///etc/evil103",
    "%s %n {0} evil104 %{x} <extra></extra>",
    "data:text/html,<script>parent.evil105=1</script>",
)
"""For queries, answers, passages, titles, rationales and ids."""

PAYLOADS = (*HOSTILE, *NAMES, *TEXTS)


def cores(*texts: str) -> dict[str, list[str]]:
    """Each word of the payloads with the two signs before it and the two after it, in all ways that it occurs."""
    contexts: dict[str, list[str]] = {}
    for text in texts:
        for match in re.finditer(r"evil\d+", text):
            around = text[max(0, match.start() - 2) : match.end() + 2]
            contexts.setdefault(match.group(), []).append(re.sub(r"\s+", " ", plain(around)))
    return contexts


def plain(text: str) -> str:
    """A text as a browser can hold it: HTML has no NUL."""
    return text.replace("\x00", "").replace("\u2060", "")


STRAY = """cores => {
  // What is on the page that only a payload can have brought: elements, attributes, words without their signs.
  const found = Object.keys(window).filter((name) => /^evil\\d/.test(name)).map((name) => `ran: ${name}`)
  const tags = "iframe:not([src^='/']), object, embed, video, form[action*=hostile], base, meta[http-equiv], " +
    "body script:not([src]), [src*=hostile], [srcset], [data*=hostile], link[href*=hostile], [style*=hostile]"
  const own = (a) => a.origin === location.origin
  const walk = (root) => {
    for (const e of root.querySelectorAll(tags)) found.push(`element: ${e.outerHTML.slice(0, 120)}`)
    for (const a of root.querySelectorAll("a[href]")) {
      if (!own(a)) found.push(`link: ${a.parentElement.outerHTML.slice(0, 300)}`)
    }
    for (const e of root.querySelectorAll("*")) {
      for (const { name } of e.attributes) if (/^on/.test(name)) found.push(`attribute: ${e.outerHTML.slice(0, 120)}`)
      if (e.shadowRoot) walk(e.shadowRoot)
      for (const n of e.childNodes) {
        if (n.nodeType !== 3 || e.closest("code")) continue  // code is cut into coloured words
        const text = n.data.replaceAll(/[\\ufffd\\u0000\\u2060]/g, "").replace(/\\s+/g, " ")
        for (const [word] of text.matchAll(/evil\\d+/g)) {
          if (cores[word] && !cores[word].some((core) => text.includes(core))) {
            found.push(`text: ${text.slice(0, 120)} in ${e.parentElement?.outerHTML.slice(0, 300)}`)
          }
        }
      }
    }
  }
  walk(document)
  return found
}"""
"""Runs in the page with `cores`; returns what should be an empty list."""
