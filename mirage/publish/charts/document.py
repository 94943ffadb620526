"""One HTML file that opens anywhere, without the explorer and without a network: a title, sections, charts, facts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from mirage.publish.charts.palette import FONT, ink

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 {font}; color: {text}; background: {ground}; max-width: 68rem; margin: 2rem auto;
  padding: 0 1rem; }}
h1, h2 {{ font-weight: 600; line-height: 1.2; }}
p, dl {{ max-width: 75ch; }}
dt {{ font-weight: 600; }} dd {{ margin: 0 0 .5rem; overflow-wrap: anywhere; }}
div.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .75rem; border-bottom: 1px solid {line}; text-align: left; }}
th {{ color: {muted}; font-weight: 500; }}
.number {{ text-align: right; white-space: nowrap; }}
</style>
<script>{plotly}</script>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def document(title: str, body: str) -> str:
    """Return a complete HTML file with Plotly embedded (about 5 MB).

    Args:
        title: heading, plain text; it is escaped.
        body: HTML made of the functions here and of text that is escaped already.
    """
    from plotly.offline import get_plotlyjs

    colors = ink("light")
    return _PAGE.format(
        title=escape(title),
        font=FONT,
        text=colors.text,
        ground=colors.ground,
        line=colors.line,
        muted=colors.muted,
        # A closing tag inside a script ends it, whatever the script means by it.
        plotly=get_plotlyjs().replace("</script", "<\\/script"),
        body=body,
    )


def chart_html(n: int, head: str, figure: Mapping[str, Any]) -> str:
    """Return a figure under its heading as HTML; `n` makes its id unique in the file."""
    # Inside a script only this sign could end it or begin a comment.
    drawn = json.dumps(figure, ensure_ascii=True).replace("<", "\\u003c")
    return (
        f'<h2>{escape(head)}</h2>\n<div class="wide"><div id="chart{n}" role="img" aria-label="{escape(head)}"></div>'
        f"</div>\n<script>{{ const f = {drawn};\n"
        f'Plotly.newPlot("chart{n}", f.data, f.layout, {{displaylogo: false, responsive: true}}) }}</script>'
    )


def facts(values: Mapping[str, Any]) -> str:
    """Return names and values as an escaped HTML list; `nothing` if there are none."""
    lines = (f"<dt>{escape(str(key))}</dt><dd>{escape(_fact(value))}</dd>" for key, value in values.items())
    return f"<dl>{''.join(lines) or '<dd>nothing</dd>'}</dl>"


def _fact(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
