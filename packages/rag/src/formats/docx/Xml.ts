/** Parts of a Word document as a stream of elements, named as usual whatever prefixes they have. */
import { Parser } from "htmlparser2"
import { DocxFault } from "./DocxFault.ts"

/** By name with the usual prefix: `w:val`. */
export type Attributes = Readonly<Record<string, string>>

export interface XmlHandler {
  readonly open?: (name: string, attributes: Attributes) => void
  readonly close?: (name: string) => void
  readonly text?: (text: string) => void
}

/** Nothing that Word writes is nested so deep. */
const DEEPEST = 2_000

/** Transitional and strict documents have different names for the same things. */
const PREFIXES: ReadonlyArray<readonly [RegExp, string]> = [
  [/\/wordprocessingml\/(?:2006\/)?main$/, "w"],
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

/** What the bytes of a part are written in: UTF-8, or UTF-16 with a byte order mark. */
const decoderFor = (first: Uint8Array): Decoder =>
  new TextDecoder(
    first[0] === 0xff && first[1] === 0xfe
      ? "utf-16le"
      : first[0] === 0xfe && first[1] === 0xff
        ? "utf-16be"
        : "utf-8"
  )

/**
 * Reads a part to its end.
 *
 * **Details.** Declarations are not looked at: no entity is defined by a document, and nothing outside it is opened. A
 * part that ends early is read as far as it goes.
 */
export const readXml = async (pieces: AsyncIterable<Uint8Array>, handler: XmlHandler): Promise<void> => {
  const prefixes = new Map<string, string>()
  let usual = true
  let depth = 0
  const named = (name: string, attribute: boolean): string => {
    const colon = name.indexOf(":")
    if (colon === -1) return attribute ? name : `${prefixes.get("") ?? ""}${name}`
    const prefix = prefixes.get(name.slice(0, colon))
    return prefix === undefined ? name : prefix + name.slice(colon + 1)
  }
  const declare = (attributes: Attributes): void => {
    for (const [name, uri] of Object.entries(attributes)) {
      if (!name.startsWith("xmlns")) continue
      const prefix = name.slice(6)
      const due = PREFIXES.find(([pattern]) => pattern.test(uri))?.[1]
      if (due === undefined) prefixes.delete(prefix)
      else prefixes.set(prefix, `${due}:`)
      if (due !== prefix && (due !== undefined || PREFIXES.some(([, usual]) => usual === prefix)))
        usual = false
      if (prefix === "") usual = false
    }
  }
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > DEEPEST) {
          throw new DocxFault(
            "Malformed",
            `its elements are nested more than ${DEEPEST} deep. Open it in Word and save it again.`
          )
        }
        declare(attributes)
        if (usual) handler.open?.(name, attributes)
        else {
          const renamed = Object.entries(attributes).map(([key, value]) => [named(key, true), value] as const)
          handler.open?.(named(name, false), Object.fromEntries(renamed))
        }
      },
      ontext: (text) => handler.text?.(text),
      onclosetag(name) {
        depth--
        handler.close?.(usual ? name : named(name, false))
      }
    },
    { xmlMode: true, decodeEntities: true }
  )
  let decoder: Decoder | undefined
  for await (const piece of pieces) {
    decoder ??= decoderFor(piece)
    parser.write(decoder.decode(piece, { stream: true }))
  }
  parser.end(decoder?.decode())
}

/** What an on/off element says: on, unless it says otherwise. */
export const isOn = (attributes: Attributes): boolean =>
  !/^(?:0|false|off|none)$/.test(attributes["w:val"] ?? "")
