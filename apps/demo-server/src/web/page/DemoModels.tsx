/** Says that the models in the server only match keywords, and the two ways to others. */
import { signedIn } from "./session.ts"
import { status } from "./status.ts"

/** The embedded models, not local ones that were pulled. */
const EMBEDDED_MODEL = /^sluice-/

export const DemoModels = () => {
  const now = status.value
  if (now?.provider !== "embedded" || !EMBEDDED_MODEL.test(now.models.embedding)) return null
  return (
    <p class="demo-models quiet">
      Demo models: keyword matching.{" "}
      {signedIn.value?.role === "admin" ? (
        <>
          <a href="#connect">Connect a model</a> or <a href="#connect/local">get local models</a> for real
          answers.
        </>
      ) : (
        "An administrator can connect a model for real answers."
      )}
    </p>
  )
}
