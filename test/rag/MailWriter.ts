/** Writes mails and e-books. */
import { zip, type ZipPart } from "./ZipWriter.ts"

export interface MailAttachment {
  readonly name: string
  readonly bytes: Uint8Array
  /** The picture in the text. */
  readonly inline?: true
}

const encoded = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString("base64").replace(/.{76}/g, "$&\r\n")

/** A mail as programs send it, with lines that end with CR LF. */
export const mail = (
  headers: Readonly<Record<string, string>>,
  body: { readonly text?: string; readonly html?: string },
  attachments: ReadonlyArray<MailAttachment> = []
): string => {
  const type = body.html === undefined ? "text/plain" : "text/html"
  const parts = [
    `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${encoded(new TextEncoder().encode(body.html ?? body.text))}`,
    ...attachments.map(
      ({ bytes, inline, name }) =>
        `Content-Type: application/octet-stream; name="${name}"\r\nContent-Disposition: ${inline ? "inline" : "attachment"}; filename="${name}"\r\n${inline ? `Content-ID: <${name}>\r\n` : ""}Content-Transfer-Encoding: base64\r\n\r\n${encoded(bytes)}`
    )
  ]
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${head.join("")}MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="=part="\r\n\r\n${parts.map((part) => `--=part=\r\n${part}\r\n`).join("")}--=part=--\r\n`
}

const page = (body: string): string =>
  `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>${body}</body></html>`

/** An e-book in `OEBPS/`. `chapters` are bodies by file name, `contents` titles by file name. */
export const epubParts = (
  title: string,
  chapters: Readonly<Record<string, string>>,
  contents: Readonly<Record<string, string>> = {},
  more: ReadonlyArray<ZipPart> = []
): ReadonlyArray<ZipPart> => {
  const names = Object.keys(chapters)
  const links = Object.entries(contents).map(
    ([name, text]) => `<li><a href="text/${name}#start"><span>${text}</span></a></li>`
  )
  return [
    { name: "mimetype", content: "application/epub+zip" },
    {
      name: "META-INF/container.xml",
      content: `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`
    },
    {
      name: "OEBPS/book.opf",
      content: `<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${title}</dc:title></metadata><manifest><item id="nav" href="nav.xhtml" properties="nav"/>${names.map((name, i) => `<item id="c${i}" href="text/${encodeURIComponent(name)}"/>`).join("")}</manifest><spine><itemref idref="nav"/>${names.map((_, i) => `<itemref idref="c${i}"/>`).join("")}</spine></package>`
    },
    { name: "OEBPS/nav.xhtml", content: page(`<nav><ol>${links.join("")}</ol></nav>`) },
    ...names.map((name) => ({ name: `OEBPS/text/${name}`, content: page(chapters[name]!) })),
    ...more
  ]
}

export const epub = (...parts: Parameters<typeof epubParts>): Uint8Array => zip(epubParts(...parts))
