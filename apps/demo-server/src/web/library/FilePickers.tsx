/** Two buttons: files, or a whole folder. */
import { pickedFiles } from "../documents/droppedFiles.ts"
import { upload } from "../documents/uploads.ts"

const choose = (event: Event) => {
  const input = event.currentTarget as HTMLInputElement
  if (input.files !== null) upload(pickedFiles(input.files))
  input.value = "" // the same file may be chosen again
}

/** Every browser knows it; the types do not. */
const FOLDER = { webkitdirectory: true }

export const FilePickers = () => (
  <div class="pickers">
    <label class="button primary">
      Add files
      <input class="unseen" type="file" multiple onChange={choose} />
    </label>
    <label class="button">
      Add a folder
      <input class="unseen" type="file" {...FOLDER} onChange={choose} />
    </label>
    <p class="quiet">
      PDF, Word, Markdown, HTML, plain text, and images (PNG, JPEG, WebP). Or drop files and folders anywhere
      on the page.
    </p>
  </div>
)
