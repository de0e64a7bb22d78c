/** Writes small PDFs in which the position of every character is known. */

export interface Mark {
  readonly text: string
  /** Points from the left and bottom edge of the media box. */
  readonly x: number
  readonly y: number
  readonly size?: number
  readonly font?: "Helvetica" | "Helvetica-Bold" | "Courier" | "STSong-Light"
  /** Degrees counter-clockwise. */
  readonly turned?: 90
  /** Its marked content id. `draw` may mark content by `/P << /MCID 7 >> BDC … EMC`. */
  readonly content?: number
}

/** A structure element of a page. Numbers among its children are marked content ids. */
export interface Tag {
  readonly type: string
  readonly alt?: string
  readonly columns?: number
  readonly rows?: number
  readonly children?: ReadonlyArray<Tag | number>
}

export interface PdfPage {
  readonly marks: ReadonlyArray<Mark>
  readonly rotate?: 0 | 90 | 180 | 270
  readonly cropBox?: readonly [number, number, number, number]
  /** Operators of a content stream, before the marks; `/I Do` paints an image of one pixel, `/X Do` the form. */
  readonly draw?: string
  /** An image that `/P Do` paints: entries of its dictionary, and its bytes in hexadecimal. */
  readonly picture?: { readonly entries: string; readonly hex: string }
  /** Operators of a form XObject with a matrix of factor 2. `/X Do` in it draws itself. */
  readonly form?: string
  /** Paints one image over the page, as in a scan. */
  readonly image?: boolean
  /** Refers to an object that does not exist. */
  readonly broken?: boolean
  /** The structure tags of the page. */
  readonly tags?: ReadonlyArray<Tag>
}

const FONTS = ["Helvetica", "Helvetica-Bold", "Courier", "STSong-Light"] as const

const show = ({ content, font = "Helvetica", size = 10, text, turned, x, y }: Mark): string => {
  const string =
    font === "STSong-Light"
      ? `<${[...text].map((c) => c.charCodeAt(0).toString(16).padStart(4, "0")).join("")}>`
      : `(${text.replace(/[\\()]/g, "\\$&")})`
  const matrix = turned === 90 ? "0 1 -1 0" : "1 0 0 1"
  const shown = `BT /F${FONTS.indexOf(font)} ${size} Tf ${matrix} ${x} ${y} Tm ${string} Tj ET`
  return content === undefined ? shown : `/P << /MCID ${content} >> BDC ${shown} EMC`
}

/** A PDF of A4 pages. Characters are ASCII, or any of the Basic Multilingual Plane in STSong-Light. */
export const writePdf = (pages: ReadonlyArray<PdfPage>, title?: string): Uint8Array => {
  const objects: Array<string> = []
  const add = (body: string): number => objects.push(body)
  add("<< /Type /Catalog /Pages 2 0 R >>")
  add("")
  const fonts = FONTS.map((name) =>
    name === "STSong-Light"
      ? add(
          `<< /Type /Font /Subtype /Type0 /BaseFont /${name} /Encoding /UniGB-UCS2-H /DescendantFonts [<< /Type /Font ` +
            `/Subtype /CIDFontType0 /BaseFont /${name} /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> /DW 1000 >>] >>`
        )
      : add(`<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`)
  )
  const image = add(
    "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>\nstream\nx\nendstream"
  )
  const resources = (form?: number, more = ""): string =>
    `<< /Font << ${fonts.map((id, i) => `/F${i} ${id} 0 R`).join(" ")} >> /XObject << /I ${image} 0 R ${form === undefined ? "" : `/X ${form} 0 R`} ${more} >> >>`
  const kids = pages.map((page, number) => {
    if (page.broken === true) return 9999
    const content = [
      page.draw ?? "",
      ...page.marks.map(show),
      page.image === true ? "q 595 0 0 842 0 0 cm /I Do Q" : ""
    ].join("\n")
    const picture =
      page.picture === undefined
        ? ""
        : `/P ${add(
            `<< /Type /XObject /Subtype /Image /BitsPerComponent 8 ${page.picture.entries} /Length ${page.picture.hex.length + 1} >>\nstream\n${page.picture.hex}>\nendstream`
          )} 0 R`
    const itself = objects.length + 1
    const form =
      page.form === undefined
        ? undefined
        : add(
            `<< /Type /XObject /Subtype /Form /BBox [0 0 595 842] /Matrix [2 0 0 2 0 0] /Resources ${resources(itself)} /Length ${page.form.length} >>\nstream\n${page.form}\nendstream`
          )
    const stream = add(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`)
    const crop = page.cropBox === undefined ? "" : `/CropBox [${page.cropBox.join(" ")}]`
    return add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] ${crop} /Rotate ${page.rotate ?? 0} /StructParents ${number} /Resources ${resources(form, picture)} /Contents ${stream} 0 R >>`
    )
  })
  if (pages.some(({ tags }) => tags !== undefined)) {
    const root = add("")
    const document = add("")
    const parents = pages.map(({ tags = [] }, number) => {
      const owners: Array<string> = []
      const element = (tag: Tag, parent: number): number => {
        const { alt, children = [], columns = 1, rows = 1, type } = tag
        const own = add("")
        const held = children.map((child) => {
          if (typeof child !== "number") return `${element(child, own)} 0 R`
          owners[child] = `${own} 0 R`
          return child
        })
        const spans = columns * rows > 1 ? `/A << /O /Table /ColSpan ${columns} /RowSpan ${rows} >>` : ""
        const said = alt === undefined ? "" : `/Alt (${alt})`
        objects[own - 1] =
          `<< /Type /StructElem /S /${type} /P ${parent} 0 R /Pg ${kids[number]} 0 R ${said} ${spans} /K [${held.join(" ")}] >>`
        return own
      }
      const own = tags.map((tag) => element(tag, document))
      return { own, entry: `${number} [${Array.from(owners, (one = "null") => one).join(" ")}]` }
    })
    objects[document - 1] =
      `<< /Type /StructElem /S /Document /P ${root} 0 R /K [${parents.flatMap(({ own }) => own.map((id) => `${id} 0 R`)).join(" ")}] >>`
    objects[root - 1] =
      `<< /Type /StructTreeRoot /K [${document} 0 R] /ParentTree << /Nums [${parents.map(({ entry }) => entry).join(" ")}] >> >>`
    objects[0] = `<< /Type /Catalog /Pages 2 0 R /MarkInfo << /Marked true >> /StructTreeRoot ${root} 0 R >>`
  }
  objects[1] = `<< /Type /Pages /Count ${pages.length} /Kids [${kids.map((id) => `${id} 0 R`).join(" ")}] >>`
  const info = title === undefined ? "" : `/Info ${add(`<< /Title (${title}) >>`)} 0 R`

  let file = "%PDF-1.7\n"
  const offsets = objects.map((body, index) => {
    const offset = file.length
    file += `${index + 1} 0 obj\n${body}\nendobj\n`
    return offset
  })
  const xref = file.length
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("")
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${info} >>\nstartxref\n${xref}\n%%EOF\n`
  return new TextEncoder().encode(file)
}

/** Lines of text from (x, y) downwards. */
export const column = (x: number, y: number, lines: ReadonlyArray<string>, size = 10): ReadonlyArray<Mark> =>
  lines.map((text, index) => ({ text, x, y: y - index * size * 1.2, size }))
