/** Answers of a language model on the page: a real browser and server, and an upstream that the test scripts. */
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import { afterAll, assert, describe, it } from "vitest"
import { addFiles, pageFixture } from "../web/pageFixture.ts"

const FEE = "Mooring a boat overnight costs twelve crowns."
const RULES = {
  name: "rules.md",
  mimeType: "text/markdown",
  buffer: Buffer.from(`# Rules\n\n${FEE} Children pay nothing.\n`)
}

/** The open chat, which waits for the test to write to it. */
let chat: Promise<ServerResponse>
let opened: (response: ServerResponse) => void
const nextChat = () => {
  chat = new Promise((resolve) => (opened = resolve))
}

const upstream = createServer(async (request, response) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  const body = JSON.parse(Buffer.concat(chunks).toString() || "{}")
  const answer = (value: unknown) => {
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify(value))
  }
  if (request.url === "/v1/embeddings")
    return answer({ data: body.input.map((_: string, index: number) => ({ index, embedding: [1, 0.5] })) })
  if (request.url === "/v1/rerank")
    return answer({
      results: body.documents.map((_: string, index: number) => ({ index, relevance_score: 0.9 }))
    })
  response.writeHead(200, { "content-type": "text/event-stream" })
  opened(response)
})

const fixture = pageFixture(
  async (page) => {
    await page.goto(`${fixture.server.address}#documents`)
    await addFiles(page, RULES)
  },
  async () => {
    upstream.listen(0, "127.0.0.1")
    await once(upstream, "listening")
    return {
      SLUICE_GATEWAY_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      SLUICE_API_KEY: "sk-upstream",
      SLUICE_EMBEDDING_MODEL: "e",
      SLUICE_RERANK_MODEL: "r",
      SLUICE_CHAT_MODEL: "c"
    }
  }
)

afterAll(() => {
  upstream.closeAllConnections()
  upstream.close()
})

const write = (response: ServerResponse, content: string) =>
  response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)

const end = (response: ServerResponse, finish = "stop") =>
  response.end(
    `data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: finish }] })}\n\ndata: [DONE]\n\n`
  )

const ask = async (question: string): Promise<Page> => {
  nextChat()
  const page = await fixture.open("")
  await page.getByLabel("Your question").fill(question)
  await page.keyboard.press("Enter")
  return page
}

const answered = (page: Page) => page.locator(".result[data-state=answered]").waitFor()

const sentence = (text: string, quote: string) => JSON.stringify({ text, citations: [{ passage: 1, quote }] })

describe("an answer of a language model", () => {
  it("is shown while it is written, then settled with its citation, or withdrawn", async () => {
    const page = await ask("What does mooring cost?")
    const response = await chat
    const written = sentence("It costs **twelve** crowns.", FEE)
    const middle = written.indexOf(" crowns")
    write(response, written.slice(0, middle))
    await page.locator(".draft", { hasText: "It costs **twelve**" }).waitFor()
    assert.strictEqual(await page.locator(".answer .citation").count(), 0)
    write(response, `${written.slice(middle)}\n`)
    await page.locator(".answer .citation").waitFor()
    assert.strictEqual(await page.locator(".draft").count(), 0)
    assert.strictEqual(await page.locator(".answer strong").innerText(), "twelve")
    write(response, '{"text":"Pirates pay double')
    await page.locator(".draft", { hasText: "Pirates" }).waitFor()
    write(response, '.","citations":[{"passage":1,"quote":"Pirates pay double the fee."}]}')
    await page.locator(".draft").waitFor({ state: "detached" })
    end(response)
    await answered(page)
    assert.notInclude(await page.locator(".answer").innerText(), "Pirates")
    await page.getByText("1 sentence left out: quote not found in the source.").waitFor()
  })

  it("is unread, not unanswered, if it was cut off", async () => {
    const page = await ask("What does a night cost?")
    end(await chat, "length")
    nextChat()
    end(await chat, "length")
    await answered(page)
    const failed = page.locator(".failed[role=alert]")
    assert.match(await failed.innerText(), /could not be read\. .*cut off.*Raise/)
    assert.strictEqual(await page.locator(".no-answer").count(), 0)
    await failed.locator(".closest button").first().waitFor()
    nextChat()
    await failed.getByRole("button", { name: "Ask again" }).click()
    const response = await chat
    write(response, sentence("Twelve crowns.", FEE))
    end(response)
    await page.locator(".answer .citation").waitFor()
  })

  it("is not found if the model says so", async () => {
    const page = await ask("Who built the mooring?")
    const response = await chat
    write(response, "NOT_FOUND")
    end(response)
    await answered(page)
    assert.match(await page.locator(".no-answer").innerText(), /No sure answer/)
    assert.strictEqual(await page.locator(".failed").count(), 0)
  })

  it("is incomplete if it breaks off after a sentence", async () => {
    const page = await ask("How much is mooring?")
    const response = await chat
    write(response, sentence("Twelve crowns.", FEE))
    end(response, "length")
    await answered(page)
    await page.locator(".problem", { hasText: "This answer is incomplete." }).waitFor()
    await page.locator(".answer .citation").waitFor()
  })

  it("has lists and tables, and says which quotes the model did not give", async () => {
    const page = await ask("What does mooring cost a boat?")
    const response = await chat
    write(response, "- Mooring a boat costs twelve crowns [1].\n- Children pay nothing [1].\n\n")
    write(response, "| Who | Pays |\n| --- | --- |\n| Children | pay nothing [1] |\n")
    end(response)
    await answered(page)
    assert.strictEqual(await page.locator(".answer ul li").count(), 2)
    assert.deepStrictEqual(await page.locator(".answer th").allInnerTexts(), ["Who", "Pays"])
    await page.locator(".answer td .citation").waitFor()
    await page.locator(".evidence", { hasText: "the model gave no quote" }).waitFor()
  })

  it("keeps the numbers of a list from which a sentence was left out", async () => {
    const page = await ask("What costs what?")
    const response = await chat
    write(response, `${sentence("1. Mooring costs twelve crowns.", FEE)}\n`)
    write(response, `${sentence("2. Pirates pay double.", "Pirates pay double the fee.")}\n`)
    write(response, `${sentence("3. The fee is twelve crowns.", FEE)}\n`)
    end(response)
    await answered(page)
    const items = page.locator(".answer ol li")
    assert.deepStrictEqual(await items.evaluateAll((all) => all.map((item) => item.getAttribute("value"))), [
      "1",
      "3"
    ])
  })
})
