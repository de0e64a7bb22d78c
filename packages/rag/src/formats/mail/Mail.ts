/** Parses mails and mailboxes, with their attachments. */
import { Effect } from "effect"
import PostalMime, { type Address, type Attachment, type Email } from "postal-mime"
import type { Parsed, ReadFault } from "../../document/Document.ts"
import { parseHtml } from "../html/Html.ts"
import {
  type DocumentFile,
  type DocumentFormat,
  hasSignature,
  parseError
} from "../parsing/DocumentFormat.ts"
import { capFaults, type Inner, parseInnerFiles } from "../parsing/InnerFiles.ts"
import { type DocumentPart, joinDocuments } from "../parsing/JoinDocuments.ts"
import { parsePlainText } from "../text/PlainText.ts"
import { splitMailbox } from "./Mbox.ts"

/** Messages of a mailbox. */
const MAX_MESSAGES = 50_000

const SIGNATURE = /^application\/(?:pgp-(?:signature|keys)|(?:x-)?pkcs7-signature)$/

const dates = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "long",
  year: "numeric",
  timeZone: "UTC"
})

/** The day by the sender's clock: a mail of an evening in New York is of that day. */
const dateOf = ({ date, headers }: Email): string | undefined => {
  const written = headers.find(({ key }) => key === "date")?.value ?? ""
  const at = [written.replace(/(\d:\d\d)\s+(?:[+-]\d{4}|[A-Z]{1,5})\b.*/s, "$1 UTC"), date ?? ""]
    .map((text) => new Date(text))
    .find((time) => !Number.isNaN(time.getTime()))
  return at === undefined ? undefined : dates.format(at)
}

const nameOf = (address: Address): string =>
  address.group === undefined
    ? [address.name, address.address && `<${address.address}>`].filter(Boolean).join(" ")
    : `${address.name}: ${address.group.map(nameOf).join(", ")}`

/** Who wrote to whom and when, then the text: HTML if there is any, since it has tables. */
const bodyOf = (email: Email): Parsed => {
  const people = (label: string, addresses: ReadonlyArray<Address> = []) =>
    addresses.length > 0 && `${label}: ${addresses.map(nameOf).join(", ")}`
  const head = [
    people("From", email.from && [email.from]),
    people("To", email.to),
    people("Cc", email.cc),
    `Date: ${dateOf(email) ?? "unknown"}`
  ]
    .filter(Boolean)
    .join("\n")
    .toWellFormed()
  const html = email.html === undefined ? undefined : parseHtml(email.html)
  const text =
    html === undefined || html.blocks.length === 0 ? parsePlainText(email.text ?? "", "paragraph") : html
  const parts = [parsePlainText(head, "code"), { ...text, text: text.text.toWellFormed() }]
  const { locators: _, ...body } = joinDocuments(
    { format: "mail", title: "" },
    parts.map((parsed) => ({ label: "", parsed }))
  )
  return body
}

const bytesOf = (content: Attachment["content"]): Uint8Array =>
  typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content)

/** The name of an attachment without one. */
const unnamed = (mimeType: string, at: number): string =>
  mimeType === "message/rfc822"
    ? "message.eml"
    : `attachment ${at + 1}${/^text\/|^message\//.test(mimeType) ? ".txt" : ""}`

/** Attachments, without signatures and the pictures in the text. */
const attachmentsOf = (label: string, { attachments }: Email): ReadonlyArray<Inner> =>
  attachments
    .filter(({ mimeType, related }) => related !== true && !SIGNATURE.test(mimeType))
    .map(({ content, filename, mimeType }, at) => {
      const path = filename ?? unnamed(mimeType, at)
      return {
        label: `${label}, attachment ${at + 1}`,
        heading: { level: 2, text: path.toWellFormed() },
        file: Effect.succeed({ path, bytes: bytesOf(content) })
      }
    })

const parseMessage = (file: DocumentFile, bytes: Uint8Array) =>
  Effect.tryPromise({
    try: () => PostalMime.parse(bytes, { forceRfc822Attachments: true }),
    catch: (cause) =>
      parseError(
        file.path,
        "Malformed",
        `this mail is damaged (${(cause as Error).message}). Export it again.`,
        cause
      )
  })

/** A mail that was saved as text, in UTF-16 with its mark, as bytes of UTF-8. */
const withoutUtf16 = (bytes: Uint8Array): Uint8Array => {
  const isBig = hasSignature(bytes, "\xFE\xFF")
  if (!isBig && !hasSignature(bytes, "\xFF\xFE")) return bytes
  return new TextEncoder().encode(new TextDecoder(isBig ? "utf-16be" : "utf-16le").decode(bytes))
}

const isMail = ({ date, from, subject, to }: Email): boolean =>
  from !== undefined || to !== undefined || date !== undefined || subject !== undefined

/**
 * The messages of a file, each a section with its subject, and below it a section for each attachment that has a supported
 * format.
 */
export const mailFormat: DocumentFormat = {
  id: "mail",
  label: "Mail",
  extensions: ["eml", "mbox"],
  mediaTypes: ["text/plain; charset=utf-8"],
  parse: Effect.fnUntraced(function* (file) {
    const parts: Array<DocumentPart> = []
    const faults: Array<ReadFault> = []
    const messages = splitMailbox(withoutUtf16(file.bytes))
    if (messages.length > MAX_MESSAGES) {
      const message = `it has ${messages.length} messages; the limit is ${MAX_MESSAGES}. Split it.`
      return yield* parseError(file.path, "TooLarge", message)
    }
    let title = ""
    for (const [at, bytes] of messages.entries()) {
      const read = yield* Effect.result(parseMessage(file, bytes))
      if (read._tag === "Failure") {
        if (messages.length === 1) return yield* read.failure
        faults.push({ message: `message ${at + 1} was left out. ${read.failure.message}` })
        continue
      }
      const email = read.success
      if (!isMail(email)) {
        const message = "this is no mail: it has no header. Export it again."
        if (messages.length === 1) return yield* parseError(file.path, "Malformed", message)
        faults.push({ message: `message ${at + 1} was left out: ${message}` })
        continue
      }
      const date = dateOf(email)
      const label = date === undefined ? `message ${at + 1}` : `message of ${date}`
      const subject = (email.subject ?? "").replace(/\s+/g, " ").trim().toWellFormed()
      if (messages.length === 1) title = subject
      const attached = yield* parseInnerFiles(file, attachmentsOf(label, email))
      parts.push({ label, heading: { level: 1, text: subject || "No subject" }, parsed: bodyOf(email) })
      parts.push(...attached.parts)
      faults.push(...attached.faults)
    }
    const about = { format: "mail", title, faults: capFaults(faults, "messages and attachments") }
    const { pictures: _, ...parsed } = joinDocuments(about, parts)
    return parsed
  }),
  inflates: true,
  storesParsed: true
}
