import { CopyButton, Snippet } from '../parts/copy-button.js'

/** Shows a secret, which cannot be shown again, with the settings to paste where the agent runs. */
export function SecretShown({ secret }: { readonly secret: string }) {
  const { origin } = location
  const mcp = {
    mcpServers: {
      countersign: { type: 'http', url: `${origin}/mcp`, headers: { 'X-Api-Key': secret } },
    },
  }
  return (
    <div class="stack">
      <p>
        <strong>Copy it now.</strong> Only a hash of it is kept, so nobody can show it again.
      </p>
      <p class="secret">
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the secret" />
      </p>
      <Snippet title="MCP client" text={JSON.stringify(mcp, null, 2)} />
      <Snippet title="curl" text={`curl -s ${origin}/api/limits \\\n  -H 'X-Api-Key: ${secret}'`} />
    </div>
  )
}
