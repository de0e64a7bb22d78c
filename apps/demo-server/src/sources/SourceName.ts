/** The names of sources: their documents begin with them. */

import { COLLECTION_NAME } from "../contract/Names.ts"

/** A name from an address: the repository's, the folder's, the bucket's, or the host of a site. */
export const sourceNameOf = (address: string, kind: string | undefined): string => {
  const [place = ""] = address.split(/[?#]/)
  const url = /^[a-z][a-z0-9+.\-]*:\/\//iv.test(place) ? URL.parse(place) : null
  const parts = (url?.pathname ?? place).split(/[\/\\:]/v).filter((part) => part !== "" && part !== ".")
  const last = parts.at(-1)?.replace(/\.git$/, "")
  const name = ((kind === "web" ? undefined : last) ?? url?.hostname ?? "").replaceAll(
    /[^A-Za-z0-9._\-]+/gv,
    "-"
  )
  return COLLECTION_NAME.test(name.slice(0, 64)) ? name.slice(0, 64) : "source"
}
