/** Writes GGUF files: metadata and tensors, as llama.cpp reads them. */

type Value = number | string | { readonly float: number } | ReadonlyArray<string> | ReadonlyArray<number>

export interface GgufTensor {
  readonly name: string
  /** The length of a row first. */
  readonly dims: ReadonlyArray<number>
  readonly values: Float32Array
}

const ALIGNMENT = 32
const [UINT32, INT32, FLOAT32, STRING, ARRAY] = [4, 5, 6, 8, 9]

const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
const u64 = (value: number) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer)
const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)])

const valueOf = (value: Value): Buffer => {
  if (typeof value === "number") return Buffer.concat([u32(UINT32), u32(value)])
  if (typeof value === "string") return Buffer.concat([u32(STRING), text(value)])
  if ("float" in value) return Buffer.concat([u32(FLOAT32), Buffer.from(Float32Array.of(value.float).buffer)])
  const items = value.map((one) => (typeof one === "string" ? text(one) : u32(one)))
  const type = typeof value[0] === "string" ? STRING : INT32
  return Buffer.concat([u32(ARRAY), u32(type), u64(items.length), ...items])
}

const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(-bytes.length & (ALIGNMENT - 1))])

export const gguf = (
  metadata: Readonly<Record<string, Value>>,
  tensors: ReadonlyArray<GgufTensor>
): Uint8Array => {
  let offset = 0
  const infos = tensors.map(({ dims, name, values }) => {
    const info = [text(name), u32(dims.length), ...dims.map(u64), u32(0), u64(offset)]
    offset += Math.ceil(values.byteLength / ALIGNMENT) * ALIGNMENT
    return Buffer.concat(info)
  })
  const entries = Object.entries(metadata).map(([key, value]) => Buffer.concat([text(key), valueOf(value)]))
  const head = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(entries.length), ...entries, ...infos]
  return Buffer.concat([
    padded(Buffer.concat(head)),
    ...tensors.map(({ values }) => padded(Buffer.from(values.buffer)))
  ])
}
