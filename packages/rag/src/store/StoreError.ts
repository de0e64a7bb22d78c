/** What a failure of the store means, and what to try next. */
import { RagError, type RagReason, type Stage } from "../document/RagError.ts"

export const storeError = (stage: Stage, doing: string, cause: unknown): RagError => {
  const text = String(cause)
  const [, reason, advice] = DIAGNOSES.find(([pattern]) => pattern.test(text))!
  // LanceDB appends its source location and repeats the message.
  const first = (text.split(/\n|, \/\S+\.rs:|Caused by:/)[0] ?? text).slice(0, 300).trim().replace(/\.$/, "")
  const message = `The store failed while ${doing}: ${first}. ${advice}`
  return new RagError({ stage, reason, message, cause })
}

/** Messages of LanceDB, LanceDB Enterprise and object stores. The first pattern that matches decides. */
const DIAGNOSES: ReadonlyArray<readonly [RegExp, RagReason, string]> = [
  // An address that is not supported.
  [
    /no object store provider|could not parse bucket|did not match any known pattern for scheme/i,
    "Malformed",
    "Give the path of a folder, or an address that begins with s3://, gs://, az:// or db://."
  ],
  // Of Google Cloud Storage (which is asked for a token of the machine), LanceDB Enterprise and Azure.
  [
    /TokenRequest|api_key or oauth_config is required|no azure account name/i,
    "PermissionDenied",
    "No credentials were found. Set `apiKey` for db://, the storage options, or the environment variables of the store's provider."
  ],
  // The last message is about a truncated file of originals.
  [
    /no space left|os error 28|ENOSPC|disk quota|file too large|os error 27|exceeds blob object size/i,
    "NoSpace",
    "Committed documents are safe. Free some space and run it again."
  ],
  [
    /permission denied|os error 13|EACCES|EPERM|read-only file system|os error 30/i,
    "PermissionDenied",
    "Give this user the right to read and write the library's folder."
  ],
  // A wrong key.
  [
    /40[13] (unauthorized|forbidden)|access ?denied|invalid ?access ?key|signature ?does ?not ?match/i,
    "PermissionDenied",
    "Check the key (`apiKey`, or the storage options) and its permissions."
  ],
  [
    /hit retry limit|error sending request|connection refused|dns error/i,
    "Store",
    "It cannot be reached. Check its address (`hostOverride`, `region`, or the storage options) and run it again. Committed documents are safe."
  ],
  // Files that were truncated, overwritten or lost.
  [
    /too small|sufficient data|LanceError\(Schema\)|corrupt|invalid|magic|unexpected (eof|end)|out of (range|bounds)|decode|not found|no such file|overflow|panic|checksum|fill whole buffer|eof while/i,
    "Damaged",
    "A file is damaged or lost. Restore the folder from a copy. Without one, `sluice doctor --repair` (LanceIndex.repair) removes what is damaged, and a rebuild makes passages again from originals that can be read."
  ],
  [
    /(?:)/,
    "Store",
    "Committed documents are safe. Run it again; if it fails again, run `sluice doctor`, or restore the folder from a copy."
  ]
]
