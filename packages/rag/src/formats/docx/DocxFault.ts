/** Why a Word document is not read: thrown while reading, turned into a `RagError` at the end. */
import type { RagReason } from "../../document/RagError.ts"

export class DocxFault extends Error {
  override readonly name = "DocxFault"
  readonly reason: RagReason

  constructor(reason: RagReason, message: string) {
    super(message)
    this.reason = reason
  }
}
