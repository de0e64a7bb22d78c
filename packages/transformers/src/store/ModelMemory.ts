/** Whether a chat model fits into memory. */
import { freemem, totalmem } from "node:os"

/** Memory of a loaded GGUF file for each of its bytes: one of 1.12 GB took 2.2 GB, as llama.cpp reorders the weights. */
const MEMORY_PER_BYTE = 2

const inGigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`

/** What can be used without swapping. macOS counts memory that it would give as used. */
const availableMemory = (): number =>
  process.platform === "darwin" ? totalmem() / 2 : (process.availableMemory?.() ?? freemem())

/** Why a GGUF file of this size cannot be loaded now, and what to do. Undefined if it can. */
export const memoryShortage = (bytes: number): string | undefined => {
  const needed = MEMORY_PER_BYTE * bytes
  const available = availableMemory()
  if (needed <= available) return undefined
  return `It takes about ${inGigabytes(needed)} of memory, and ${inGigabytes(available)} is available on this machine. Close other programs, or use a set without a chat model, such as small.`
}
