/** A slide: its title, and the text below it. */
import type { Parsed } from "../../document/Document.ts"
import { BlockWriter } from "../parsing/BlockWriter.ts"
import { withFigures } from "../parsing/Captions.ts"
import type { DocumentPart } from "../parsing/JoinDocuments.ts"

export class Slide {
  readonly out = new BlockWriter()
  title = ""

  /** The slide as a part of its document. `number` counts from 1, hidden slides included. */
  part(number: number): DocumentPart {
    const { blocks, text } = this.out.finish()
    const parsed: Parsed = withFigures({ format: "slides", title: "", text: text.toWellFormed() }, blocks)
    const heading = { level: 1, text: this.title.toWellFormed() || `Slide ${number}` }
    return { label: `slide ${number}`, heading, parsed }
  }
}
