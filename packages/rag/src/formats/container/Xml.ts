/** Reads the XML of office documents and e-books, as events or as a tree. Element names get their conventional prefixes, such as `w:`. */
import { Parser } from "htmlparser2"
import { malformed, tooLarge } from "../parsing/FormatFault.ts"

/** By name with the conventional prefix: `w:val`. */
export type Attributes = Readonly<Record<string, string>>

export interface XmlHandler {
  readonly open?: (name: string, attributes: Attributes) => void
  readonly close?: (name: string) => void
  readonly text?: (text: string) => void
}

/** No program writes elements that are nested so deep. */
const MAX_DEPTH = 2_000

/** Conventional prefixes by namespace. Transitional and strict documents have different namespaces. */
const PREFIXES: ReadonlyArray<readonly [RegExp, string]> = [
  [/\/wordprocessingml\/(?:2006\/)?main$/, "w"],
  [/\/spreadsheetml\/(?:2006\/)?main$/, "s"],
  [/\/presentationml\/(?:2006\/)?main$/, "p"],
  [/\/drawingml\/(?:2006\/)?main$/, "a"],
  [/\/drawingml\/(?:2006\/)?wordprocessingDrawing$/, "wp"],
  [/\/drawingml\/(?:2006\/)?chart$/, "c"],
  [/\/drawingml\/(?:2006\/)?diagram$/, "dgm"],
  [/\/officeDocument\/(?:2006\/)?math$/, "m"],
  [/\/officeDocument\/(?:2006\/)?relationships$/, "r"],
  [/\/package\/2006\/relationships$/, "rel"],
  [/\/markup-compatibility\/2006$/, "mc"],
  [/^urn:schemas-microsoft-com:vml$/, "v"],
  [/\/dc\/elements\/1\.1\/$/, "dc"]
]

type Decoder = InstanceType<typeof TextDecoder>

/** UTF-8, or UTF-16 with a byte order mark. */
const decoderFor = ([first, second]: Uint8Array): Decoder =>
  new TextDecoder(
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8"
  )

/**
 * Reads a part to its end.
 *
 * **Details.** Declarations are ignored: documents cannot define entities or refer to files. A part that is cut short is read
 * up to there.
 */
export const readXml = async (chunks: AsyncIterable<Uint8Array>, handler: XmlHandler): Promise<void> => {
  const prefixes = new Map<string, string>()
  let isConventional = true
  let depth = 0
  const rename = (name: string, attribute: boolean): string => {
    const colon = name.indexOf(":")
    if (colon === -1) return attribute ? name : `${prefixes.get("") ?? ""}${name}`
    const prefix = prefixes.get(name.slice(0, colon))
    return prefix === undefined ? name : prefix + name.slice(colon + 1)
  }
  const declare = (attributes: Attributes): void => {
    for (const [name, uri] of Object.entries(attributes)) {
      if (!name.startsWith("xmlns")) continue
      const prefix = name.slice(6)
      const known = PREFIXES.find(([pattern]) => pattern.test(uri))?.[1]
      if (known === undefined) prefixes.delete(prefix)
      else prefixes.set(prefix, `${known}:`)
      const isReserved = PREFIXES.some(([, own]) => own === prefix)
      if (prefix === "" || (known !== prefix && (known !== undefined || isReserved))) isConventional = false
    }
  }
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > MAX_DEPTH) {
          throw malformed(`its elements are nested more than ${MAX_DEPTH} deep. Open it and save it again.`)
        }
        declare(attributes)
        if (isConventional) handler.open?.(name, attributes)
        else {
          const renamed = Object.entries(attributes).map(([key, value]) => [rename(key, true), value])
          handler.open?.(rename(name, false), Object.fromEntries(renamed))
        }
      },
      ontext: (text) => handler.text?.(text),
      onclosetag(name) {
        depth--
        handler.close?.(isConventional ? name : rename(name, false))
      }
    },
    { xmlMode: true, decodeEntities: true }
  )
  let decoder: Decoder | undefined
  for await (const chunk of chunks) {
    decoder ??= decoderFor(chunk)
    parser.write(decoder.decode(chunk, { stream: true }))
  }
  parser.end(decoder?.decode())
}

/** Elements of one tree. */
const MAX_ELEMENTS = 1_000_000

export interface XmlElement {
  readonly name: string
  readonly attributes: Attributes
  readonly children: ReadonlyArray<XmlElement>
  /** Its own text, without that of its children. */
  readonly text: string
}

/** Reads a part as a tree: the element around its root. For parts that are small in every real document. */
export const readTree = async (chunks: AsyncIterable<Uint8Array>): Promise<XmlElement> => {
  const top = { name: "", attributes: {}, children: new Array<XmlElement>(), text: "" }
  const open = [top]
  let count = 0
  await readXml(chunks, {
    open(name, attributes) {
      if (++count > MAX_ELEMENTS) throw tooLarge(`one of its parts has more than ${MAX_ELEMENTS} elements`)
      const element = { name, attributes, children: [], text: "" }
      open.at(-1)!.children.push(element)
      open.push(element)
    },
    text: (text) => void (open.at(-1)!.text += text),
    close: () => void open.pop()
  })
  return top
}

/** The outermost elements of these names within an element. Does not look into `skipped` ones. */
export const findAll = (
  within: XmlElement | undefined,
  names: ReadonlyArray<string>,
  skipped?: ReadonlySet<string>
): ReadonlyArray<XmlElement> => {
  const found: Array<XmlElement> = []
  const waiting = within?.children.toReversed() ?? []
  for (let element = waiting.pop(); element !== undefined; element = waiting.pop()) {
    if (skipped?.has(element.name)) continue
    if (names.includes(element.name)) found.push(element)
    else for (const child of element.children.toReversed()) waiting.push(child)
  }
  return found
}

/** The `w:val` at a path of children: the first of each name. */
export const valueAt = (element: XmlElement, ...path: ReadonlyArray<string>): string | undefined =>
  path.reduce<XmlElement | undefined>(
    (own, name) => own?.children.find((child) => child.name === name),
    element
  )?.attributes["w:val"]

/** The value of an on/off element. The default is on. */
export const isOn = (attributes: Attributes): boolean =>
  !/^(?:0|false|off|none)$/.test(attributes["w:val"] ?? "")
