/** The whole page accepts dropped files. */
import { useEffect, useState } from "preact/hooks"
import { filesOfDrop } from "../documents/files.ts"
import { uploadFiles } from "../documents/uploads.ts"
import { navigate } from "../page/route.ts"

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
    // Without a related target the pointer leaves the window, not just an element.
    listen("dragleave", (event) => event.relatedTarget === null && setOver(false))
    listen("drop", async (event) => {
      setOver(false)
      if (event.dataTransfer === null) return
      const files = await filesOfDrop(event.dataTransfer)
      uploadFiles(files)
      if (files.length > 0) navigate("#documents")
    })
    return () => stop.abort()
  }, [])
  return over ? (
    <div class="drop" aria-hidden="true">
      <p>Drop to add</p>
    </div>
  ) : null
}
