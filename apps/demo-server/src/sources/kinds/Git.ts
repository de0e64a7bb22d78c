/** A Git repository, read by the `git` program: its last commit, without a work tree. */
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MAX_FILE_BYTES } from "@sluice/rag/formats"
import { Effect, Stream } from "effect"
import type { AddressPolicy } from "../../network/PublicFile.ts"
import { resolvePublic } from "../../network/PublicFile.ts"
import { isDocument, type SourceAddress, SourceFault, type SourceKind, toSourceFault } from "./SourceKind.ts"

/** Milliseconds for one command. A clone of one commit of a large repository takes minutes. */
const TIMEOUT = 10 * 60_000
/** Bytes of the list of files: 500,000 of them. */
const MAX_LIST = 64 * 1024 * 1024

/** Runs git, with the settings of a file: other users of the machine see arguments. */
const git = (args: ReadonlyArray<string>, settings?: string, maxBuffer = MAX_LIST) =>
  Effect.callback<Buffer, SourceFault>((resume) => {
    const child = execFile(
      "git",
      settings === undefined ? args : ["-c", `include.path=${settings}`, ...args],
      { encoding: "buffer", maxBuffer, timeout: TIMEOUT, killSignal: "SIGKILL" },
      (error, stdout, stderr) => {
        if (error === null) return resume(Effect.succeed(stdout))
        const lines = stderr.toString().trim().split("\n")
        const said = lines.find((line) => /^(?:fatal|error):/.test(line)) ?? lines.at(-1)!
        const advice = said.includes("Authentication failed")
          ? ". A private repository needs a valid credential"
          : ""
        const message =
          (error as NodeJS.ErrnoException).code === "ENOENT"
            ? "The program git was not found. Install git 2.37 or later to read repositories"
            : error.killed === true
              ? "git took more than ten minutes. Try a smaller repository"
              : `git failed: ${said.slice(0, 300)}${advice}`
        resume(Effect.fail(new SourceFault({ message })))
      }
    )
    return Effect.sync(() => void child.kill("SIGKILL"))
  })

/**
 * Only https and http, to an address that was checked. A redirect could lead elsewhere, so that none is followed. For a
 * name and a password, git runs the program `true`, which has none, in place of asking in the terminal.
 */
const remoteSettings = Effect.fnUntraced(function* (
  url: URL,
  policy: AddressPolicy,
  credential: string | undefined
) {
  const { address, port } = yield* Effect.mapError(
    resolvePublic(url, { what: "repository", policy }),
    toSourceFault
  )
  const authorized = Buffer.from(
    credential?.includes(":") === true ? credential : `x-access-token:${credential}`
  )
  return `
[protocol]
  allow = never
[protocol "${url.protocol.slice(0, -1)}"]
  allow = always
[credential]
  helper =
[core]
  askPass = true
[http]
  followRedirects = false
  curloptResolve = "${url.hostname}:${port}:${address}"
${credential === undefined ? "" : `  extraHeader = "Authorization: Basic ${authorized.toString("base64")}"`}
`
})

/** Where people see a file, on hosts whose addresses are known. */
const pageOf = (url: URL | undefined, commit: string, path: string): string | undefined => {
  const below = { "github.com": "blob", "gitlab.com": "-/blob", "codeberg.org": "src/commit" }[
    url?.hostname ?? ""
  ]
  const repository = url?.pathname.replace(/(?:\.git)?\/?$/, "")
  return (
    below &&
    url &&
    `${url.origin}${repository}/${below}/${commit}/${path.split("/").map(encodeURIComponent).join("/")}`
  )
}

/** Mode, type, hash, size and path of a line of `ls-tree`. Links and submodules are left out. */
const LISTED = /^100(?:644|755) blob ([0-9a-f]{40,64}) +(\d+)\t(.+)$/s

const repositoryOf = (address: string) => {
  const [place = "", branch] = address.split("#")
  return { place, branch, url: /^https?:/i.test(place) && URL.canParse(place) ? new URL(place) : undefined }
}

const open = Effect.fnUntraced(function* (
  { address, credential, name }: SourceAddress,
  { folders, formats, policy }: Parameters<SourceKind["open"]>[1]
) {
  const { branch, place, url } = repositoryOf(address)
  if (folders !== undefined && url === undefined)
    return yield* new SourceFault({ message: "The address of a repository begins with https://" })
  if (place.startsWith("-") || branch?.startsWith("-") === true)
    return yield* new SourceFault({ message: "An address does not begin with a dash" })
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-git-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  const settings = url && join(folder, "settings")
  if (settings !== undefined) {
    const text = yield* remoteSettings(url!, policy, credential)
    yield* Effect.promise(() => writeFile(settings, text, { mode: 0o600 }))
  }
  const repository = join(folder, "repository")
  const at = branch === undefined ? [] : ["--branch", branch]
  // A clone of a path would be a link to its objects.
  const from = url === undefined && /^[/.]/.test(place) ? `file://${place}` : place
  const clone = ["clone", "--quiet", "--bare", "--depth=1", "--single-branch", ...at, "--", from, repository]
  yield* git(clone, settings)
  const commit = (yield* git(["-C", repository, "rev-parse", "HEAD"])).toString().trim()
  const listed = (yield* git(["-C", repository, "ls-tree", "-r", "-z", "--long", "HEAD"])).toString()
  const files = listed.split("\0").flatMap((line) => {
    const [, version = "", size, path = ""] = LISTED.exec(line) ?? []
    return isDocument(path, formats) && Number(size) <= MAX_FILE_BYTES ? [{ version, path }] : []
  })
  const items = Stream.map(Stream.fromIterable(files), ({ path, version }) => ({
    path: `${name}/${path}`,
    version,
    url: pageOf(url, commit, path),
    bytes: git(["-C", repository, "cat-file", "blob", version], undefined, MAX_FILE_BYTES + 1)
  }))
  return { items }
})

export const gitKind: SourceKind = {
  id: "git",
  label: "Git repository",
  example: "https://github.com/owner/name.git#main",
  matches: (address) =>
    /\.git(?:#[^#]*)?$/.test(address) ||
    /^(?:git|ssh):|^[^/\s@]+@[^/\s:]+:/.test(address) ||
    /^https:\/\/(?:github|gitlab)\.com\/[^/]+\/[^/#]+\/?(?:#.*)?$/.test(address),
  open
}
