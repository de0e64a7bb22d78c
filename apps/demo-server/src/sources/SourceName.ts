/** The names of sources: their documents begin with them. */

/** Letters, digits, `-`, `_` and `.`; 64 at most. */
export const SOURCE_NAME = /^[A-Za-z0-9][A-Za-z0-9._\-]{0,63}$/v

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
  return SOURCE_NAME.test(name.slice(0, 64)) ? name.slice(0, 64) : "source"
}
