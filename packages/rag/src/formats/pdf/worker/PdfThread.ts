/**
 * Where a thread that reads PDFs begins; nothing imports it.
 *
 * Node keeps what it compiles, in its own folder for that: from TypeScript a later thread loads in 30 ms in place of
 * 150. So the modules come after it is told so.
 */
import { enableCompileCache } from "node:module"

enableCompileCache()
await import("./PdfWorker.ts")
