/** Hashes that name documents, texts and files. */
import { hash } from "node:crypto"

/** SHA-256, hexadecimal. */
export const sha256 = (data: string | Uint8Array): string => hash("sha256", data)

/** A document's identifier: the first 128 bits of the hash of its path, hexadecimal. */
export const documentId = (path: string): string => sha256(path).slice(0, 32)
