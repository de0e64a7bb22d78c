/** Parses presentations: PowerPoint and OpenDocument. */
import { officeFormat, openOffice, readTitle } from "../container/OfficeFile.ts"
import type { ZipContainer } from "../container/ZipContainer.ts"
import { readOpenDocument } from "../odt/OpenDocumentBody.ts"
import { joinDocuments } from "../parsing/JoinDocuments.ts"
import { readPptx } from "./Pptx.ts"
import { Slide } from "./Slide.ts"

/** Titles that programs fill in automatically. */
const NO_TITLE = /^(?:powerpoint[ -].*|presentation\d*|untitled)?$/i

const readOdp = async (from: ZipContainer) => {
  const slides: Array<Slide | undefined> = []
  await readOpenDocument(from, new Slide().out, {
    open: () => {
      const slide = new Slide()
      slides.push(slide)
      return slide.out
    },
    hidden: () => void slides.push(undefined),
    title: (text) => {
      const slide = slides.at(-1)
      if (slide !== undefined) slide.title = `${slide.title} ${text}`.trim()
    }
  })
  return { slides, title: await readTitle(from, "meta.xml") }
}

const readSlides = async (bytes: Uint8Array) => {
  const from = await openOffice(
    bytes,
    "this is an old PowerPoint file (.ppt). Save it in PowerPoint as .pptx."
  )
  const { slides, title } = await (from.has("content.xml") ? readOdp(from) : readPptx(from))
  const shown = slides.flatMap((slide, at) => (slide === undefined ? [] : [slide.part(at + 1)]))
  const faults = slides.flatMap((slide, at) =>
    slide === undefined ? [{ message: `Slide ${at + 1} is hidden, and was left out.` }] : []
  )
  const hasTitle = !NO_TITLE.test(title)
  const first = slides.find((slide) => slide !== undefined && slide.title !== "")?.title ?? ""
  return { from, draft: joinDocuments({ format: "slides", title: hasTitle ? title : first, faults }, shown) }
}

/**
 * The slides of a presentation, each a section with its title or number, its speaker's notes at the end. Hidden slides, and
 * what each slide repeats, are left out.
 */
export const slidesFormat = officeFormat(
  { id: "slides", label: "Slides", extensions: ["pptx", "odp"], mediaTypes: ["application/octet-stream"] },
  readSlides
)
