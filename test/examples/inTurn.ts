/**
 * `inTurn.ts FILE…`: runs programs in this one process, each when nothing is left to do of the one before. What each
 * prints ends with a line of its own, `END`.
 */
import { pathToFileURL } from "node:url"
import { END } from "./end.ts"

const files = process.argv.splice(2)
const next = async (): Promise<void> => {
  const file = files.shift()
  if (file !== undefined) await import(pathToFileURL(file).href)
}
process.on("beforeExit", () => {
  console.log(END)
  // A turn of its own: Node ends after `beforeExit` if nothing is scheduled, and a program may schedule nothing.
  if (files.length > 0) setImmediate(() => void next())
})
await next()
