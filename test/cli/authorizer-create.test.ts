import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../../src/cli/program.js'

type Finish = (response: ServerResponse) => void

/** An identity provider that signs in anybody, and ends a registration as it is told. */
async function createAuthorizer(finish: Finish) {
  const config = mkdtempSync(join(tmpdir(), 'cs-authorizer-'))
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo
    const origin = `http://127.0.0.1:${port}`
    const answers: Readonly<Record<string, object>> = {
      '/.well-known/openid-configuration': {
        authorization_endpoint: `${origin}/auth`,
        token_endpoint: `${origin}/token`,
      },
      '/token': { access_token: 't', expires_in: 60 },
      '/authorizers/api/begin': { ceremony_id: 'c', certificate: 'AAAA' },
    }
    const answer = answers[request.url ?? '']
    if (answer === undefined) finish(response)
    else response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  let said = ''
  const io = {
    env: { XDG_CONFIG_HOME: config, COUNTERSIGN_HOME: join(config, 'none') },
    out: () => undefined,
    err(text: string) {
      said += text
      const [asked] = /http\S+\/auth\?\S+/.exec(text) ?? []
      if (asked === undefined) return
      const { searchParams } = new URL(asked)
      const state = searchParams.get('state') ?? ''
      void fetch(`${searchParams.get('redirect_uri')}?code=c&state=${state}`)
    },
    isInteractive: false,
  }
  try {
    const code = await runProgram(io, [
      ...['authorizer', 'create', '--issuer', `http://127.0.0.1:${port}`],
    ])
    return { code, said, files: readdirSync(join(config, 'countersign', 'authorizers')) }
  } finally {
    server.closeAllConnections()
    server.close()
    rmSync(config, { recursive: true, force: true })
  }
}

test('a key whose registration was not answered is kept: it may be the only one that counts', async () => {
  const { code, said, files } = await createAuthorizer((response) => response.destroy())
  expect(code).not.toBe(0)
  expect(files).toHaveLength(1)
  expect(said).toContain('is kept')
})

test('a key whose registration was refused is not kept', async () => {
  const { code, said, files } = await createAuthorizer((response) => {
    response.statusCode = 409
    response.end(JSON.stringify({ error: { code: 'CONFLICT', message: 'There are too many.' } }))
  })
  expect(code).not.toBe(0)
  expect(files).toEqual([])
  expect(said).toContain('There are too many.')
})
