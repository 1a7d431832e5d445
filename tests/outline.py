"""What stands in an HTML page: elements, attributes, text, cells of tables; elements must close in their order."""

from html.parser import HTMLParser

VOID = ("meta", "br", "img", "link", "input", "hr", "path", "use", "rect", "image")


class Outline(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text: list[str] = []
        self.words = ""  # outside of cells
        self.rows: list[list[str]] = []
        self.comments: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif data.strip():
            self.words += data

    def handle_comment(self, data):
        self.comments.append(data)

    handle_pi = unknown_decl = handle_comment
