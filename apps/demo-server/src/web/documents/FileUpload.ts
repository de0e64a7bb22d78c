/** A file that is uploaded, and its state. */
import type { PathedFile } from "../api/sendFiles.ts"

/** One file. `reading`: the server has all of it. `unsent`: the server may not have it. */
export interface FileUpload extends PathedFile {
  readonly collection: string
  state:
    | "waiting"
    | "sending"
    | "reading"
    | "added"
    | "replaced"
    | "unchanged"
    | "failed"
    | "unsent"
    | "cancelled"
  sent: number
  /** Of a scan: pages that are read. */
  scan?: { readonly done: number; readonly pages: number }
  /** Why it failed or was not sent, and what to do. */
  message?: string
}
