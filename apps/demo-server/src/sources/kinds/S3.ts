/** A bucket of S3, or of a store that is compatible with it. */
import { MAX_FILE_BYTES } from "@sluice/rag/formats"
import { AwsClient } from "aws4fetch"
import { Effect, Option, Stream } from "effect"
import { readPublicFile } from "../../network/PublicFile.ts"
import {
  isDocument,
  READ_SECONDS,
  type SourceAddress,
  SourceFault,
  type SourceKind,
  toSourceFault
} from "./SourceKind.ts"
import { parseInPool } from "./ParseInPool.ts"

const MAX_LIST_BYTES = 8 * 1024 * 1024
/** Objects of a page of a list. S3 gives 1,000. */
const MAX_KEYS = 10_000
/** Objects of a source: 1,000 pages of a list. */
const MAX_PAGES = 1_000

/** `s3://bucket/prefix?region=…` of AWS, or `https://host/bucket/prefix` of another store. */
const bucketOf = (address: string) => {
  const url = URL.parse(address)
  if (url === null) return undefined
  const region = url.searchParams.get("region") ?? "us-east-1"
  if (url.protocol === "s3:") {
    const prefix = decodeURIComponent(url.pathname.slice(1))
    return { base: `https://${url.hostname}.s3.${region}.amazonaws.com/`, prefix, region }
  }
  const [, bucket = "", ...rest] = url.pathname.split("/")
  return { base: `${url.origin}/${bucket}/`, prefix: decodeURIComponent(rest.join("/")), region }
}

const keyUrl = (base: string, key: string): string => base + key.split("/").map(encodeURIComponent).join("/")

const open = Effect.fnUntraced(function* (
  { address, credential, name }: SourceAddress,
  { formats, policy }: Parameters<SourceKind["open"]>[1]
) {
  const bucket = bucketOf(address)
  if (bucket === undefined || !/^(?:s3|https?):/i.test(address))
    return yield* new SourceFault({
      message: "The address of a bucket is s3://bucket/prefix?region=… or https://host/bucket/prefix"
    })
  const { base, prefix, region } = bucket
  const [accessKeyId = "", secretAccessKey = ""] = credential?.split(/:(.*)/s) ?? []
  const client =
    credential === undefined
      ? undefined
      : new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3", retries: 0 })
  /** The signature is in the URL, so that the request goes the way of all others. */
  const read = (url: string, maxBytes: number) =>
    Effect.promise(async () =>
      client === undefined ? url : (await client.sign(url, { aws: { signQuery: true } })).url
    ).pipe(
      Effect.flatMap((signed) =>
        readPublicFile(signed, { what: "bucket", accept: "*/*", policy, maxBytes, seconds: READ_SECONDS })
      ),
      Effect.mapBoth({ onFailure: toSourceFault, onSuccess: ({ bytes }) => bytes })
    )

  const page = Effect.fnUntraced(function* ({ after, number }: ListPosition) {
    if (number > MAX_PAGES)
      return yield* new SourceFault({
        message: "The bucket has more than 1,000,000 objects. Use a longer prefix"
      })
    const query = new URLSearchParams({
      "list-type": "2",
      prefix,
      ...(after !== "" && { "continuation-token": after })
    })
    const xml = (yield* read(`${base}?${query}`, MAX_LIST_BYTES)).toString()
    const { next, objects } = yield* parseInPool(base, "bucketJob", { xml, limit: MAX_KEYS })
    if (objects.length > MAX_KEYS)
      return yield* new SourceFault({
        message: `A page of the bucket's list has more than ${MAX_KEYS} objects`
      })
    const items = objects.flatMap(({ etag, key }) => {
      const path = key.slice(prefix.lastIndexOf("/") + 1)
      if (!isDocument(path, formats)) return []
      return [{ path: `${name}/${path}`, version: etag, bytes: read(keyUrl(base, key), MAX_FILE_BYTES) }]
    })
    const hasMore = next !== undefined && next !== after
    return [items, hasMore ? Option.some({ after: next, number: number + 1 }) : Option.none()] as const
  })
  return { items: Stream.paginate({ after: "", number: 1 }, page) }
})

interface ListPosition {
  readonly after: string
  readonly number: number
}

export const s3Kind: SourceKind = {
  id: "s3",
  label: "S3 bucket",
  example: "s3://bucket/prefix/?region=eu-west-1",
  matches: (address) => /^s3:/i.test(address),
  open
}
