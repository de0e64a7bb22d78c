"""
The text of documents by Python's standard library alone: the reference for `measure.ts`.

    python3 scripts/formats/reference.py DIR > reference.jsonl

One line for each file of DIR: its name and the paragraphs that a reader sees, or why there are none. Formatted numbers are
left out, since a cell may be shown in several ways.
"""

import csv
import email
import email.policy
import html.parser
import io
import json
import mailbox
import pathlib
import posixpath
import re
import sys
import urllib.parse
import zipfile
from xml.etree import ElementTree

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
STRICT = (b"http://purl.oclc.org/ooxml/", b"http://schemas.openxmlformats.org/")


def local(element):
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def attribute(element, name):
    return next((value for key, value in element.attrib.items() if key.rsplit("}", 1)[-1] == name), None)


class Package:
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path)
        self.names = {name.lower(): name for name in self.zip.namelist()}

    def xml(self, name):
        if name is None or name.lower() not in self.names:
            return None
        data = self.zip.read(self.names[name.lower()])
        if STRICT[0] in data:
            for part in ("wordprocessingml", "drawingml", "presentationml", "spreadsheetml"):
                data = data.replace(STRICT[0] + part.encode() + b"/", STRICT[1] + part.encode() + b"/2006/")
            data = data.replace(STRICT[0] + b"officeDocument/", STRICT[1] + b"officeDocument/2006/")
        return ElementTree.fromstring(data)

    def relations(self, name):
        folder, base = posixpath.split(name)
        tree = self.xml(posixpath.join(folder, "_rels", base + ".rels"))
        found = {}
        for one in tree if tree is not None else []:
            target = one.get("Target", "")
            whole = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            found[one.get("Id")] = (one.get("Type", "").rsplit("/", 1)[-1], whole, one.get("TargetMode"))
        return found

    def target(self, name, kind):
        return next((path for type_, path, mode in self.relations(name).values() if type_ == kind and mode != "External"), None)


def paragraphs_of(root, paragraph, text, space, skipped, breaks=()):
    """The texts of paragraphs. Those within a paragraph are paragraphs of their own; `breaks`, such as formulas, end one."""
    out = []

    def walk(element, open_):
        name = local(element)
        if name in skipped:
            return
        if name in breaks:
            if open_ is not None:
                open_.append("\0")
        elif name in paragraph:
            own = []
            out.append(own)
            walk_children(element, own)
        elif open_ is not None and name in text:
            open_.append(element.text or "")
        elif open_ is not None and name in space:
            open_.append(" ")
        else:
            walk_children(element, open_)

    def walk_children(element, open_):
        for child in element:
            walk(child, open_)

    walk(root, None)
    return [part for own in out for part in "".join(own).split("\0")]


WORD_SKIPPED = {"del", "moveFrom", "Fallback", "delText", "instrText", "rt", "sectPr"}


def without_hidden(root):
    """Removes hidden runs and generated tables of contents."""
    for parent in root.iter():
        for child in list(parent):
            if local(child) == "r" and (v := child.find(f"{W}rPr/{W}vanish")) is not None:
                if attribute(v, "val") not in ("0", "false"):
                    parent.remove(child)
            elif local(child) == "p" and (style := child.find(f"{W}pPr/{W}pStyle")) is not None and re.fullmatch(
                r"(?i)toc\d|tableoffigures", attribute(style, "val") or ""
            ):
                parent.remove(child)
            elif local(child) == "sdt" and any(
                "Table of Contents" == attribute(g, "val") for g in child.iter(f"{W}docPartGallery")
            ):
                parent.remove(child)
    return root


def docx(path):
    package = Package(path)
    main = package.target("", "officeDocument") or "word/document.xml"
    roots = [package.xml(main), *(package.xml(package.target(main, kind)) for kind in ("footnotes", "endnotes"))]
    out = []
    for root in roots:
        if root is not None:
            out += paragraphs_of(
                without_hidden(root), {"p"}, {"t"}, {"tab", "br", "cr"}, WORD_SKIPPED | {"pPr"}, {"oMath"}
            )
    return out


def pptx(path):
    package = Package(path)
    main = package.target("", "officeDocument") or "ppt/presentation.xml"
    relations = package.relations(main)
    out = []
    for slide in package.xml(main).iter(f"{P}sldId"):
        part = relations[slide.get(f"{R}id")][1]
        root = package.xml(part)
        if root is None or root.get("show") in ("0", "false"):
            continue
        out += slide_text(root)
        notes = package.xml(package.target(part, "notesSlide"))
        out += slide_text(notes, notes=True) if notes is not None else []
        for type_, target, mode in package.relations(part).values():
            if type_ == "diagramData" and mode != "External" and (data := package.xml(target)) is not None:
                out += paragraphs_of(data, {"p"}, {"t"}, {"br", "tab"}, set())
    return out


def slide_text(root, notes=False):
    """The paragraphs of shapes. Of notes only the body; numbers, dates and footers of slides are not text."""
    for parent in root.iter():
        for child in list(parent):
            if local(child) != "sp":
                continue
            place = child.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
            kind = place.get("type") if place is not None else None
            if kind in ("sldNum", "dt", "ftr", "hdr") or (notes and kind != "body"):
                parent.remove(child)
    return paragraphs_of(root, {"p"}, {"t"}, {"br", "tab"}, {"Fallback", "pPr", "rPr"})


def xlsx(path):
    package = Package(path)
    main = package.target("", "officeDocument") or "xl/workbook.xml"
    book = package.xml(main)
    relations = package.relations(main)
    strings = package.xml(package.target(main, "sharedStrings"))
    shared = []
    for item in strings if strings is not None else []:
        shared.append("".join(shown_runs(item)))
    styles = package.xml(package.target(main, "styles"))
    general = set()
    if styles is not None:
        for xfs in styles:
            if local(xfs) == "cellXfs":
                general = {str(at) for at, xf in enumerate(xfs) if xf.get("numFmtId", "0") == "0"}
    out = []
    for sheet in (one for one in book.iter() if local(one) == "sheet"):
        if sheet.get("state", "visible") != "visible":
            continue
        kind, part, _ = relations.get(sheet.get(f"{R}id"), ("", None, None))
        root = package.xml(part)
        if root is None or kind != "worksheet":
            continue
        for cell in (one for one in root.iter() if local(one) == "c"):
            value = next((one.text or "" for one in cell if local(one) == "v"), "")
            type_ = cell.get("t", "n")
            if type_ == "s":
                out.append(shared[int(value)] if value.isdigit() and int(value) < len(shared) else "")
            elif type_ == "inlineStr":
                out += ["".join(shown_runs(one)) for one in cell if local(one) == "is"]
            elif type_ in ("str", "e"):
                out.append(value)
            elif type_ == "n" and re.fullmatch(r"-?\d{1,10}", value) and cell.get("s", "0") in general:
                out.append(value)
    return out


def shown_runs(item):
    for child in item:
        if local(child) == "t":
            yield child.text or ""
        elif local(child) == "r":
            yield from (one.text or "" for one in child if local(one) == "t")


INDEXES = {
    "table-of-content", "alphabetical-index", "illustration-index", "table-index", "object-index", "user-index",
    "bibliography-source",
}
OPEN_SKIPPED = {"tracked-changes", "forms", "event-listeners", "page-number", "page-count", "desc", "title", "annotation"}


def open_document(path, body):
    package = Package(path)
    tree = package.xml("content.xml")
    main = next((one for one in tree.iter() if local(one) == body), None)
    if main is None:
        raise ValueError("no content")
    hidden = set()
    for style in (one for one in tree.iter() if local(one) == "style"):
        for properties in style:
            if attribute(properties, "display") == "false" and local(properties) == "table-properties":
                hidden.add(attribute(style, "name"))
            if attribute(properties, "visibility") == "hidden" and local(properties) == "drawing-page-properties":
                hidden.add(attribute(style, "name"))
    for parent in list(main.iter()):
        for child in list(parent):
            if local(child) in ("table", "page") and attribute(child, "style-name") in hidden:
                parent.remove(child)
    return open_paragraphs(main)


def open_paragraphs(root):
    out = []

    def inline(element, own):
        own.append(element.text or "")
        for child in element:
            name = local(child)
            if name in ("s", "tab", "line-break"):
                own.append(" ")
            elif name == "note":
                for part in child:
                    if local(part) == "note-body":
                        walk(part)
            elif name in ("frame", "custom-shape", "text-box", "g", "rect"):
                walk(child)
            elif name == "ruby":
                for base in child:
                    if local(base) == "ruby-base":
                        inline(base, own)
            elif name not in OPEN_SKIPPED:
                inline(child, own)
            own.append(child.tail or "")

    def walk(element):
        name = local(element)
        if name in OPEN_SKIPPED or name in INDEXES:
            return
        if name in ("p", "h"):
            own = []
            inline(element, own)
            out.append("".join(own))
        else:
            for child in element:
                walk(child)

    walk(root)
    return out


class Html(html.parser.HTMLParser):
    """The text of a page by blocks."""

    HIDDEN = {"script", "style", "template", "title", "noscript", "svg", "math", "head"}
    VOID = set("area base br col embed hr img input link meta source track wbr".split())
    INLINE = set(
        "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr".split()
    )

    def __init__(self):
        super().__init__()
        self.out = [[]]
        self.hidden = 0
        self.styled = []

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            style = dict(attributes).get("style") or ""
            self.styled.append((tag, bool(re.search(r"display\s*:\s*none|visibility\s*:\s*hidden", style))))
        if tag in self.HIDDEN:
            self.hidden += 1
        elif tag == "body":
            self.hidden = 0
        if tag not in self.INLINE:
            self.out.append([])

    def handle_startendtag(self, tag, attributes):
        if tag not in self.INLINE:
            self.out.append([])

    def handle_endtag(self, tag):
        at = next((i for i in reversed(range(len(self.styled))) if self.styled[i][0] == tag), None)
        if at is not None:
            del self.styled[at:]
        if tag in self.HIDDEN and self.hidden:
            self.hidden -= 1
        if tag not in self.INLINE:
            self.out.append([])

    def handle_data(self, data):
        if not self.hidden and not any(hidden for _, hidden in self.styled):
            self.out[-1].append(data)


def page(text):
    parser = Html()
    parser.feed(text)
    parser.close()
    return ["".join(own) for own in parser.out]


def epub(path):
    package = Package(path)
    container = package.xml("META-INF/container.xml")
    root = next(one.get("full-path") for one in container.iter() if local(one) == "rootfile")
    book = package.xml(root)
    items = {one.get("id"): one for one in book.iter() if local(one) == "item"}
    out = []
    for ref in (one for one in book.iter() if local(one) == "itemref"):
        item = items.get(ref.get("idref"))
        if item is None or "nav" in (item.get("properties") or "").split():
            continue
        name = posixpath.normpath(posixpath.join(posixpath.dirname(root), urllib.parse.unquote(item.get("href"))))
        if name.lower() in package.names:
            out += page(package.zip.read(package.names[name.lower()]).decode("utf-8", "replace"))
    return out


def message_text(message):
    out = [str(message.get("subject", ""))]
    bodies = {"text/html": [], "text/plain": []}
    body = message.get_body(("html", "plain"))
    for part in message.walk() if body is None else [body]:
        kind = part.get_content_type()
        if kind in bodies:
            bodies[kind].append(content(part))
    pages = [line for text in bodies["text/html"] for line in page(text)]
    out += pages or [line for text in bodies["text/plain"] for line in re.split(r"\n\s*\n", text)]
    for part in message.iter_attachments() if message.is_multipart() else []:
        if part is body:
            continue
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload(0) if part.is_multipart() else None
            out += message_text(inner) if inner is not None else []
        elif part.get_content_type() == "text/plain" and str(part.get_filename() or "").endswith((".txt", ".md")):
            out += re.split(r"\n\s*\n", content(part))
    return out


def content(part):
    try:
        return part.get_content()
    except (LookupError, ValueError, KeyError):
        return (part.get_payload(decode=True) or b"").decode("latin-1")


def mail(path):
    data = pathlib.Path(path).read_bytes()
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.decode("utf-16").encode()
    if data.startswith(b"From "):
        box = mailbox.mbox(path, factory=lambda file: email.message_from_binary_file(file, policy=email.policy.default))
        return [line for message in box for line in message_text(message)]
    return message_text(email.message_from_bytes(data, policy=email.policy.default))


def markdown(text):
    """Markdown without the addresses of links and pictures, definitions, comments and tags."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"(?m)^\s*\[[^\]]+\]:\s+\S+.*$", "", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\]\((?:[^()]|\([^()]*\))*\)", "]", text)
    text = re.sub(r"\]\[[^\]]*\]", "]", text)
    text = re.sub(r"</?[a-zA-Z][^>]*>", " ", text).replace("`", "")
    text = re.sub(r"(?m)^\s*(?:```|~~~).*$", "", text)
    return [html.unescape(part) for part in re.split(r"\n\s*\n", text)]


def ipynb(path):
    book = json.loads(pathlib.Path(path).read_text("utf-8"))
    cells = book.get("cells") or [cell for sheet in book.get("worksheets", []) for cell in sheet["cells"]]
    joined = lambda value: value if isinstance(value, str) else "".join(value or [])
    out = []
    for cell in cells:
        source = joined(cell.get("source", cell.get("input", "")))
        out += markdown(source) if cell["cell_type"] in ("markdown", "heading") else source.split("\n")
        for output in cell.get("outputs", []):
            if output.get("output_type") == "stream":
                out += re.sub(r"\x1b\[[\d;]*m", "", joined(output.get("text"))).split("\n")
            data = output.get("data", {})
            if "text/html" not in data and not any(kind.startswith("image/") for kind in data):
                out += re.sub(r"\x1b\[[\d;]*m", "", joined(data.get("text/plain", ""))).split("\n")
    return out


def text_of(path):
    data = pathlib.Path(path).read_bytes()
    for encoding in ("utf-8-sig", "utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252", "latin-1"):
        try:
            return data.decode(encoding)
        except UnicodeError:
            pass
    return data.decode("latin-1")


def subtitles(path):
    out = []
    for block in re.split(r"\n[ \t]*\n", text_of(path).replace("\r\n", "\n").replace("\r", "\n")):
        lines = block.split("\n")
        at = next((i for i, line in enumerate(lines) if "-->" in line), None)
        if at is not None:
            text = re.sub(r"<v(?:\.[^\s>]*)?\s+([^>]+)>", r"\1: ", " ".join(lines[at + 1 :]))
            out.append("".join(page(re.sub(r"<[\d:.]+>|\{\\[^}]*\}", "", text))))
    return out


def table(path):
    csv.field_size_limit(10_000_000)
    text = text_of(path)
    delimiter = "\t"
    if not str(path).endswith(".tsv"):
        delimiter = csv.Sniffer().sniff(text[:4096], ",;\t|").delimiter
    return [cell for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) for cell in row]


READERS = {
    "docx": docx, "pptx": pptx, "xlsx": xlsx, "xlsm": xlsx, "epub": epub, "eml": mail, "mbox": mail, "ipynb": ipynb,
    "srt": subtitles, "vtt": subtitles, "csv": table, "tsv": table,
    "odt": lambda path: open_document(path, "text"),
    "ods": lambda path: open_document(path, "spreadsheet"),
    "odp": lambda path: open_document(path, "presentation"),
}

for file in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    try:
        paragraphs = [" ".join(text.split()) for text in READERS[file.suffix[1:].lower()](file)]
        row = {"file": file.name, "paragraphs": [text for text in paragraphs if text]}
    except Exception as error:
        row = {"file": file.name, "unread": f"{type(error).__name__}: {error}"}
    print(json.dumps(row, ensure_ascii=False))
