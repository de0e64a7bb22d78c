/** Says what the demo models do, while they search or answer, and the two ways to others. */
import { signedIn } from "./session.ts"
import { isDemoModel, status } from "./status.ts"

export const DemoModels = () => {
  const now = status.value
  if (now?.provider !== "embedded" || !isDemoModel(now.models.chat)) return null
  return (
    <p class="demo-models quiet">
      {isDemoModel(now.models.embedding)
        ? "Demo models: keyword matching."
        : "Local models search by meaning; the demo reader picks sentences as answers."}{" "}
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
