/** The whole page takes files that are dropped on it. */
import { useEffect, useState } from "preact/hooks"
import { droppedFiles } from "../documents/droppedFiles.ts"
import { go } from "../page/route.ts"
import { upload } from "../documents/uploads.ts"

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false

export const DropZone = () => {
  const [over, setOver] = useState(false)
  useEffect(() => {
    const stop = new AbortController()
    const listen = (type: "dragenter" | "dragover" | "dragleave" | "drop", on: (event: DragEvent) => void) =>
      window.addEventListener(
        type,
        (event) => {
          if (!hasFiles(event)) return
          event.preventDefault()
          on(event)
        },
        { signal: stop.signal }
      )
    listen("dragenter", () => setOver(true))
    listen("dragover", () => setOver(true))
    // Leaving an element for another is no leaving; leaving the window has nothing it goes to.
    listen("dragleave", (event) => event.relatedTarget === null && setOver(false))
    listen("drop", async (event) => {
      setOver(false)
      if (event.dataTransfer === null) return
      const files = await droppedFiles(event.dataTransfer)
      upload(files)
      if (files.length > 0) go("#documents")
    })
    return () => stop.abort()
  }, [])
  return over ? (
    <div class="drop" aria-hidden="true">
      <p>Let go, and the library takes them in.</p>
    </div>
  ) : null
}
