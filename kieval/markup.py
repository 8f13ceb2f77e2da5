"""Text as HTML that cannot become markup or script."""

import html

# Gradio fills HTML through templates of JavaScript and Handlebars: their signs are escaped too.
TEMPLATE_SIGNS = str.maketrans({sign: f"&#{ord(sign)};" for sign in "${}`\\"})


def escape(text):
    """A text for an element or a quoted attribute.

    >>> escape('<img onerror="alert(1)"> ${x} {{y}}')
    '&lt;img onerror=&quot;alert(1)&quot;&gt; &#36;&#123;x&#125; &#123;&#123;y&#125;&#125;'
    """
    return html.escape(str(text), quote=True).translate(TEMPLATE_SIGNS)


def breakable(name):
    """A name that may be broken at its dots and underscores.

    >>> breakable("menu.unit_price")
    'menu.<wbr>unit_<wbr>price'
    """
    return escape(name).replace("_", "_<wbr>").replace(".", ".<wbr>")


def number(value):
    """A score with three decimals, a count as it is.

    >>> number(0.76923), number(13000), number(None)
    ('0.769', '13,000', '–')
    """
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}"
