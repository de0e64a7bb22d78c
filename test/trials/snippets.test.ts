/** The code of the playground compiles and runs. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import {
  chatSnippet,
  embedSnippet,
  imageSnippet,
  lookSnippet,
  rerankSnippet,
  videoSnippet
} from "../../apps/demo-server/src/web/snippets/calls.ts"
import { testServer, TestServer } from "../demo-server/TestServer.ts"

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, "../..")
const HURRY = join(ROOT, "test/examples/hurry.ts")

const messages = [
  { role: "system", content: "Seventeen oak planks close the north gate." },
  { role: "user", content: "How many planks close the north gate?" }
] as const

const snippetsAt = (origin: string) => ({
  embed: embedSnippet(origin, { model: "sluice-lexical-1024", input: ["A gate", "A gate"] }),
  rerank: rerankSnippet(origin, {
    model: "sluice-lexical-rerank",
    query: "Who sells moorings?",
    documents: ["Nobody.", "The office sells moorings."]
  }),
  chat: chatSnippet(origin, { model: "sluice-extractive", messages }),
  image: imageSnippet(origin, {
    model: "sluice-image-i1",
    group: "I1",
    prompt: "A lock",
    picture: "picture.png",
    size: "64x64",
    n: 2
  }),
  video: videoSnippet(origin, {
    model: "sluice-video-from-image",
    group: "image-to-video",
    prompt: "A lock",
    picture: "picture.png",
    seconds: "1",
    size: "160x90"
  }),
  look: lookSnippet(origin, {
    model: "sluice-ocr",
    question: "What is in the picture?",
    picture: "picture.png",
    detail: "low"
  })
})

/** Programs that are only compiled: every group of models, with and without an image. */
const others = (origin: string) => [
  ...["I2", "I3", "I4", "I5", "I6", undefined].map((group) =>
    imageSnippet(origin, {
      model: "m",
      group,
      prompt: "A lock",
      picture: group === "I2" ? undefined : "a.png",
      size: "1K"
    })
  ),
  ...["V-A", "V-D", "V-G"].map((group, at) =>
    videoSnippet(origin, {
      model: "m",
      group,
      prompt: "A lock",
      picture: "a.png",
      seconds: ["4", "2", "5"][at],
      size: ["1280x720", "1920x1080", "16:9"][at]
    })
  ),
  videoSnippet(origin, { model: "m", group: "image-to-video", prompt: "A lock", picture: "a.png" })
]

/** A folder in which programs find the packages of this repository. */
const folder = Effect.acquireRelease(
  Effect.promise(async () => {
    const path = await mkdtemp(join(tmpdir(), "sluice-snippets-"))
    await writeFile(join(path, "package.json"), JSON.stringify({ type: "module" }))
    await symlink(join(ROOT, "node_modules"), join(path, "node_modules"))
    await copyFile(join(ROOT, "test/embedded/fixtures/boats.png"), join(path, "picture.png"))
    return path
  }),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** Milliseconds, on a busy machine. */
const LIMIT = 60_000

const names = ["embed", "rerank", "chat", "image", "video", "look"] as const

layer(testServer(), { excludeTestServices: true })("the calls of the playground", (it) => {
  it.effect(
    "compile with the compiler options of this repository",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const path = yield* folder
          const { url } = yield* TestServer
          const programs = [...Object.values(snippetsAt(url)), ...others(url)].map(({ effect }) => effect)
          const compilerOptions = {
            noEmit: true,
            declarationMap: false,
            types: ["node"],
            typeRoots: [join(ROOT, "node_modules/@types")]
          }
          const config = { extends: join(ROOT, "tsconfig.base.json"), compilerOptions, include: ["*.ts"] }
          yield* Effect.promise(async () => {
            await writeFile(join(path, "tsconfig.json"), JSON.stringify(config))
            for (const [at, text] of programs.entries()) await writeFile(join(path, `call-${at}.ts`), text)
          })
          const { stdout } = spawnSync(
            join(ROOT, "node_modules/.bin/tsc"),
            ["-p", path, "--singleThreaded"],
            {
              encoding: "utf8"
            }
          )
          assert.strictEqual(stdout.slice(0, 2000), "")
        })
      ),
    LIMIT
  )

  it.effect(
    "run as programs",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const path = yield* folder
          const { secrets, url } = yield* TestServer
          const snippets = snippetsAt(url)
          const all = names.map((name) => `import "./${name}.ts"`).join("\n")
          const stdout = yield* Effect.promise(async () => {
            for (const name of names) await writeFile(join(path, `${name}.ts`), snippets[name].effect)
            await writeFile(join(path, "all.ts"), all)
            const { NODE_COMPILE_CACHE, PATH } = process.env
            const env = { PATH, NODE_COMPILE_CACHE, SLUICE_GATEWAY_URL: url, SLUICE_API_KEY: secrets.apiKey }
            const flags = ["--conditions=@sluice/source", "--import", HURRY]
            return (await run(process.execPath, [...flags, join(path, "all.ts")], { cwd: path, env })).stdout
          })
          // They run at the same time: the order of their output varies.
          for (const line of [
            /^1$|^0\.99/m,
            /The office sells moorings\./,
            /Seventeen oak planks/,
            /Picture 1:/
          ]) {
            assert.match(stdout, line)
          }
          assert.match(stdout, /film\.mp4: \d{4,} bytes/)
          const image = yield* Effect.promise(() => readFile(join(path, "image-2.png")))
          assert.strictEqual(image.toString("latin1", 1, 4), "PNG")
        })
      ),
    LIMIT
  )

  it.effect(
    "run in a shell",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const path = yield* folder
          const { secrets, url } = yield* TestServer
          const snippets = snippetsAt(url)
          // Only the waits of the video's loop are changed.
          const script = ["sleep() { command sleep 0.2; }", ...names.map((name) => snippets[name].curl)].join(
            "\n"
          )
          const { stdout } = yield* Effect.promise(() =>
            run("bash", ["-e", "-c", script], {
              cwd: path,
              env: { PATH: process.env["PATH"], SLUICE_API_KEY: secrets.apiKey }
            })
          )
          for (const line of [
            /"embedding":\[/,
            /"relevance_score"/,
            /Seventeen oak planks/,
            /\/files\//,
            /Picture 1:/
          ]) {
            assert.match(stdout, line)
          }
          const film = yield* Effect.promise(() => readFile(join(path, "film.mp4")))
          assert.strictEqual(film.toString("latin1", 4, 8), "ftyp")
        })
      ),
    LIMIT
  )

  it.effect("stop in a shell when a video fails", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const path = yield* folder
        const { secrets, url } = yield* TestServer
        for (const [model, why] of [
          ["sluice-video-failing", /always fails/],
          ["no-such-model", /no-such-model/]
        ] as const) {
          const made = { model, group: undefined, prompt: "A lock", picture: undefined }
          const { curl } = videoSnippet(url, made)
          const ended = yield* Effect.promise(() =>
            run("bash", ["-c", `sleep() { command sleep 0.2; }\n${curl}`], {
              cwd: path,
              env: { PATH: process.env["PATH"], SLUICE_API_KEY: secrets.apiKey }
            }).catch((failed: { readonly stdout: string; readonly code: number }) => failed)
          )
          assert.propertyVal(ended, "code", 22)
          assert.match(ended.stdout, why)
          yield* Effect.promise(() => assertMissing(join(path, "film.mp4")))
        }
      })
    )
  )
})

const assertMissing = (path: string) =>
  readFile(path).then(
    () => assert.fail(`${path} is there`),
    () => undefined
  )
