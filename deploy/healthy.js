// Exits with 0 if the server on this machine answers: the health check of containers.
const port = process.env["PORT"] ?? "3000"
fetch(`http://127.0.0.1:${port}/healthz`).then(
  ({ ok }) => process.exit(ok ? 0 : 1),
  () => process.exit(1)
)
