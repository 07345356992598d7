import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import devPriceFeed from '../../src/contracts/generated/dev-price-feed.json' with { type: 'json' }
import type { Address } from '../../src/domain/ids.js'
import type { PartReport } from '../../src/http/health-routes.js'
import { chainView } from './chain.js'
import { type IssuedKey, issueKey, type Stack, startStack } from './stack.js'

const BASE = 8453
const OPTIMISM = 10
const ARBITRUM = 42_161
const DEAD = '0x000000000000000000000000000000000000dEaD'
const HAPPENS = { timeout: 60_000, interval: 100 }

interface Readiness {
  readonly status: string
  readonly parts: Readonly<Record<string, PartReport>>
}

let stack: Stack
let key: IssuedKey

async function readyz(): Promise<Readiness & { readonly http: number; readonly text: string }> {
  const { status: http, json, text } = await stack.service.api(null).get('/readyz')
  return { ...(json as unknown as Readiness), http, text }
}

/** The parts with their reasons, as a signed-in person reads them. */
async function detailed(): Promise<Readiness> {
  const { json } = await stack.owner.get('/service')
  return json.readiness as Readiness
}

async function partOf(name: string): Promise<PartReport | undefined> {
  return (await detailed()).parts[name]
}

function send(chainId: number, value: string) {
  return key.api.post('/api/tx/send', { chain_id: chainId, to: DEAD, value, data: '0x' })
}

async function isReady() {
  await expect.poll(async () => (await readyz()).http, HAPPENS).toBe(200)
}

beforeAll(async () => {
  stack = await startStack()
  key = await issueKey(stack)
})

afterAll(async () => {
  await stack?.service.stop()
})

test('a healthy service is ready in all its parts, and names no path and no secret', async () => {
  await expect
    .poll(async () => Object.values((await readyz()).parts).map(({ status }) => status), HAPPENS)
    .toEqual(Array(Object.keys((await readyz()).parts).length).fill('up'))
  const { parts, text } = await readyz()
  expect(Object.keys(parts)).toEqual(
    expect.arrayContaining(['co_signer', 'quorum', 'store', 'lists', 'prices', 'chains', 'clock']),
  )
  expect(text).not.toContain(stack.service.home)
  expect(text).not.toContain('sk_')
  expect(JSON.parse(text).parts).toEqual(
    Object.fromEntries(Object.keys(parts).map((name) => [name, { status: 'up' }])),
  )
})

test.for([
  ['identity_provider', 'co_signer', 'identity provider'],
  ['quorum_signer', 'quorum', 'quorum signer'],
] as const)('without the %s it is not ready, and says so', async ([process, part, words]) => {
  const { service } = stack
  const pid = service.dev().pids[process] ?? 0
  service.restarts(false)
  service.signal(process, 'SIGKILL')
  await expect.poll(async () => (await partOf(part))?.status, HAPPENS).toBe('down')
  const { http, status, parts } = await readyz()
  expect([http, status, parts[part]]).toEqual([503, 'not_ready', { status: 'down' }])
  expect((await partOf(part))?.reason).toContain(words)
  expect((await send(BASE, '1')).code).toBe('COSIGNER_UNAVAILABLE')
  service.restarts(true)
  await service.awaitRestart(process, pid)
  await isReady()
})

test.for([
  ['identity_provider', 'co_signer', 'identity provider'],
  ['quorum_signer', 'quorum', 'quorum signer'],
] as const)(
  'with a %s that hangs it is not ready, until that goes on',
  async ([process, part, words]) => {
    const { service } = stack
    service.signal(process, 'SIGSTOP')
    try {
      await expect.poll(async () => (await partOf(part))?.status, HAPPENS).toBe('down')
      const { http } = await readyz()
      const reason = (await partOf(part))?.reason
      expect([http, reason]).toEqual([503, expect.stringContaining(words)])
    } finally {
      service.signal(process, 'SIGCONT')
    }
    await isReady()
  },
)

/** The owner of Base's feed, whose key nobody has here: the node signs for it. */
async function feedOfBase() {
  const { home, dev } = stack.service
  const { chains } = JSON.parse(readFileSync(join(home, 'chains.json'), 'utf8')) as {
    chains: { id: number; native_feed: { address: Address } }[]
  }
  const to = chains.find(({ id }) => id === BASE)?.native_feed.address
  if (to === undefined) throw new Error('Base has no feed')
  const chain = chainView(dev(), BASE)
  const asked = encodeFunctionData({ abi: devPriceFeed.abi, functionName: 'owner' })
  const owner = String(await chain.call('eth_call', [{ to, data: asked }, 'latest']))
  const from = `0x${owner.slice(-40)}`
  await chain.call('anvil_impersonateAccount', [from])
  return {
    address: to,
    /** Seconds of the epoch at which it says it was last updated; 0 is always just now. */
    async freezeAt(seconds: bigint) {
      const data = encodeFunctionData({
        abi: devPriceFeed.abi,
        functionName: 'freezeAt',
        args: [seconds],
      })
      await chain.call('eth_sendTransaction', [{ from, to, data }])
    },
  }
}

test('a chain whose node stops and a feed that goes stale leave it ready, and are named', async () => {
  const feed = await feedOfBase()
  await feed.freezeAt(1_600_000_000n)
  const pid = stack.service.dev().pids.chains[ARBITRUM] ?? 0
  process.kill(pid, 'SIGSTOP')
  try {
    await expect.poll(async () => (await partOf('chains'))?.status, HAPPENS).toBe('degraded')
    await expect.poll(async () => (await partOf('prices'))?.status, HAPPENS).toBe('degraded')
    expect((await readyz()).http).toBe(200)
    const { parts } = await detailed()
    expect(parts.chains?.reason).toContain(String(ARBITRUM))
    expect(parts.chains?.chains).toMatchObject({
      [ARBITRUM]: { status: 'down', reason: expect.stringContaining('No new block') },
      [BASE]: { status: 'up' },
    })
    const source = `chainlink:${feed.address}`
    expect(parts.prices?.missing).toContainEqual({ chain_id: BASE, source, gap: 'stale' })
    expect((await send(OPTIMISM, '2')).status).toBe(200)
    expect((await send(BASE, '3')).code).toBe('PRICE_UNAVAILABLE')
  } finally {
    process.kill(pid, 'SIGCONT')
    await feed.freezeAt(0n)
  }
  await expect.poll(async () => (await partOf('chains'))?.status, HAPPENS).toBe('up')
  await expect.poll(async () => (await partOf('prices'))?.status, HAPPENS).toBe('up')
})
