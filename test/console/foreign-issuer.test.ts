import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, numberOf, startChild } from '../../bench/child-process.js'
import { SINK_CHAIN, sinkChainsFile } from '../../bench/sink-chains.js'
import { startChainSink } from '../../bench/sink-stack.js'
import { makeDirectory } from '../../bench/temporary.js'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { provisionDev } from '../../src/custody-tools/provisioning/provision.js'
import { type ForeignProvider, startForeignProvider } from '../support/foreign-provider.js'
import { type HttpClient, httpClient } from '../support/http-client.js'
import { freePort } from '../support/ports.js'

const AUDIENCE = 'urn:countersign:console'
const USER = { email: 'unused@example.test', password: 'no form is filled' }

const directory = makeDirectory()
const children: Child[] = []
let pinned: ForeignProvider
let stranger: ForeignProvider
let baseUrl: string

/** The service of an operator who has a provider, and no users at the one that comes with it. */
beforeAll(async () => {
  const home = directory.path
  const start = async (entry: string, env: Record<string, string> = {}) => {
    children.push(await startChild(`dist/src/${entry}`, { COUNTERSIGN_HOME: home, ...env }))
  }
  pinned = await startForeignProvider('owner-of-agents', AUDIENCE)
  stranger = await startForeignProvider('owner-of-agents', AUDIENCE)
  const pins = join(home, 'pinned.json')
  writeFileSync(pins, JSON.stringify({ keys: pinned.publicKeys }))
  const sink = await startChainSink()
  children.push(sink)
  const chains = sinkChainsFile(`http://127.0.0.1:${numberOf(sink, 'port')}`)
  writeFileSync(join(home, 'chains.json'), JSON.stringify(chains))
  await provisionDev(home)
  const port = String(await freePort())
  baseUrl = `http://127.0.0.1:${port}`
  await start('quorum-signer/main.js')
  await start('identity-provider/main.js', {
    ...{ IDENTITY_PORT: '0', CONSOLE_ISSUER: pinned.issuer, CONSOLE_JWKS_FILE: pins },
  })
  await start('main.js', {
    ...{ PORT: port, IDENTITY_ISSUER: pinned.issuer, IDENTITY_JWKS_URL: pinned.jwksUrl },
  })
})

afterAll(async () => {
  for (const child of children.toReversed()) await child.stop()
  await pinned?.close()
  await stranger?.close()
  directory.remove()
})

const signedInAt = async ({ issuer }: ForeignProvider): Promise<HttpClient> =>
  httpClient(baseUrl, { authorization: `Bearer ${await mintConsoleToken({ issuer, ...USER })}` })

describe("with an operator's own OIDC provider", () => {
  test('its user makes a wallet and a key, and the key signs by both domains', async () => {
    const owner = await signedInAt(pinned)
    const wallet = await owner.post('/api/v1/agent/wallets', { name: 'treasury' })
    expect(wallet.status, wallet.text).toBe(201)
    const key = await owner.post('/api/v1/agent/keys', {
      ...{ name: 'agent', sub_wallet_id: wallet.json.sub_wallet_id, permission: 'trade' },
      ...{ daily_limit_usd: '10', monthly_limit_usd: '10', allowed_chains: [SINK_CHAIN] },
    })
    expect(key.status, key.text).toBe(201)
    const agent = httpClient(baseUrl, { 'x-api-key': String(key.json.secret) })
    const sent = await agent.post('/api/tx/send', {
      ...{ chain_id: SINK_CHAIN, to: `0x${'5e'.repeat(20)}`, value: '1' },
    })
    expect(sent.status, sent.text).toBe(200)
  })

  test("another provider's user of the same name is nobody", async () => {
    const refused = await (await signedInAt(stranger)).get('/api/v1/agent/me')
    expect(refused).toMatchObject({ status: 401, code: 'INVALID_TOKEN' })
  })
})
