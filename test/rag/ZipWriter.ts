/** Writes ZIP containers, valid and invalid. */
import { crc32, deflateRawSync } from "node:zlib"

export interface ZipPart {
  readonly name: string
  readonly content: string | Uint8Array
  /** A wrong size in the container. */
  readonly size?: number
  readonly flags?: number
}

const number = (value: number, bytes: 2 | 4): ReadonlyArray<number> =>
  Array.from({ length: bytes }, (_, i) => (value >>> (8 * i)) & 0xff)

const signature = (a: number, b: number): ReadonlyArray<number> => [0x50, 0x4b, a, b]

/** A container of deflated parts. */
export const zip = (parts: ReadonlyArray<ZipPart>): Uint8Array => {
  const local: Array<Uint8Array> = []
  const central: Array<Uint8Array> = []
  let at = 0
  for (const { content, flags = 0, name, size } of parts) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
    const packed = deflateRawSync(bytes)
    const path = new TextEncoder().encode(name)
    const common = [
      ...number(flags | 0x800, 2),
      ...number(8, 2),
      ...number(0, 4),
      ...number(crc32(bytes), 4),
      ...number(packed.length, 4),
      ...number(size ?? bytes.length, 4),
      ...number(path.length, 2),
      ...number(0, 2)
    ]
    const head = Uint8Array.from([...signature(3, 4), ...number(20, 2), ...common, ...path])
    central.push(
      Uint8Array.from([
        ...signature(1, 2),
        ...number(20, 2),
        ...number(20, 2),
        ...common,
        ...number(0, 2),
        ...number(0, 4),
        ...number(0, 4),
        ...number(at, 4),
        ...path
      ])
    )
    local.push(head, packed)
    at += head.length + packed.length
  }
  const directory = Buffer.concat(central)
  const end = [
    ...signature(5, 6),
    ...number(0, 4),
    ...number(parts.length, 2),
    ...number(parts.length, 2),
    ...number(directory.length, 4),
    ...number(at, 4),
    ...number(0, 2)
  ]
  return Uint8Array.from(Buffer.concat([...local, directory, Uint8Array.from(end)]))
}
